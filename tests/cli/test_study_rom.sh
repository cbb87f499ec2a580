#!/bin/bash
# The study "rom": its record contains everything, the other files are views of it, two runs can be compared, a finished
# study writes the same files again, and an interrupted one can be resumed.
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
study() { "$assay" study rom --quick --budget 200ms "$@"; }

study --out one >one.txt || fail "the study failed"
study --out two --json - >two.json 2>/dev/null || fail "--json - failed"
cmp two.json two/rom/summary.json || fail "--json - is not summary.json"

/usr/bin/python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" {one,two}/rom/record.json one/rom/.study/{fit_MVAR,train_LSTM,evaluate_and_benchmark}.json
status=$?
[ $status = 0 ] || [ $status = 77 ] || fail "a record does not conform"

python3 - <<'END' || exit 1
import json
record = json.load(open("one/rom/record.json"))
assert (record["kind"], record["study"], record["name"]) == ("study", "rom", "rom")
settings = record["settings"]
assert settings["seed"] == 42 and settings["epochs"] == 4 and settings["hidden_size"] == 64 and settings["data"] == "generated", settings
models = {m["name"]: m for m in record["models"]}
assert list(models) == ["MVAR", "LSTM"]
assert models["MVAR"]["parameters"] == 2020 and models["MVAR"]["parameter_bytes"] == 8 * 2020 and models["MVAR"]["settings"]["order"] == 5
assert models["LSTM"]["parameters"] == 23316 and models["LSTM"]["parameter_bytes"] == 4 * 23316 and models["LSTM"]["settings"]["hidden-dim"] == 64

subjects = {s["name"]: s for s in record["subjects"]}
assert list(subjects) == ["MVAR single step", "LSTM single step", "MVAR forecast", "LSTM forecast"], list(subjects)
rounds = record["subjects"][0]["rounds"]
for name, subject in subjects.items():
    assert subject["model"] == name.split()[0] and "window of" in subject["covers"]
    # At most half of the rounds are left out as disturbed.
    assert 50 <= len(subject["samples_seconds"]) == len(subject["rounds"]) <= 100
    assert subject["rounds"] == rounds, "not interleaved"
leading = [c for c in record["comparisons"] if not c.get("beside")]
pairs = [(c["baseline"], c["candidate"], c["paired"]) for c in record["comparisons"] if not c.get("beside")]
assert pairs == [("MVAR single step", "LSTM single step", True), ("MVAR forecast", "LSTM forecast", True)], pairs

figures = {(f["name"], f["of"]): f for f in record["figures"]}
for model in models:
    assert figures["training_seconds", model]["value"] > 0 and figures["training_seconds", model]["covers"]
    # A fair case: both models forecast well where the last value is no forecast at all.
    assert 0 < figures["relative_error_field", model]["value"] < 0.2 < 1 < figures["relative_error_field", "last value"]["value"], model
assert figures["final_loss", "MVAR"]["unavailable"] == {"value": "unsupported"}
loss, *others = record["series"]
horizons = [s for s in others if s["name"] == "relative_error"]
amplitudes = {s["of"]: s["values"] for s in others if s["name"].startswith("amplitude_")}
assert (loss["name"], loss["of"], loss["along"], len(loss["values"])) == ("loss", "LSTM", "epoch", 4)
assert [(s["name"], s["of"], s["along"], len(s["values"])) for s in horizons] == [("relative_error", m, "step", 100) for m in ("MVAR", "LSTM", "last value")]
for series in horizons:
    # The error over the horizon lies among those of its steps, and the first step is forecast best by the models.
    assert min(series["values"]) < figures["relative_error_field", series["of"]]["value"] < max(series["values"])
    assert series["of"] == "last value" or series["values"][0] < 0.1, series["values"][0]
assert list(amplitudes) == ["MVAR", "LSTM", "last value", "test"] and len(others) == 7, list(amplitudes)
truth = amplitudes["test"]
assert len(truth) == 100 and len(set(amplitudes["last value"])) == 1
for model in models:
    wrong = sum((a - b) ** 2 for a, b in zip(amplitudes[model], truth)) / sum(b * b for b in truth)
    assert 0 < wrong < 0.04, wrong
assert loss["values"][-1] == figures["final_loss", "LSTM"]["value"] < loss["values"][0]

# The views show what the record holds.
summary = json.load(open("one/rom/summary.json"))
forecast = summary["forecast"]["models"]
assert forecast["MVAR"]["unavailable"] == {"final_loss": "unsupported"} and forecast["MVAR"]["final_loss"] is None
assert forecast["LSTM"]["final_loss"] == loss["values"][-1]
assert forecast["MVAR"]["beats_last_value"] and forecast["LSTM"]["beats_last_value"]
assert summary["forecast"]["last_value"]["relative_error_field"] == figures["relative_error_field", "last value"]["value"]
for profile in summary["runtime_analysis"]["profiles"]:
    model = profile["model_name"]
    assert profile["training"]["total_seconds"] == figures["training_seconds", model]["value"]
    for key, name in (("single_step", "single step"), ("full_trajectory", "forecast")):
        shown, subject = profile["inference"][key], subjects[f"{model} {name}"]
        assert shown["samples"] == len(subject["samples_seconds"]) and shown["covers"] == subject["covers"]
        assert abs(shown["mean_seconds"] / subject["mean_seconds"] - 1) < 1e-9
