#!/bin/bash
# Debian's compare.py of Google Benchmark reads what `assay report --format google-benchmark` writes:
# every repetition is there, the U test runs, and it distinguishes a true difference from none.
set -u
compare=/usr/share/benchmark/compare.py
[ -e $compare ] || { echo "skipped: no $compare (Debian: libbenchmark-tools)"; exit 77; }
/usr/bin/python3 -c 'import scipy' 2>/dev/null || { echo "skipped: no scipy for compare.py (Debian: python3-scipy)"; exit 77; }
assay=$ASSAY_BUILD/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# record NAME FACTOR: two subjects of 20 samples each, the second slower by the factor.
record() {
    /usr/bin/python3 - "$2" >"$1" <<'PYTHON'
import json, sys
factor = float(sys.argv[1])
counts = {"iterations": 100, "warmup_samples": 0, "rejected_samples": 0, "disturbed_samples": 0, "failed_runs": 0}
samples = [0.001 * (1 + 0.001 * (7 * i % 20)) for i in range(20)]
print(json.dumps({"schema": "assay-record", "version": 1, "total_seconds": 0, "kind": "bench", "created": "2026-11-15T04:11:49Z", "subjects": [
    {"name": "steady", "samples_seconds": samples, **counts},
    {"name": "sort \"n\"", "samples_seconds": [factor * s for s in samples],
     "user_seconds": factor * 0.0005, "sys_seconds": factor * 0.0001, **counts}]}))
PYTHON
    "$assay" report "$1" --format google-benchmark --output "gb-$1" || exit 1
}
record old.json 1
record new.json 1.5
failed=0
/usr/bin/python3 $compare --no-color --dump_to_json diff.json benchmarks gb-old.json gb-new.json >out.txt 2>err.txt ||
    { echo "compare.py refused the files:"; cat err.txt; exit 1; }
/usr/bin/python3 - <<'PYTHON' || failed=1
import json
rows = {row["name"]: row for row in json.load(open("diff.json"))}
for name, change in (("steady", 0.0), ('sort "n"', 0.5)):
    row = rows[name]
    assert len(row["measurements"]) == 20, (name, len(row["measurements"]))
    for pair in row["measurements"]:
        assert abs(pair["time"] - change) < 1e-9, (name, pair)
        assert abs(pair["cpu"] - change) < 1e-9, (name, pair)
    assert row["utest"]["nr_of_repetitions"] == 20
    assert (row["utest"]["time_pvalue"] < 0.01) == (change > 0), (name, row["utest"])
    assert rows[name + "_mean"]["aggregate_name"] == "mean"
PYTHON
[ $failed = 0 ] && echo "compare.py agrees on $(grep -c pvalue out.txt) benchmarks of 20 repetitions"
exit $failed
