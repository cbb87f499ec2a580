#!/bin/bash
# The study "pde": same seed, same files but for times and memory; the number of workers changes no result; a
# finished study shows its tables again; a composed configuration reads back; values are recovered; interruption.
# Times are: record.json, performance_metrics.csv and "timing" of results.json and .study/training.json.
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

for kind in burgers heat; do
    $kind --out $kind-1 >$kind-1.txt || fail "$kind failed"
    $kind --out $kind-2 --json - >$kind-2.json 2>/dev/null || fail "$kind: --json - failed"
    $kind --out $kind-3 --seed 43 >/dev/null || fail "$kind: another seed failed"
    cmp $kind-1/losses.csv $kind-2/losses.csv || fail "$kind: same seed, other losses"
    cmp $kind-1/config.yaml $kind-2/config.yaml || fail "$kind: same options, another configuration"
    cmp -s $kind-1/losses.csv $kind-3/losses.csv && fail "$kind: another seed, the same losses"
    $kind --out $kind-1 >again.txt || fail "$kind: a finished study cannot be shown again"
    [ "$(head -n 1 again.txt)" = "The training was finished by an earlier run" ] || fail "$kind: it trains again"
    diff <(sed -n '/^PERFORMANCE/,$p' $kind-1.txt) <(sed -n '/^PERFORMANCE/,$p' again.txt) || fail "$kind: other tables"
done
# The configuration as composed is one that can be read.
"$assay" study pde --config-dir burgers-1 --config-name config --out back >/dev/null || fail "config.yaml does not read back"
cmp burgers-1/losses.csv back/losses.csv || fail "config.yaml gives other losses"

for workers in 0 1 5; do
    burgers --out workers-$workers trainer_params.num_workers=$workers >/dev/null || fail "$workers workers failed"
    cmp burgers-1/losses.csv workers-$workers/losses.csv || fail "$workers workers, other losses"
done
study --config-name burgers_experiment trainer_params.epochs=2 --out plain >plain.txt || fail "without monitoring it fails"
cmp burgers-1/losses.csv plain/losses.csv || fail "monitoring changes the losses"
grep -q 'Batch 0' plain.txt && fail "monitoring is off, and lines are printed"
[ -e plain/record.json ] && fail "monitoring is off, and there is a record"

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
