#!/bin/bash
# The study "fields". The same seed gives the same files, except for times; another seed gives other files. A study that is
# resumed gives the same results. A study that is interrupted says so and can be resumed. record.json contains everything,
# and the other files are made from it. Times are: fields_timing.*, "timing" of results.json, and in a record the subjects,
# the comparisons, the series "epoch_time" and the figures in seconds.
set -u
. "$ASSAY_SOURCE/tests/cli/interrupt.sh"
assay=$ASSAY_BUILD/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
    echo "$*"
    exit 1
}
study() { "$assay" study fields --quick --epochs 5 "$@"; }

study --out one >one.txt || fail "the study failed"
study --out two --json - >two.json 2>/dev/null || fail "--json - failed"
study --out three --seed 43 >/dev/null || fail "another seed failed"
cmp one/accuracy.csv two/accuracy.csv || fail "same seed, other accuracies"
cmp -s one/accuracy.csv three/accuracy.csv && fail "another seed, the same accuracies"
cat >read.py <<'END'
import json
def load(path):
    with open(path) as file:
        return json.load(file)
def results(path):
    root = load(path)
    root.pop("timing")
    return root
def found(path):
    """What a record has beside its times."""
    root = load(path)
    assert root["kind"] == "study" and root["study"] == "fields", path
    assert all(item.get("unit") == "s" for item in root["series"] if item["name"] == "epoch_time"), path
    return {"settings": root["settings"], "models": root["models"],
            "series": [item for item in root["series"] if item.get("unit") != "s"],
            "figures": [item for item in root["figures"] if item.get("unit") != "s"],
            "subjects": [[item[key] for key in ("name", "model", "covers", "iterations")] for item in root["subjects"]]}
END
python3 - <<'END' || exit 1
import glob
from read import *
assert results("one/results.json") == results("two/results.json"), "results.json differs"
assert load("two.json") == load("two/results.json"), "--json - differs"
assert found("one/record.json") == found("two/record.json"), "record.json differs"
assert found("one/record.json")["series"] != found("three/record.json")["series"], "another seed, the same losses"
trainings = glob.glob("one/.study/*_on_*.json")
assert len(trainings) == 27, trainings
for path in trainings:
    assert found(path) == found(path.replace("one", "two", 1)), path

# What record.json promises, and that the other files say the same.
record, view = load("one/record.json"), load("one/results.json")
models = {item["name"]: item for item in record["models"]}
subjects = {item["name"]: item for item in record["subjects"]}
figures = {(item["name"], item["of"]): item for item in record["figures"]}
series = {(item["name"], item["of"]): item for item in record["series"]}
assert list(models) == ["MLP", "SIREN", "KAN"], list(models)
assert list(subjects) == ["MLP epoch", "SIREN epoch", "KAN epoch"], list(subjects)
assert models["MLP"]["settings"]["hidden-dim"] == 64 and models["SIREN"]["settings"]["learning_rate"] == 0.0003, models
assert record["settings"]["epochs"] == 5 and record["settings"]["threshold"] == 0.01, record["settings"]
assert len({tuple(item["rounds"]) for item in subjects.values()}) == 1, "the models did not take turns"
for item in subjects.values():
    assert len(item["samples_seconds"]) == view["timing"]["rounds"] == 27 * 6 - item["rejected_samples"], item["name"]
    assert item["warmup_samples"] == 27, item["warmup_samples"]
baseline = view["timing"]["baseline"]
comparisons = {item["candidate"]: item for item in record["comparisons"] if not item.get("beside")}
assert len(comparisons) == 2, list(comparisons)
assert all(item["baseline"] == baseline + " epoch" and item["paired"] for item in comparisons.values()), baseline
for training in view["trainings"]:
    of = training["model"] + " on " + training["function"]
    assert training["losses"] == series["loss", of]["values"] and len(series["epoch_time", of]["values"]) == 5, of
    assert training["parameters"] == models[training["model"]]["parameters"], of
    for key in "rmse", "r2", "largest_error", "epochs_to_converge":
        assert training[key] == figures[key, of]["value"], (of, key)
    if training["epochs_to_converge"] is None:
        assert training["unavailable"]["epochs_to_converge"] == "not enough data", training
        assert figures["epochs_to_converge", of]["unavailable"]["value"] == "not enough data", of
