#!/bin/bash
# How often do other tools give a false alarm? Identical subjects are compared by Google Benchmark with the U
# test of its compare.py (two-sided, 5 %), by hyperfine with the Welch test of its own script (5 %), and by
# assay: the same files with `assay compare`, the same commands with `assay bench`. Meanwhile a competing load
# is switched on and off. The figures have no bar: they are the shares of comparisons called different.
# ASSAY_PEERS_TRIALS (default 30) sets the number of comparisons for each tool.
set -u
trials=${ASSAY_PEERS_TRIALS:-30}
assay=$ASSAY_BUILD/assay
here=$ASSAY_SOURCE/bench/peers
python=/usr/bin/python3
work=$(mktemp -d)
load=
end() {
    [ -z "$load" ] || kill "$load" 2>/dev/null
    rm -rf "$work"
}
trap end EXIT

skip() {
    echo "peers: skipped: $*" >&2
    exit 77
}
$python -c 'import scipy' 2>/dev/null || skip "no scipy (Debian: python3-scipy)"
c++ -O2 -o "$work/subject" "$here/subject.cc" -lbenchmark -lpthread 2>"$work/c++.err" ||
    skip "no Google Benchmark (Debian: libbenchmark-dev)"
cd "$work" || exit 1

# A competing load on the processor, 0.2 s on, 0.3 s off.
while :; do
    timeout 0.2 sh -c 'while :; do :; done'
    sleep 0.3
done &
load=$!

for i in $(seq "$trials"); do
    for side in a b; do
        ./subject --benchmark_repetitions=15 --benchmark_min_time=0.005 --benchmark_format=json \
            --benchmark_report_aggregates_only=false >"gb-$i-$side.json" 2>/dev/null || exit 1
    done
    "$assay" compare "gb-$i-a.json" "gb-$i-b.json" --json "gb-$i-assay.json" >/dev/null 2>&1
    if command -v hyperfine >/dev/null; then
        hyperfine -N --style none --runs 15 --warmup 1 --export-json "hf-$i.json" \
            './subject once 250' './subject once 250' >/dev/null 2>&1 || exit 1
        "$assay" bench --budget 0.25s --json "hf-$i-assay.json" \
            -- ./subject once 250 -- ./subject once 250 >/dev/null 2>&1
    fi
done
$python "$here/count.py" "$trials"
