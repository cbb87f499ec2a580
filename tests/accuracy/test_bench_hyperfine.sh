#!/bin/bash
# assay bench and hyperfine, without a shell, agree on a sleep and on a computation: their 95 % intervals of the
# mean overlap. The two run one after the other and the machine may change between them, so each command has five
# tries. A different definition (the start of the shell or the fork is counted, or the unit is wrong) would fail all
# of them.
#     ASSAY_BUILD=build bash tests/accuracy/test_bench_hyperfine.sh [long]
# "long" uses a computation that takes at least 0.2 s on this machine, and more runs. It takes a minute or two.
set -u
command -v hyperfine >/dev/null || { echo "hyperfine is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/meet.py" <<'PYTHON'
import json, math, statistics, sys
times = json.load(open(sys.argv[1]))["results"][0]["times"]
ours = json.load(open(sys.argv[2]))["subjects"][0]
mean = statistics.mean(times)
reach = 2.1 * statistics.stdev(times) / math.sqrt(len(times))
print("hyperfine %.3f … %.3f ms, assay %.3f … %.3f ms" % tuple(
    1e3 * t for t in (mean - reach, mean + reach, ours["low_seconds"], ours["high_seconds"])))
sys.exit(not (mean - reach <= ours["high_seconds"] and ours["low_seconds"] <= mean + reach))
PYTHON

# agree RUNS COMMAND...
agree() {
    local runs=$1 try
    shift
    for try in 1 2 3 4 5; do
        hyperfine -N --style none --runs "$runs" --export-json "$work/theirs.json" "$(printf '%q ' "$@")" >"$work/log" 2>&1 ||
            { cat "$work/log"; exit 1; }
        "$ASSAY_BUILD/assay" bench --quiet --runs "$runs" --json "$work/ours.json" -- "$@" || exit 1
        printf '%-14s' "$1" && python3 "$work/meet.py" "$work/theirs.json" "$work/ours.json" && return
    done
    echo "$*: the intervals never met"
    exit 1
}
# A computation that takes at least 0.2 s here: the number of its steps.
steps_for_200_ms() {
    local steps=4000000 start now
    while :; do
        start=$(date +%s%N)
        awk "BEGIN{for(i=0;i<$steps;i++)s+=i}"
        now=$(date +%s%N)
        [ $((now - start)) -lt 200000000 ] || break
        steps=$((steps * 5 / 4))
    done
    echo "$steps"
}

if [ "${1:-}" = long ]; then
    agree 100 sleep 0.01
    agree 40 awk "BEGIN{for(i=0;i<$(steps_for_200_ms);i++)s+=i}"
else
    agree 30 sleep 0.01
    agree 8 awk 'BEGIN{for(i=0;i<3000000;i++)s+=i}'
fi
