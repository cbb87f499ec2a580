# Verdicts between other tools' results, differences first, and the exit statuses of a gate.
python3 - <<'PYTHON'
import json
from statistics import NormalDist
def times(scale, count, noise):
    # a shuffle of normal quantiles that is the same everywhere
    order = sorted(range(count), key=lambda i: (i * 7919 + 13) * 2654435761 % 4294967296)
    return [round(0.1 * scale * (1 + noise * NormalDist().inv_cdf((k + 0.5) / count)), 9) for k in order]
def hyperfine(path, *benchmarks):
    json.dump({"results": [{"command": name, "times": times(*rest)} for name, *rest in benchmarks]}, open(path, "w"))
def google(path, cpus, *benchmarks):
    json.dump({"context": {"num_cpus": cpus, "library_build_type": "release"},
               "benchmarks": [{"name": name, "run_name": name, "run_type": "iteration", "iterations": 1000,
                               "real_time": t * 1e9, "time_unit": "ns"} for name, *rest in benchmarks for t in times(*rest)]},
              open(path, "w"))
hyperfine("before.json", ("sort", 1, 100, 0.01), ("copy", 2, 100, 0.01), ("gone", 1, 100, 0.01))
hyperfine("slower.json", ("sort", 1.1, 100, 0.01), ("copy", 2, 100, 0.01))
hyperfine("faster.json", ("sort", 0.5, 100, 0.01), ("copy", 2, 100, 0.01))
hyperfine("noisy.json", ("sort", 1, 100, 0.2), ("copy", 2, 100, 0.01))
hyperfine("mixed.json", ("sort", 1.1, 100, 0.01), ("copy", 2, 100, 0.2))
hyperfine("other.json", ("move", 1, 100, 0.01))
hyperfine("far.json", ("sort", 12345, 100, 0.01), ("copy", 2e7, 100, 0.01))
hyperfine("one.json", ("sort", 1, 1, 0.01))
google("google.json", 2, ("sort", 1, 50, 0.01))
google("google4.json", 4, ("sort", 1, 50, 0.01))
PYTHON
show compare before.json slower.json
show compare --gate before.json slower.json | tail -n 2
show compare --gate before.json faster.json | tail -n 3
show compare --gate before.json noisy.json | tail -n 2
show compare --gate google.json google4.json | tail -n 2
show compare --gate before.json one.json | tail -n 4
show compare --gate before.json one.json --json - | grep -E '^gate|missing'
show compare --gate before.json mixed.json | grep -E 'json|exit'
show compare --gate --margin 50% before.json slower.json | tail -n 1
show compare --gate --margin 0.5 before.json slower.json | tail -n 1
show compare before.json noisy.json
show compare google.json google4.json
show compare google.json before.json
show compare google.json google.json google4.json | grep -B 1 -A 1 google4
cp google.json third.json
show compare google.json third.json google4.json | grep -B 2 -A 1 google4
show compare before.json
show compare --all-pairs before.json slower.json faster.json | grep json
show compare before.json one.json

# too wide a figure gives up decimals before it is written with an exponent
show compare before.json far.json | grep far

# what other tools leave out is computed from the samples; without any there is no verdict
show report google.json
google_mean='"run_name": "sort", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 1e8, "time_unit": "ns"'
echo '{"context": {}, "benchmarks": [{"name": "sort_mean", '"$google_mean"'}]}' >aggregates.json
show compare --gate google.json aggregates.json | grep -A 1 -E '^  google|^exit'

# many comparisons share the risk: no interval is one of 100 %
python3 - <<'PYTHON'
import json
rows = [dict(row, name=f"b{i}", run_name=f"b{i}") for i in range(2000) for row in json.load(open("google.json"))["benchmarks"][:20]]
json.dump({"context": {}, "benchmarks": rows}, open("many.json", "w"))
PYTHON
show compare --margin 0.001% many.json many.json | grep -E 'Holm|beyond'

# names that differ only at their end, files of one name
python3 - <<'PYTHON'
import json
result = {r["command"]: r for r in json.load(open("before.json"))["results"]}["sort"]
names = ["./größe/program --size 1", "./größe/program --size 16"]
json.dump({"results": [dict(result, command=name, parameters={"size": name[-2:].strip()}) for name in names]}, open("sweep.json", "w"))
json.dump({"results": [dict(result, command=name) for name in names]}, open("names.json", "w"))
PYTHON
show compare names.json | grep -A 1 größe
show compare sweep.json | grep size
mkdir -p results/main results/branch
cp before.json results/main/bench.json
cp slower.json results/branch/bench.json
show compare results/main/bench.json results/branch/bench.json | grep 1.100


