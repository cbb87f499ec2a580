"$ASSAY" run -q --json r.json --trace t.json -- "$SUBJECTS/subject_spans" kill
"$ASSAY" run --output first.txt --json again.json -- true
show report again.json | mask
"$ASSAY" report again.json | cmp - first.txt && echo "the same text as when it ran"
show report r.json --trace u.json
cmp t.json u.json && echo "the same trace"
show report again.json --trace none.json
"$ASSAY" report again.json --format trace 2>&1 >none.json
show report r.json --json s.json
cmp r.json s.json && echo "the same record"
show report r.json again.json | grep -E '^(again|r).json|^result|exit'
show report no-such.json
echo '{"schema": "assay-record", ' >cut.json
show report cut.json
mkdir -p study/rom empty
cp again.json study/rom/record.json
show report study | grep -E '^(\$|command|exit)'
show report empty
cat r.json r.json >two.json
show report two.json | sed 's/:[0-9]*:/:LINE:/'
echo '{"outcome": []}' >foreign.json
show report foreign.json
echo 'nothing' >text.json
show report text.json
head -c 1000 /dev/urandom >noise.json
"$ASSAY" report noise.json >/dev/null 2>&1; echo "exit $?"
sed 's/"version": [0-9]*,/"version": 99,/' r.json >newer.json
show report newer.json
show report r.json --trace /dev/full
show report r.json --trace no/such/folder/t.json

# a benchmark that something kept disturbing
python3 - >noisy.json <<'PYTHON'
import json
print(json.dumps({"schema": "assay-record", "version": 1, "kind": "bench", "total_seconds": 0, "subjects": [
    {"name": "sort", "iterations": 7, "samples_seconds": [0.001, 0.002, 0.003, 0.004], "stopped": "noise",
     "mean_seconds": 0.0025, "low_seconds": 0.001, "high_seconds": 0.004, "warmup_samples": 0, "rejected_samples": 0,
     "disturbed_samples": 3, "failed_runs": 1}]}))
PYTHON
show report noisy.json

# runs of two kinds, and a level that comes and goes; a record of another tool says neither, its samples do
python3 - >modes.json <<'PYTHON'
import json
def wiggle(i): return 1 + 0.001 * (i * 7 % 11 - 5)
modes = [0.01 * wiggle(i) * (2 if i % 25 == 3 else 1) for i in range(100)]
levels = [0.01 * wiggle(i) * (1.1 if i // 10 % 2 else 1) for i in range(100)]
print(json.dumps({"results": [{"command": name, "mean": sum(times) / 100, "times": times}
                              for name, times in (("modes", modes), ("levels", levels))]}))
PYTHON
show report modes.json | grep -E '^(modes|levels|  (slow|in doubt))'
# Large files need to be asked for: what is in them may take twenty times as much memory.
truncate -s 65M large.json
show report large.json
show compare --max-input 66M large.json large.json
show fit --max-input 1K large.json
show report --max-input 1,5G large.json
ASSAY_MAX_INPUT=2K show report large.json
rm large.json

# several benchmarks: the rule of their verdicts is explained once, another margin is another rule
"$ASSAY" bench -q --runs 5 --json a.json -- true -- true >/dev/null
"$ASSAY" bench -q --runs 5 --margin 7% --json b.json -- true -- true >/dev/null
for records in 'a.json' 'a.json a.json' 'a.json r.json a.json' 'a.json b.json a.json'; do
    # shellcheck disable=SC2086 # words
    echo "$records: $("$ASSAY" report $records | grep -c '^ratio: the candidate') rules," \
        "$("$ASSAY" report --format comparisons $records | grep -c '^ratio: the candidate') with --format comparisons"
done
show report - <a.json | head -n 1
printf '{' | show report -
echo '{"context": {"date": "2026-01-01T00:00:00+00:00"}, "benchmarks": []}' | show report -
