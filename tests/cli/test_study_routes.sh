#!/bin/bash
# A study of routes is a function of its seed: two runs give the same bytes, and so does a run that is interrupted and
# resumed. Times are not compared: JSON keys that name a time (…time…, …seconds, throughput), the samples of the
# comparison and its verdicts, and in records the state of the machine. The record of the study contains the results, is
# the same when a finished study is run again, and two of them can be compared.
set -eu
. "$ASSAY_SOURCE/tests/cli/interrupt.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
command=("$ASSAY_BUILD/assay" study routes --quick --roads 100 --drives 400 --epochs 6 --num-gene 30 --compare-time 200ms)
study() {
    "${command[@]}" "$@" >>"$folder/log" 2>&1
}
fail() {
    echo "$*"
    cat "$folder/log"
    exit 1
}
study --seed 7 --out "$folder/one" || fail "the first run failed"
study --seed 7 --out "$folder/two" || fail "the second run failed"
study --seed 8 --out "$folder/other" || fail "the run with another seed failed"

# Interrupted once its first model is trained; the distilled one is still to come.
interrupt_when "$folder/interrupted.txt" '[ -e "$folder/three/vanilla/training.json" ]' "${command[@]}" --seed 7 --out "$folder/three"
echo "interrupted with exit $interrupted"
study --seed 7 --out "$folder/three" || fail "going on failed"

# Finished, it trains nothing and writes the same record.
cp "$folder/one/record.json" "$folder/finished.json"
cp "$folder/one/summary.json" "$folder/finished-summary.json"
rm "$folder/one/vanilla/generation.json" "$folder/one/comparison.json"
study --seed 7 --out "$folder/one" || fail "showing a finished study again failed"
cmp "$folder/one/summary.json" "$folder/finished-summary.json" || fail "resumed, another summary.json"

# A folder whose step has lost what it found says what to do.
cp -r "$folder/one" "$folder/damaged"
rm "$folder/damaged/.study/train_vanilla.json"
study --seed 7 --out "$folder/damaged" && fail "a step without its record is taken for done"
grep -q "train_vanilla.json.*--restart begins anew" "$folder/log" || fail "a lost record does not say --restart"

# The map of the record: roads by their ends, and generated routes beside real ones with the same ends.
python3 - "$folder/one" <<'END' || fail "the map of the record is not that of the files"
import ast, csv, json, sys
folder = sys.argv[1]
series = json.load(open(f"{folder}/record.json"))["series"]
roads = [(int(row["geo_id"]), ast.literal_eval(row["coordinates"])) for row in csv.DictReader(open(f"{folder}/city.geo"))]
ends = {s["name"]: s["values"] for s in series if s["of"] == "network"}
assert [tuple(ends[k][i] for k in ("road_x1", "road_y1", "road_x2", "road_y2")) for i in range(len(roads))] == \
    [(*line[0], *line[-1]) for _, line in roads]
index = {road: i for i, (road, _) in enumerate(roads)}
real = {s["of"]: s["values"] for s in series if s["name"] == "real_route"}
driven = [[index[int(road)] for road in row["rid_list"].split(",")] for row in csv.DictReader(open(f"{folder}/test.csv"))]
assert all(route in driven for route in real.values())
for model in ("vanilla", "distilled"):
    made = [[index[road] for road in ast.literal_eval(row["gene_trace_road_id"])]
            for row in csv.DictReader(open(f"{folder}/{model}/generated.csv"))]
    found = {s["of"].removesuffix(f", {model}"): s["values"] for s in series
             if s["name"] == "generated_route" and s["of"].endswith(f", {model}")}
    assert 1 <= len(found) <= 8, len(found)
    for trip, route in found.items():
        assert route in made and (route[0], route[-1]) == (real[trip][0], real[trip][-1])
        assert trip == f"{roads[route[0]][0]} to {roads[route[-1]][0]}", trip
END

python3 - "$folder" <<'END'
import json, os, sys
def masked(value):
    if isinstance(value, dict):
        return {k: masked(v) for k, v in value.items()
                if not ("time" in k or "seconds" in k or "throughput" in k or k in ("comparisons", "slowest"))}
    return [masked(v) for v in value] if isinstance(value, list) else value
def subject(one):
    kept = {k: one[k] for k in ("name", "model", "covers", "inputs", "parameters") if k in one}
    if one["name"].endswith(" search"):
        kept["samples"] = len(one["samples_seconds"])
        kept["passes"] = [m["samples"] for m in one["measures"] if m["metric"] == "forward_passes"]
    return kept
def timeless(record):
    kept = {k: record[k] for k in ("kind", "study", "name", "settings", "models", "series") if k in record}
    kept["subjects"] = [subject(one) for one in record.get("subjects", [])]
    kept["figures"] = [dict(f, value=None) if f["unit"] == "s" else f for f in record.get("figures", [])]
    return kept
