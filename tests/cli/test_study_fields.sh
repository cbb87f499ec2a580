#!/bin/bash
# The study "fields": same seed, same files but for times; another seed, other files; resumed after a part of it,
# the same results; interrupted, it says so and goes on.
# Times are: fields_timing.*, .study/rounds.json, "timing" of results.json, total_seconds and epoch_seconds of a training.
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
python3 - <<'END' || exit 1
import glob, json
def masked(path):
    root = json.load(open(path))
    for key in ("timing", "total_seconds", "epoch_seconds"):
        root.pop(key, None)
    return json.dumps(root)
assert masked("one/results.json") == masked("two/results.json"), "results.json differs"
assert masked("two.json") == masked("two/results.json"), "--json - differs"
trainings = [p for p in glob.glob("one/.study/*_*.json")]
assert len(trainings) == 27, trainings
for path in trainings:
    assert masked(path) == masked(path.replace("one", "two", 1)), path
# As if it had been interrupted in the sixth training.
state = json.load(open("one/.study/study.json"))
assert len(state["finished_steps"]) == 28
state["finished_steps"] = state["finished_steps"][:5]
json.dump(state, open("one/.study/study.json", "w"))
END
rm one/results.json one/accuracy.csv one/.study/spiral_KAN.json
study --out one >resumed.txt || fail "it does not go on"
grep -q '^5 of 28 steps were finished by an earlier run$' resumed.txt || fail "resuming is not said"
[ "$(grep -c ' complete: .*s total$' resumed.txt)" = 22 ] || fail "other trainings were done than those left"
cmp one/accuracy.csv two/accuracy.csv || fail "resumed, other accuracies"
echo '{}' >one/.study/saddle_MLP.json
study --out one >/dev/null 2>message && fail "a damaged training is taken"
grep -q "saddle_MLP.json' is damaged; --restart" message || fail "the damaged file is not named: $(cat message)"

interrupt_when long.txt '[ -e long/.study/study.json ]' "$assay" study fields --quick --epochs 1000000 --out long
[ $interrupted = 130 ] || fail "interrupted, it exits with $interrupted"
grep -q "interrupted after 0 of 28 steps; .*'long', and the same command goes on from there" long.txt || fail "$(cat long.txt)"
grep -q complete long.txt && fail "a training that was interrupted is called complete"
echo "fields: 27 trainings repeat, resume and stop"
