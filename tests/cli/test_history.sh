#!/bin/bash
# The history under stress, on SQLite and on a PostgreSQL server of our own. Both give the same answers. Eight writers at
# once lose nothing. After kill -9 every acknowledged run is there, and no half of a run. A full disk, a read-only folder
# and a server that goes away give a message, and no saved run is lost.
set -u
[ -z "${ASSAY_SANITIZE:-}" ] || { echo "the server's libraries are not for sanitizers"; exit 77; }
[ -e /usr/include/sqlite3.h ] || { echo "libsqlite3-dev is missing"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
assay=$ASSAY_BUILD/assay
work=$(mktemp -d)
. "$ASSAY_SOURCE/tests/postgresql.sh"
trap 'postgresql_stop immediate; rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 NO_COLOR=1 ASSAY_MACHINE=tested
failed=0
complain() {
    echo "$*"
    failed=1
}

# Every run has its document and its figures, and nothing else has any.
whole='SELECT COUNT(*) FROM assay_run r WHERE NOT EXISTS (SELECT 1 FROM assay_document d WHERE d.run = r.id)
    OR NOT EXISTS (SELECT 1 FROM assay_figure f WHERE f.run = r.id)'
orphans='SELECT COUNT(*) FROM assay_figure f WHERE NOT EXISTS (SELECT 1 FROM assay_run r WHERE r.id = f.run)'
ask() {
    case $ASSAY_HISTORY in
    postgresql:*) postgresql_sql -At -c "$1" ;;
    *) python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' "$ASSAY_HISTORY" "$1" ;;
    esac
}
check_whole() {
    [ "$(ask "$whole")" = 0 ] || complain "$1: a run is not whole"
    [ "$(ask "$orphans")" = 0 ] || complain "$1: figures without a run"
    case $ASSAY_HISTORY in
    postgresql:*) ;;
    *) [ "$(ask 'PRAGMA integrity_check')" = ok ] || complain "$1: the database is damaged" ;;
    esac
}

# Eight writers, 10 runs each, all with a new series of its own.
writers() {
    local i
    for i in 1 2 3 4 5 6 7 8; do
        (for k in 1 2 3 4 5 6 7 8 9 10; do
            "$assay" run -q --save -n "writer$i-$k" -- true 2>>"$work/said$i" || echo failed >>"$work/said$i"
        done) &
    done
    wait
    [ "$(cat "$work"/said? | grep -c 'saved as run')" = 80 ] || complain "$1: $(cat "$work"/said? | grep -v 'saved as' | sort | uniq -c | head -n 3)"
    [ "$(ask 'SELECT COUNT(*) FROM assay_run')" = 80 ] || complain "$1: $(ask 'SELECT COUNT(*) FROM assay_run') of 80 runs are there"
    rm -f "$work"/said?
    check_whole "$1"
}

# Killed at any moment; the last write waits for the lock of the one before, so the tries differ.
killed() {
    local i pid before acknowledged=0
    before=$(ask 'SELECT COUNT(*) FROM assay_run')
    for ((i = 0; i < 60; i++)); do
        rm -f "$work/said" # or a shell that is killed before it is the command leaves the last one's
        "$assay" run -q --save -n "killed$i" -- true 2>"$work/said" &
        pid=$!
        sleep "0.0$((RANDOM % 5))$((RANDOM % 10))"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        if grep -qs 'saved as run' "$work/said"; then
            acknowledged=$((acknowledged + 1))
            [ "$(ask "SELECT COUNT(*) FROM assay_run WHERE name = 'killed$i'")" = 1 ] || complain "$1: run killed$i is lost"
        fi
    done
    check_whole "$1"
    [ "$acknowledged" -lt 60 ] || complain "$1: nothing was killed in time"
    "$assay" run -q --save -n alive -- true 2>/dev/null || complain "$1: nothing can be saved any more"
    [ "$(ask 'SELECT COUNT(*) FROM assay_run')" -ge $((before + acknowledged + 1)) ] || complain "$1: runs are missing"
}

# What the user sees; times and numbers of runs apart.
views() {
    "$assay" history import "$work/runs.jsonl"
    "$assay" history list --last 5
    "$assay" history tag kept --branch topic
    "$assay" history show
    "$assay" history show 'par*' --branch main --json -
    "$assay" history show 'PARSE*'
    "$assay" history plot parse --metric 'peak*'
    "$assay" history list --name 'par_e*'
    "$assay" history list --commit abc01
    "$assay" history compare tag:kept branch:main
    "$assay" history export --tag kept
    "$assay" history prune --keep 30 --dry-run
    "$assay" history prune --keep 30
    "$assay" history prune --older-than 2026-03-01
    "$assay" history list --last 1000
    "$assay" history export
} 2>&1

