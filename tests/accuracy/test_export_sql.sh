#!/bin/bash
# SQLite accepts the output of `assay report --format sql`, also a second time, and contains every figure exactly.
set -u
/usr/bin/python3 -c 'import sqlite3' 2>/dev/null || { echo "skipped: no python3 with sqlite3"; exit 77; }
assay=$ASSAY_BUILD/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cat >r.json <<'JSON'
{"schema": "assay-record", "version": 1, "total_seconds": 0, "kind": "bench", "name": "it's; DROP TABLE x; --",
 "created": "2026-11-15T04:11:49Z",
 "subjects": [{"name": "a\\'b", "command": ["sh", "-c", "echo 'x'"], "iterations": 3,
               "warmup_samples": 0, "rejected_samples": 0, "disturbed_samples": 0, "failed_runs": 0,
               "samples_seconds": [0.1, 1e-9, 0.30000000000000004]},
              {"name": "none", "iterations": 0, "warmup_samples": 0, "rejected_samples": 0, "disturbed_samples": 0, "failed_runs": 0,
               "samples_seconds": []}],
 "comparisons": [{"baseline": "a\\'b", "candidate": "none", "ratio": null, "low": null, "high": null,
                  "verdict": "inconclusive", "paired": false, "pairs": 0, "baseline_samples": 3, "candidate_samples": 0,
                  "margin": 0.01, "decision_level": 0.99, "decision_low": null, "decision_high": null, "reason": "'none' has no samples"}]}
JSON
"$assay" report r.json --format sql --output r.sql || exit 1
"$assay" report r.json -f sql >again.sql && cmp r.sql again.sql || exit 1
/usr/bin/python3 - <<'PYTHON'
import sqlite3
base = sqlite3.connect(":memory:")
script = open("r.sql").read()
base.executescript(script)
base.executescript(script)
one = lambda query: base.execute(query).fetchall()
assert one("SELECT count(*) FROM assay_subjects") == [(4,)]
assert one("SELECT DISTINCT run, name, command, samples FROM assay_subjects WHERE samples > 0") == [
    ("it's; DROP TABLE x; --", "a\\'b", "sh -c 'echo '\\''x'\\'''", 3)], one("SELECT run, name, command FROM assay_subjects")
assert one("SELECT seconds FROM assay_samples ORDER BY rowid LIMIT 3") == [(0.1,), (1e-9,), (0.30000000000000004,)]
assert one("SELECT mean_seconds FROM assay_subjects WHERE name = 'none'") == [(None,), (None,)]
assert one("SELECT DISTINCT verdict, ratio, reason FROM assay_comparisons") == [("inconclusive", None, "'none' has no samples")]
print("sql: read back exactly")
PYTHON
