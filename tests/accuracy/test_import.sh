#!/bin/bash
# Files written by hyperfine and Google Benchmark themselves are recognised, and every time in them
# arrives as a sample, in its order and unit. A tool that is not installed is left out; without any tool
# the test is skipped.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
assay=$ASSAY_BUILD/assay
tried=0

check() { # what was written, the tool's name
    "$assay" compare --json "compared.json" "$1" "$1" >text || { cat text; exit 1; }
    /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import json, sys
theirs, ours = json.load(open(sys.argv[1])), json.load(open("compared.json"))
expected = {}
if sys.argv[2] == "hyperfine":
    for result in theirs["results"]:
        expected[result["command"]] = result["times"]
else:
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    for row in theirs["benchmarks"]:
        if row["run_type"] == "iteration":
            expected.setdefault(row["run_name"], []).append(row["real_time"] * units[row["time_unit"]])
subjects = ours["subjects"][: len(ours["subjects"]) // 2]
assert [s["name"] for s in subjects] == list(expected), subjects
for subject in subjects:
    assert subject["source"] == sys.argv[2], subject["source"]
    times = expected[subject["name"]]
    assert len(times) == len(subject["samples_seconds"]) >= 10, subject
    for a, b in zip(times, subject["samples_seconds"]):
        assert abs(a - b) <= 1e-12 * a, (a, b)
assert all(abs(c["ratio"] - 1) < 1e-9 for c in ours["comparisons"] if c["ratio"] is not None)
print(f"{sys.argv[2]}: {sum(map(len, expected.values()))} samples of {len(expected)} benchmarks")
PYTHON
}

if command -v hyperfine >/dev/null; then
    hyperfine --runs 12 -N --style none --parameter-list t 0.001,0.002 --export-json hyperfine.json 'sleep {t}' 2>/dev/null >&2
    check hyperfine.json hyperfine
    # without --ignore-failure the first failure ends it; with, its own mean is that of all runs
    hyperfine --runs 12 -N -i --style none --export-json failing.json 'sh -c "exit $(($$ % 2))"' false 2>/dev/null >&2
    check failing.json hyperfine
    grep -q '12 of 12 runs of the baseline failed and are timed all the same' <(tr -s ' \n' ' ' <text)
    tried=1
fi

cat >benchmark.cc <<'CODE'
#include <benchmark/benchmark.h>
static void sum(benchmark::State &state) {
    for (auto _ : state) {
        long total = 0;
        for (long i = 0; i < state.range(0); i++) benchmark::DoNotOptimize(total += i);
    }
    state.SetComplexityN(state.range(0));
    state.counters["zero"] = 0; /* whose variation is written as NaN */
}
BENCHMARK(sum)->Arg(10)->Unit(benchmark::kMicrosecond);
BENCHMARK(sum)->Arg(500)->Arg(1000)->Complexity();
BENCHMARK_MAIN();
CODE
if ${CXX:-c++} -O1 benchmark.cc -lbenchmark -lpthread -o benchmark 2>log; then
    ./benchmark --benchmark_repetitions=12 --benchmark_min_time=0.001 --benchmark_enable_random_interleaving=true \
        --benchmark_format=json >google.json 2>/dev/null
    check google.json google-benchmark
    tried=1
fi

[ $tried = 1 ] || { echo "skipped: neither hyperfine nor Google Benchmark is here"; exit 77; }
