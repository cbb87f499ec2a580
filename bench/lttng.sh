#!/bin/bash
# The cost of the most similar tracer of user space: two lttng-ust events, as a begin and an end need them, compared
# with the floor of bench/span_cost.c. It is measured with a session that records into memory and without a session.
# The figures have no bar.
set -u
work=$(mktemp -d)
daemon=
end() {
    [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null
    rm -rf "$work"
}
trap end EXIT

skip() {
    echo "lttng: skipped: $*" >&2
    exit 77
}
command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null || skip "no lttng (Debian: lttng-tools)"
cc -O2 -I"$ASSAY_SOURCE" -o "$work/events" "$ASSAY_SOURCE/bench/peers/lttng_events.c" -llttng-ust -ldl \
    2>"$work/cc.err" || skip "no lttng-ust (Debian: liblttng-ust-dev): $(head -n 1 "$work/cc.err")"

row() { # name value
    printf '{"name": "%s", "value": %s, "unit": "x", "bar": null, "ok": true}\n' "$1" "$2"
}
# Start a daemon of our own; one that is already running is left alone.
export LTTNG_HOME=$work LTTNG_UST_REGISTER_TIMEOUT=5000
off=$("$work/events") || exit 1
lttng-sessiond --no-kernel >"$work/daemon.log" 2>&1 &
daemon=$!
for _ in $(seq 50); do
    lttng --no-sessiond list >/dev/null 2>&1 && break
    sleep 0.1
done
{
    lttng --no-sessiond create assay --snapshot && lttng --no-sessiond enable-event --userspace 'assay_bench:*' &&
        lttng --no-sessiond start
} >"$work/session.log" 2>&1 || skip "no session: $(tail -n 1 "$work/session.log")"
on=$("$work/events") || exit 1
lttng --no-sessiond destroy assay >/dev/null 2>&1
row "lttng-ust, two events, recording / the floor of a span" "$on"
row "lttng-ust, two events, no session / the floor of a span" "$off"