def content(root):
    files = {}
    for at, _, names in os.walk(root):
        for name in names:
            path = os.path.join(at, name)
            data = open(path, "rb").read()
            key = os.path.relpath(path, root)
            if name.endswith(".json"):
                value = json.loads(data)
                data = json.dumps(timeless(value) if value.get("schema") == "assay-record" else masked(value))
            files[key] = data
    return files
one, two, three, other = (content(os.path.join(sys.argv[1], name)) for name in ("one", "two", "three", "other"))
def differences(a, b):
    return sorted(k for k in set(a) | set(b) if a.get(k) != b.get(k))
for name, files in (("again", two), ("interrupted", three)):
    if differences(one, files):
        sys.exit("%s: other content in %s" % (name, differences(one, files)))
for name in ("city.geo", "vanilla/generated.csv", "distilled/weights.safetensors", "record.json"):
    if one[name] == other[name]:
        sys.exit("another seed gives the same " + name)

# What the record holds, and that the files are views of it.
def load(name):
    return json.load(open(os.path.join(sys.argv[1], name)))
record, summary = load("one/record.json"), load("one/summary.json")
assert (record["kind"], record["study"]) == ("study", "routes"), record["kind"]
subjects = {s["name"]: s for s in record["subjects"]}
assert list(subjects) == ["vanilla search", "distilled search", "vanilla", "distilled"], list(subjects)
assert [m["name"] for m in record["models"]] == ["vanilla", "distilled"]
figures = {(f["name"], f.get("of")): f["value"] for f in record["figures"]}
series = {(s["name"], s.get("of")): s["values"] for s in record["series"]}
for model in ("vanilla", "distilled"):
    search, training = subjects[model + " search"], summary["models"][model]["training"]
    performance = summary["models"][model]["generation"]["performance"]
    assert search["model"] == subjects[model]["model"] == model
    assert search["covers"] and subjects[model]["covers"] and not search.get("parameters")
    assert len(search["samples_seconds"]) == 30
    mean = sum(search["samples_seconds"]) / 30
    assert abs(performance["total_time_mean"] / mean - 1) < 1e-9, (performance["total_time_mean"], mean)
    assert [m["metric"] for m in search["measures"]] == [
        "forward_seconds", "forward_passes", "cpu_seconds", "waited_seconds", "yardstick_seconds"]
    assert search["inputs"] == subjects["vanilla search"]["inputs"], "one list for all models"
    assert len(subjects[model]["rounds"]) == len(subjects[model]["samples_seconds"])
    assert series["loss", model] == training["losses"] and len(training["losses"]) == 6
    assert figures["test_loss", model] == training["test_loss"]
    assert figures["training_seconds", model] == training["training_seconds"]
    assert figures["distance_jsd", model] == summary["models"][model]["results"]["Distance_JSD"]
    assert figures["trajectories", model] == summary["models"][model]["generation"]["num_generated"]
    each = load("one/" + model + "/performance.json")
    assert [s["total_time"] for s in each["searches"]] == search["samples_seconds"], "performance.json has other searches"
    assert each["slowest"] == max(each["searches"], key=lambda s: s["total_time"])
    assert each["performance"] == performance
assert [c["verdict"] for c in record["comparisons"] if not c.get("beside")] == [c["verdict"] for c in summary["comparisons"]]
alone = load("one/comparison.json")
assert [s["samples_seconds"] for s in alone["subjects"]] == [subjects[m]["samples_seconds"] for m in ("vanilla", "distilled")]
finished = load("finished.json")
for key in ("created", "machine", "clock"): # as they are when it is shown
    record.pop(key, None), finished.pop(key, None)
assert record == finished, [k for k in record if record[k] != finished.get(k)]
print("%d files, the same each time" % len(one))
END

code=0
/usr/bin/python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" "$folder"/one/record.json "$folder"/one/comparison.json \
    "$folder"/one/.study/[a-rt-z]*.json || code=$?
[ $code = 0 ] || [ $code = 77 ] || exit 1

# Two records can be compared, and a study that is slower shows: about 2.1 times with this beam, on a busy machine
# perhaps without a verdict.
study --seed 7 --beam-width 24 --out "$folder/wide" || fail "the run with a wide beam failed"
"$ASSAY_BUILD/assay" compare "$folder/one/record.json" "$folder/wide/record.json" --json "$folder/compared.json" >>"$folder/log" 2>&1 || true
python3 - "$folder/compared.json" <<'END'
import json, sys
compared = json.load(open(sys.argv[1]))["comparisons"]
passes = [c for c in compared if c["metric"] == "forward_passes"]
assert [c["baseline"] for c in passes] == ["vanilla search", "distilled search"]
wall = {c["baseline"]: c for c in compared if c["metric"] == "wall_seconds"}
assert set(wall) == {"vanilla search", "distilled search", "vanilla", "distilled"}
for c in (wall["vanilla"], wall["distilled"]):
    assert c["ratio"] > 1.3 and c["verdict"] in ("slower", "inconclusive"), c
END