# The speed-up and the verdict are about the same thing: ratio of means and of geometric means.
significance = summary["significance"]
assert significance["ratio"] == leading[1]["ratio"] and significance["verdict"] == leading[1]["verdict"]
mean = {m: subjects[f"{m} forecast"]["mean_seconds"] for m in models}
speedup = summary["runtime_analysis"]["comparison"]["inference_speedup"]["LSTM_vs_MVAR"]
assert abs(speedup * mean["LSTM"] / mean["MVAR"] - 1) < 1e-9, (speedup, mean)
assert 0.25 < speedup * significance["ratio"] < 4, (speedup, significance)
END

# Two runs can be compared, all four subjects of them; whether a noisy machine lets them pass as the same is not asked.
"$assay" compare one/rom/record.json two/rom/record.json --json compared.json >compared.txt 2>&1
status=$?
[ $status = 0 ] || [ $status = 1 ] || fail "two runs cannot be compared (exit $status): $(cat compared.txt)"
python3 - <<'END' || fail "$(cat compared.txt)"
import json
compared = json.load(open("compared.json"))
assert [c["baseline"] for c in compared["comparisons"] if not c.get("beside")] == ["MVAR single step", "LSTM single step", "MVAR forecast", "LSTM forecast"]
END

# A finished study measures nothing again and writes every file again: the record but for its description of the
# machine, the others byte for byte.
views="MVAR/runtime_profile.json LSTM/runtime_profile.json runtime_comparison.json summary.json"
cp -r one/rom before
(cd one/rom && rm $views record.json)
study --out one >again.txt || fail "a finished study fails"
cmp one.txt again.txt || fail "another report"
for view in $views; do
    cmp "before/$view" "one/rom/$view" || fail "another $view"
done
cat >same.py <<'END'
import json, sys
def timeless(path):
    record = json.load(open(path))
    for key in ("created", "machine", "build", "git", "clock"):
        record.pop(key)
    return record
sys.exit(timeless(sys.argv[1]) != timeless(sys.argv[2]))
END
python3 same.py before/record.json one/rom/record.json || fail "another record"

# As if it had been interrupted before the benchmark: models and errors are the same, only times are new.
python3 - <<'END' || exit 1
import json
state = json.load(open("one/rom/.study/study.json"))
assert state["finished_steps"] == ["fit MVAR", "train LSTM", "evaluate and benchmark"]
state["finished_steps"].pop()
json.dump(state, open("one/rom/.study/study.json", "w"))
END
rm one/rom/.study/evaluate_and_benchmark.json
study --out one >/dev/null || fail "it does not go on"
python3 - <<'END' || fail "going on changes what is no time"
import json
def kept(path):
    record = json.load(open(path))
    return [f for f in record["figures"] if f["name"] not in ("peak_rss_bytes", "rss_bytes")], record["series"], record["models"], record["settings"]
assert kept("before/record.json") == kept("one/rom/record.json")
assert json.load(open("before/record.json"))["subjects"] != json.load(open("one/rom/record.json"))["subjects"]
END
echo '{}' >one/rom/.study/train_LSTM.json
study --out one >/dev/null 2>message && fail "a damaged training is taken"
grep -q "train_LSTM.json" message || fail "the damaged file is not named: $(cat message)"

# Fields that hardly move: the last value is a good forecast, and an LSTM that learnt nothing is told so. The MVAR is not.
python3 - <<'END'
import math, struct
shape, values = (10, 140, 6), []
for trajectory in range(10):
    for t in range(140):
        values += [math.sin(0.004 * (k + 1) * t + trajectory * (k + 1)) for k in range(6)]
header = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
open("slow.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%dd" % len(values), *values))
END
study --data slow.npy --latent-dim 4 --lag 2 --n-steps 40 --epochs 1 --learning-rate 1e-9 --out slow >slow.txt 2>&1 || fail "$(cat slow.txt)"
grep "^warning" slow.txt | cmp - <(echo "warning: LSTM forecasts no better than the last value does") || fail "$(cat slow.txt)"

interrupt_when long.txt '[ -e long/rom/.study/fit_MVAR.json ]' "$assay" study rom --quick --epochs 1000000 --out long
[ $interrupted = 130 ] || fail "interrupted, it exits with $interrupted"
grep -q "interrupted after 1 of 3 steps; .*'long/rom', and the same command goes on from there" long.txt || fail "$(cat long.txt)"
[ ! -e long/rom/record.json ] || fail "an interrupted study leaves a record"
echo "rom: its record holds everything, repeats, resumes and compares"