# a difference that is too long for its column is wrapped, and a long word is broken
python3 - <<'PYTHON'
import json
name = "a benchmark whose name differs from others in the middle, and not at its ends"
other = "an/executable/in/a/folder/with/a/name/that/is/long --and --its --options"
record = json.load(open("google.json"))
for row in record["benchmarks"]:
    row["name"] = row["run_name"] = name
json.dump(record, open("long.json", "w"))
result = json.load(open("before.json"))["results"][0]
json.dump({"results": [dict(result, command=name), dict(result, command=other)]}, open("longer.json", "w"))
PYTHON
show compare long.json longer.json | head -n 20

# what cannot be compared
show compare before.json other.json
show compare --gate before.json other.json
show compare one.json
echo '{"results": []}' >empty.json
show compare empty.json
show compare
show compare before.json missing.json
echo '{"rows": []}' >foreign.json
show compare before.json foreign.json
echo '{"schema": "assay-record", "version": 99}' >newer.json
show compare before.json newer.json
show compare --margin 120% before.json slower.json

# a comparison that was saved can be judged again
"$ASSAY" compare --json saved.json before.json slower.json >/dev/null
show compare --gate --margin 5% saved.json | grep -E -B 1 'json|^exit'

# the reason of a verdict goes along
"$ASSAY" compare --json saved.json before.json noisy.json >/dev/null
show report --format markdown saved.json | tail -n 3

# as JSON
show compare before.json slower.json --json - |
    python3 -c 'import json, sys
text = sys.stdin.read()
record = json.loads(text[text.index("{"):text.rindex("}") + 1])
print(record["kind"], len(record["subjects"]))
for c in record["comparisons"]:
    print(c["baseline"], c["candidate"], round(c["ratio"], 3), c["low"] < c["ratio"] < c["high"], c["verdict"], c["reason"])'

# the gate speaks on standard output, unless the record goes there
"$ASSAY" compare --gate before.json slower.json 2>/dev/null | tail -n 1
"$ASSAY" compare --gate before.json slower.json --json - 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["kind"])'
"$ASSAY" compare --gate before.json slower.json --json - 2>&1 >/dev/null | tail -n 1

# what is no time is left out, and said
heap='{"metadata": {"name": "heap", "unit": "byte"}, "runs": [{"values": [4096, 8192]}]}'
echo '{"version": "1.0", "benchmarks": [{"metadata": {"name": "sort"}, "runs": [{"values": [1, 2]}]}, '"$heap"']}' >units.json
echo '{"version": "1.0", "benchmarks": ['"$heap"']}' >bytes.json
show compare units.json before.json | grep -E 'note|^  units'
show compare bytes.json before.json

echo "— several runs a side: folders, or what stands before and after --"
mkdir runs-before runs-after study
python3 - <<'PYTHON'
import json
def run(path, seconds, bytes_):
    json.dump({"schema": "assay-record", "version": 2, "kind": "run", "wall_seconds": seconds,
               "user_seconds": seconds / 2, "sys_seconds": seconds / 4, "peak_rss_bytes": bytes_,
               "process": {"command": ["./train"], "process_id": 1, "finished": True, "exit_status": 0}},
              open(path, "w"))
for i, noise in enumerate((1, 1.01, 0.99, 1.005)):
    run(f"runs-before/{i}.json", 2 * noise, 1e8)
    run(f"runs-after/{i}.json", 2.6 * noise, 1e8)
    run(f"run-{i}.json", 2 * noise, 1e8 * (1 + i % 2))
PYTHON
show compare runs-before runs-after --gate
show compare --gate --metric memory runs-before/*.json -- runs-after/*.json
show compare runs-before/*.json --gate -- runs-after/*.json | tail -n 2 # an option before the dashes
show compare runs-before/0.json runs-after/0.json
show compare -- run-0.json run-1.json | grep run-0 # dashes that only end the options
show compare runs-before study
cp run-0.json study/record.json
show compare --gate --metric energy study/ run-1.json
show compare --metric joy runs-before runs-after
show compare - study/ <run-0.json | head -n 3
show compare - - <run-0.json
show compare run-0.json -- run-1.json --gate
