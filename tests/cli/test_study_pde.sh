#!/bin/bash
# The study "pde". The same seed gives the same files, except for times and memory; the number of workers changes no
# result. A finished study shows its tables again. A composed configuration can be read back. Known values are recovered.
# An interrupted study can be resumed. Times are: performance_metrics.csv, "timing" of results.json, and in the record the
# samples, the figures in seconds and the spans.
set -u
. "$ASSAY_SOURCE/tests/cli/interrupt.sh"
assay=$ASSAY_BUILD/assay
conf=$ASSAY_SOURCE/conf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
    echo "$*"
    exit 1
}
study() { "$assay" study pde --config-dir "$conf" --quick "$@"; }
burgers() { study --config-name burgers_experiment trainer=synthetic_with_memory trainer_params.epochs=2 "$@"; }
heat() { study --config-name heat_physical_experiment trainer=physical_with_memory "$@"; }

# A trainer with memory is the same trainer, monitored; the seed's reference values are the defaults.
shown() { "$assay" study pde --config-dir "$conf" --config-name "$1" trainer="$2" --show-config; }
for pair in burgers_experiment:synthetic heat_physical_experiment:physical; do
    experiment=${pair%:*} trainer=${pair#*:}
    differ=$(diff <(shown $experiment $trainer) <(shown $experiment ${trainer}_with_memory) | grep '^[<>]')
    [ "$differ" = $'<   enable_memory_monitoring: false\n>   enable_memory_monitoring: true' ] ||
        fail "$trainer and ${trainer}_with_memory differ in: $differ"
done
for value in 'memory_monitor_batches: 5' 'batch_size: 32' 'num_workers: 4'; do
    shown burgers_experiment synthetic_with_memory | grep -q "$value" || fail "not by default: $value"
done
shown heat_physical_experiment physical_with_memory | grep -q 'epochs: 50' || fail "not 50 iterations by default"

for kind in burgers heat; do
    $kind --out $kind-1 >$kind-1.txt || fail "$kind failed"
    $kind --out $kind-2 --json - >$kind-2.json 2>/dev/null || fail "$kind: --json - failed"
    $kind --out $kind-3 --seed 43 >/dev/null || fail "$kind: another seed failed"
    cmp $kind-1/losses.csv $kind-2/losses.csv || fail "$kind: same seed, other losses"
    cmp $kind-1/config.yaml $kind-2/config.yaml || fail "$kind: same options, another configuration"
    cmp -s $kind-1/losses.csv $kind-3/losses.csv && fail "$kind: another seed, the same losses"
    cp $kind-1/record.json $kind-finished.json
    cp $kind-1/results.json $kind-results.json
    rm $kind-1/losses.csv
    $kind --out $kind-1 >again.txt || fail "$kind: a finished study cannot be shown again"
    [ "$(head -n 1 again.txt)" = "The training was finished by an earlier run" ] || fail "$kind: it trains again"
    cmp $kind-1/results.json $kind-results.json || fail "$kind: shown again, another results.json"
    cmp $kind-1/losses.csv $kind-2/losses.csv || fail "$kind: shown again, other losses"
    diff <(sed -n '/^PERFORMANCE/,$p' $kind-1.txt) <(sed -n '/^PERFORMANCE/,$p' again.txt) || fail "$kind: other tables"
done
# The configuration as composed is one that can be read.
"$assay" study pde --config-dir burgers-1 --config-name config --out back >/dev/null || fail "config.yaml does not read back"
cmp burgers-1/losses.csv back/losses.csv || fail "config.yaml gives other losses"

for workers in 0 1 5; do
    burgers --out workers-$workers trainer_params.num_workers=$workers >/dev/null || fail "$workers workers failed"
    cmp burgers-1/losses.csv workers-$workers/losses.csv || fail "$workers workers, other losses"
done
# As it comes, the quick surrogate is a demonstration: within 8 % of the solutions (5.3 to 5.9 % by ten seeds).
study --config-name burgers_experiment --out surrogate >surrogate.txt || fail "the surrogate fails"
awk '/Relative error:/ { found = 1; if ($3 + 0 > 8) exit 1 } END { if (!found) exit 1 }' surrogate.txt || fail "the surrogate is off: $(grep Relative surrogate.txt)"

study --config-name burgers_experiment trainer_params.epochs=2 --out plain >plain.txt || fail "without monitoring it fails"
cmp burgers-1/losses.csv plain/losses.csv || fail "monitoring changes the losses"
grep -q 'Batch 0' plain.txt && fail "monitoring is off, and lines are printed"
[ -e plain/performance_metrics.csv ] && fail "monitoring is off, and there are its metrics"

python3 - <<'END' || exit 1
import json
for kind in ("burgers", "heat"):
    one, two, printed = (json.load(open(p)) for p in (kind + "-1/results.json", kind + "-2/results.json", kind + "-2.json"))
    assert two == printed, "--json - differs"
    one.pop("timing"), two.pop("timing")
    assert json.dumps(one) == json.dumps(two), kind + ": results.json differs"
burgers = json.load(open("burgers-1/results.json"))["results"]
assert burgers["losses"][1] < burgers["losses"][0] and burgers["relative_errors"][1] < 1
heat = json.load(open("heat-1/results.json"))["results"]
assert all(b <= a for a, b in zip(heat["losses"], heat["losses"][1:])), "L-BFGS went up"
assert heat["losses"][-1] < 1.5e-6, "more than the noise of 0.001 is left"
for true, found in zip(heat["conductivity_true"], heat["conductivity_recovered"]):
    assert abs(found / true - 1) < 0.02, (true, found)
END

# The run record: one of the study, with the monitor's operations where monitoring is on; a function of the seed but for
# times and memory; what the other files are views of.
python3 - <<'END' || exit 1
import json
def load(folder, name="record.json"):
    return json.load(open(folder + "/" + name))
def timeless(record):
    kept = {k: record[k] for k in ("kind", "study", "name", "settings", "models", "series")}
    kept["figures"] = [dict(f, value=None) if f["unit"] == "s" else f for f in record["figures"]]
    kept["operations"] = [(o["name"], o["count"]) for o in record.get("operations", [])]
    kept["subjects"] = [(s["name"], s["model"], s["covers"], len(s["samples_seconds"])) for s in record["subjects"]]
    return kept
operations = {"burgers": {"data_loading", "training", "evaluation"}, "heat": {"load_ground_truth", "optimization"}}
models = {"burgers": "surrogate", "heat": "conductivity"}
for kind, names in operations.items():
    record, results, model = load(kind + "-1"), load(kind + "-1", "results.json"), models[kind]
    assert timeless(record) == timeless(load(kind + "-2")), kind + ": same seed, another record"
    assert timeless(record) != timeless(load(kind + "-3")), kind + ": another seed, the same record"
    assert (record["kind"], record["study"]) == ("study", "pde")
    assert {o["name"] for o in record["operations"]} == names, record["operations"]
    assert [s["name"] for s in record["subjects"]] == ["batch"] and record["subjects"][0]["model"] == model
    assert [m["name"] for m in record["models"]] == [model]
    timing = results["timing"]
    assert record["subjects"][0]["samples_seconds"] == timing["batch_seconds"] and timing["batch_seconds"]
    series = {s["name"]: s for s in record["series"]}
    assert series["loss"]["values"] == results["results"]["losses"] and series["loss"]["of"] == model
    figures = {(f["name"], f.get("of")): f["value"] for f in record["figures"]}
    for key, value in timing["statistics"].items():
        assert figures[key, None] == value, key
    assert record["settings"]["trainer_params.epochs"] == results["config"]["trainer_params"]["epochs"]
    assert record["settings"]["problem.equation"] == kind
    finished = json.load(open(kind + "-finished.json"))
    for key in ("created", "machine", "clock"): # as they are when it is shown
        record.pop(key, None), finished.pop(key, None)
    assert record == finished, kind + ": shown again, another record"
heat = {s["name"]: s for s in load("heat-1")["series"]}
assert heat["conductivity_recovered"]["along"] == "x" and heat["conductivity_recovered"]["places"][-1] == 1
assert heat["conductivity_true"]["values"] == load("heat-1", "results.json")["results"]["conductivity_true"]
plain = load("plain")
assert plain["kind"] == "study" and not plain.get("operations") and len(plain["subjects"][0]["samples_seconds"]) == 128
assert "statistics" not in load("plain", "results.json")["timing"]
END
code=0
/usr/bin/python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" burgers-1/record.json heat-1/record.json plain/record.json || code=$?
[ $code = 0 ] || [ $code = 77 ] || exit 1
"$assay" report burgers-1/record.json >report.txt || fail "the record cannot be reported"
for word in '^batch$' '^data_loading ' '^  evaluation '; do
    grep -q "$word" report.txt || fail "no '$word' in the report of the record: $(cat report.txt)"
done
"$assay" compare heat-1/record.json heat-2/record.json --json compared.json >/dev/null
grep -q '"baseline": "batch"' compared.json || fail "two records of the study cannot be compared"

# Configurations are found below the prefix the command is installed in.
mkdir -p prefix/bin prefix/lib/assay prefix/share/assay elsewhere
cp "$assay" prefix/bin && cp "$assay-models" prefix/lib/assay && cp -r "$conf" prefix/share/assay
(cd elsewhere && ../prefix/bin/assay study pde --config-name heat_physical_experiment --show-config) | grep -q 'equation: heat' ||
    fail "the installed configurations are not found"

interrupt_when long.txt 'grep -q "^Epoch 3/" long.txt' "$assay" study pde --config-dir "$conf" --quick \
    --config-name burgers_experiment trainer_params.epochs=1000000 --out long
[ $interrupted = 130 ] || fail "interrupted, it exits with $interrupted"
grep -q "interrupted after 0 of 1 steps" long.txt || fail "$(tail -n 3 long.txt)"
[ "$(wc -l <long/losses.csv)" -gt 2 ] || fail "interrupted, no losses are left"
echo "pde: both experiments repeat, resume, recover and stop"
