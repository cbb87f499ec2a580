# A PostgreSQL server of one's own, for tests and benchmarks to source: a fresh cluster below a temporary folder,
# reached through a socket there, run by an unprivileged user (the server refuses root).
#
#   postgresql_start FOLDER [OPTION...]   start it, with options of the server; false with $postgresql_reason
#   $postgresql_url                       the address for ASSAY_HISTORY
#   postgresql_sql [OPTION...]            psql
#   postgresql_stop [MODE]                "fast" or "immediate"; nothing if it does not run
postgresql_folder= postgresql_url= postgresql_reason=
postgresql_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)

# As root the server runs as nobody, who must reach the folder.
postgresql_as_user() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups env -i PATH="$postgresql_bin:$PATH" LC_ALL=C "$@")
    else
        (cd / && env LC_ALL=C "$@")
    fi
}

postgresql_start() {
    local folder=$1/postgresql
    shift
    [ -n "$postgresql_bin" ] && [ -x "$postgresql_bin/initdb" ] || { postgresql_reason="the package postgresql is missing"; return 1; }
    mkdir -p "$folder"
    if [ "$(id -u)" = 0 ]; then
        chown nobody "$folder"
        chmod o+x "$(dirname "$folder")"
    fi
    # The path of a socket is short.
    postgresql_folder=$folder
    local socket
    socket=$(mktemp -d /tmp/assay-pg.XXXXXX)
    [ "$(id -u)" != 0 ] || chown nobody "$socket"
    postgresql_socket=$socket
    postgresql_options="-k $socket -c listen_addresses= $*"
    postgresql_as_user "$postgresql_bin/initdb" -D "$folder/data" -A trust -U assay -E UTF8 --no-sync >"$folder.log" 2>&1 &&
        postgresql_begin && postgresql_as_user "$postgresql_bin/createdb" -h "$socket" -U assay assay ||
        { postgresql_reason="it does not start: $(tail -n 1 "$folder.log")"; return 1; }
    postgresql_url="postgresql:///assay?host=$socket&user=assay"
}

# Start it again after a stop.
postgresql_begin() {
    postgresql_as_user "$postgresql_bin/pg_ctl" -D "$postgresql_folder/data" -w -o "$postgresql_options" \
        -l "$postgresql_folder/server.log" start >/dev/null
}

postgresql_sql() {
    "$postgresql_bin/psql" -X -v ON_ERROR_STOP=1 -h "$postgresql_socket" -U assay -d assay "$@"
}

postgresql_halt() {
    postgresql_as_user "$postgresql_bin/pg_ctl" -D "$postgresql_folder/data" -m "${1:-fast}" stop >/dev/null 2>&1 || true
}

postgresql_stop() {
    [ -n "$postgresql_folder" ] || return 0
    postgresql_halt "${1:-fast}"
    rm -rf "$postgresql_folder" "$postgresql_socket"
    postgresql_folder=
}