python3 - >"$work/runs.jsonl" <<'PYTHON'
import json
for i in range(100):
    time = (0.010 if i < 60 else 0.012) * (1 + 0.01 * ((i * 7919) % 13 - 6) / 6)
    print(json.dumps({"schema": "assay-record", "version": 2, "kind": "bench", "created": "2026-%02d-%02dT12:00:00Z" % (1 + i // 28, 1 + i % 28),
        "git": {"commit": "abc%03x" % i + 34 * "0", "branch": "main" if i % 10 else "topic"},
        "subjects": [{"name": "parse \u00e9 %d" % i if i > 97 else "parse", "samples_seconds": [time, time * 1.01, time * 0.99], "mean_seconds": time,
                      "iterations": 1, "warmup_samples": 0, "rejected_samples": 0, "disturbed_samples": 0, "failed_runs": 0,
                      "source": "assay", "peak_rss_bytes": 1e6 + 1e-3 * i}]}))
PYTHON

export ASSAY_HISTORY=$work/views.sqlite
views >"$work/sqlite.out"
grep -q 'since run 61' "$work/sqlite.out" || complain "the change point is not found"
export ASSAY_HISTORY=$work/history.sqlite
writers SQLite
killed SQLite

# A disk that is full: the limit on the size of a file stands for it.
before=$(ask 'SELECT COUNT(*) FROM assay_run')
(trap '' XFSZ; ulimit -f $(($(stat -c %s "$ASSAY_HISTORY") / 1024 + 4)); "$assay" history import "$work/runs.jsonl") >"$work/said" 2>&1
status=$?
[ $status -ge 64 ] || complain "a full disk: exit $status"
grep -q 'history import: .*runs.jsonl, line' "$work/said" || complain "a full disk: $(cat "$work/said")"
check_whole "a full disk"
[ "$(ask 'SELECT COUNT(*) FROM assay_run')" = $((before + $(sed -n 's/^imported \([0-9]*\) run.*/\1/p' "$work/said"))) ] || complain "a full disk: $(cat "$work/said")"

# Read-only, for a user whom permissions bind.
mkdir "$work/frozen"
cp "$ASSAY_HISTORY" "$work/frozen/history.sqlite"
cp "$assay" "$work/assay"
chmod 755 "$work"
chmod 444 "$work/frozen/history.sqlite"
chmod 555 "$work/frozen"
user=
[ "$(id -u)" != 0 ] || user="setpriv --reuid=nobody --regid=nogroup --clear-groups"
(cd "$work" && ASSAY_HISTORY=$work/frozen/history.sqlite $user ./assay run --save -- true) >"$work/said" 2>&1
[ $? = 125 ] || complain "read-only: another exit status"
grep -q 'wall time' "$work/said" || complain "read-only: the result is lost"
grep -q 'not saved in the history: .*writable' "$work/said" || complain "read-only: $(cat "$work/said")"
(cd "$work" && ASSAY_HISTORY=$work/frozen/history.sqlite $user ./assay history list --last 1) >/dev/null || complain "read-only: it cannot be read"
chmod 755 "$work/frozen"

if ! grep -q 'ASSAY_HAVE_POSTGRESQL' "$ASSAY_BUILD/compile_commands.json" || ! postgresql_start "$work"; then
    [ $failed = 0 ] || exit 1
    echo "SQLite: passed; PostgreSQL: ${postgresql_reason:-libpq-dev is missing}"
    exit 77
fi
export ASSAY_HISTORY=$postgresql_url
views >"$work/postgresql.out"
diff -u "$work/sqlite.out" "$work/postgresql.out" || complain "SQLite and PostgreSQL differ"
postgresql_sql -q -c 'DROP TABLE assay_history, assay_run, assay_document, assay_series, assay_figure, assay_tag'
writers PostgreSQL
killed PostgreSQL

# The server goes away while runs are being saved: every one that was acknowledged is there afterwards.
(for ((i = 0; i < 400; i++)); do "$assay" run -q --save -n "gone$i" -- true 2>&1; done) >"$work/said" &
writer=$!
sleep 2
postgresql_halt immediate
sleep 0.5
grep -q "the history's server\|cannot be reached" "$work/said" || sleep 2
kill $writer 2>/dev/null
wait $writer 2>/dev/null
grep -q "history's server" "$work/said" || complain "a server that is gone is not said to be: $(tail -n 2 "$work/said")"
postgresql_begin || complain "the server does not start again"
acknowledged=$(grep -c 'saved as run' "$work/said")
there=$(ask "SELECT COUNT(*) FROM assay_run WHERE name LIKE 'gone%'")
[ "$acknowledged" -gt 0 ] && [ "$there" -ge "$acknowledged" ] || complain "$there runs of $acknowledged that were acknowledged"
check_whole "a server that went away"
[ $failed = 0 ] && echo "history: SQLite and PostgreSQL agree and lose nothing"
exit $failed