assert any(training["epochs_to_converge"] is None for training in view["trainings"])
for model, timing in view["timing"]["models"].items():
    assert timing["time"] == figures["time", model]["value"], model
    assert abs(timing["time"] - sum(each["time"] for each in timing["trainings"].values())) < 1e-9, model
    for function, each in timing["trainings"].items():
        figure = figures["time", model + " on " + function]
        assert each["time"] == figure["value"] and figure["covers"] == "making the net, every epoch, and the test", figure
    if model != baseline:
        comparison = comparisons[model + " epoch"]
        assert timing["speedup"]["verdict"] == comparison["verdict"], model
        assert abs(timing["speedup"]["ratio"] * comparison["ratio"] - 1) < 1e-9, model
END
python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" one/record.json one/.study/MLP_on_saddle.json ||
    [ $? = 77 ] || fail "the record does not conform to its schema"
"$assay" compare one/record.json two/record.json --json compared.json >/dev/null || fail "two studies cannot be compared"
python3 - <<'END' || exit 1
from read import *
assert [item["candidate"] for item in load("compared.json")["comparisons"] if not item.get("beside")] == ["MLP epoch", "SIREN epoch", "KAN epoch"]
END

# Nothing is left to do: all is as it was, times too.
cp one/record.json record.json
cp one/results.json results.json
study --out one >again.txt || fail "a complete study is not shown again"
grep -q complete again.txt && fail "a complete study trains again"
cmp one/results.json results.json || fail "shown again, other results"
python3 - <<'END' || exit 1
from read import *
before, after = load("record.json"), load("one/record.json")
for key in "subjects", "models", "figures", "series", "comparisons", "settings":
    assert before[key] == after[key], key
END
study --out one --threshold 1000 --baseline mlp >/dev/null || fail "another threshold and baseline failed"
python3 - <<'END' || exit 1
from read import *
record = load("one/record.json")
assert {item["value"] for item in record["figures"] if item["name"] == "epochs_to_converge"} == {1}
assert [item["baseline"] for item in record["comparisons"] if not item.get("beside")] == ["MLP epoch", "MLP epoch"]
assert record["settings"]["baseline"] == "MLP" and record["settings"]["threshold"] == 1000, record["settings"]
# As if it had been interrupted in the sixth training.
state = load("one/.study/study.json")
assert len(state["finished_steps"]) == 27
state["finished_steps"] = state["finished_steps"][:5]
json.dump(state, open("one/.study/study.json", "w"))
END
rm one/results.json one/record.json one/accuracy.csv one/.study/KAN_on_spiral.json
study --out one >resumed.txt || fail "it does not go on"
grep -q '^5 of 27 steps were finished by an earlier run$' resumed.txt || fail "resuming is not said"
[ "$(grep -c ' complete: .*s total$' resumed.txt)" = 22 ] || fail "other trainings were done than those left"
cmp one/accuracy.csv two/accuracy.csv || fail "resumed, other accuracies"
python3 -c 'from read import *; assert found("one/record.json") == found("two/record.json"), "resumed, another record"' || exit 1

# Something else stands where a step kept its record; then a record that lacks an epoch.
echo '{}' >one/.study/MLP_on_saddle.json
study --out one >/dev/null 2>message && fail "a damaged training is taken"
grep -q "MLP_on_saddle.json.*; --restart begins anew" message || fail "the damaged file is not named: $(cat message)"
python3 - <<'END' || exit 1
from read import *
record = load("two/.study/MLP_on_saddle.json")
next(item for item in record["series"] if item["name"] == "loss")["values"].pop()
json.dump(record, open("one/.study/MLP_on_saddle.json", "w"))
END
study --out one >/dev/null 2>message && fail "a training with an epoch too few is taken"
grep -q "'MLP on saddle' in 'one' is damaged; --restart" message || fail "the damaged training is not named: $(cat message)"

interrupt_when long.txt '[ -e long/.study/study.json ]' "$assay" study fields --quick --epochs 500000 --out long
[ $interrupted = 130 ] || fail "interrupted, it exits with $interrupted"
grep -q "interrupted after 0 of 27 steps; .*'long', and the same command goes on from there" long.txt || fail "$(cat long.txt)"
grep -q complete long.txt && fail "a training that was interrupted is called complete"
echo "fields: 27 trainings repeat, resume and stop"
