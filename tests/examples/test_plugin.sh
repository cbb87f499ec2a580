#!/bin/bash
# The plugin of examples/plugin, built as its README says, works with every action of `assay model`, and
# its numbers are right; plugins that are broken are refused with the reason.
set -eu
assay=$ASSAY_BUILD/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v cc >/dev/null || { echo "no C compiler"; exit 77; }

grep -qF 'cc -O2 -shared -fPIC -I ../../include linear.c -o linear.so -lm' "$ASSAY_SOURCE/examples/plugin/README.md" ||
    { echo "the README does not show how to build it"; exit 1; }
cc -Wall -Wextra -Werror -O2 -shared -fPIC -I "$ASSAY_SOURCE/include" "$ASSAY_SOURCE/examples/plugin/linear.c" -o linear.so -lm
if nm -D --undefined-only linear.so | grep -w 'U assay_'; then
    echo "the plugin needs something of assay's to link" && exit 1
fi

expect() { # pattern, command...
    local pattern=$1
    shift
    "$@" >out.txt 2>&1 || { echo "$* failed:" && cat out.txt && exit 1; }
    grep -Eq "$pattern" out.txt || { echo "$*: no /$pattern/ in:" && cat out.txt && exit 1; }
}
expect '^weight +\(1, 3\) +3$' "$assay" model info --model ./linear.so --input-dim 3
expect '^pytorch +192 +192$' "$assay" model info --model linear.so --input_dim 3
expect '"name": "linear"' "$assay" model info --model ./linear.so --json -
expect 'input-dim N +columns of the input \(default: 8\)' "$assay" model --model ./linear.so --help
expect "trained on data it makes up itself" "$assay" model train --model ./linear.so --steps 3
"$assay" model train --model ./linear.so --input-dim 0 2>out.txt && exit 1
grep -q "'--input-dim' must be from 1 to 4096" out.txt || { cat out.txt && exit 1; }

# Refused: NAME, what the class is changed by, what is said.
refuse() {
    local status=0
    sed "$2" "$ASSAY_SOURCE/examples/plugin/linear.c" >"$1.c"
    cmp -s "$1.c" "$ASSAY_SOURCE/examples/plugin/linear.c" && echo "$1: the change does not apply" && exit 1
    cc -w -shared -fPIC -I "$ASSAY_SOURCE/include" "$1.c" -o "$1.so" -lm
    "$assay" model info --model "./$1.so" >out.txt 2>&1 || status=$?
    [ $status = 65 ] && grep -qF "$3" out.txt || { echo "$1: exit $status, no '$3' in:" && cat out.txt && exit 1; }
}
refuse abi 's/\.abi = ASSAY_MODEL_ABI/.abi = 99/' "version 99 of the model interface, not 1"
refuse small 's/\.struct_size = .*/.struct_size = 16,/' "struct_size"
refuse symbol 's/assay_model_plugin(void)/another_name(void)/' "exports no function 'assay_model_plugin'"
refuse null 's/return &linear_class;/return 0;/' "gives no class"
refuse forward 's/\.forward = forward,//' "has no function 'forward'"
refuse create 's/\.create = create,//' "has no function 'create'"
refuse name 's/\.name = "linear"/.name = "My Model"/' "no valid name"
refuse limits 's/8, 1, 4096, true/8, 9, 4096, true/' "option 'input-dim' has a default outside its limits"
refuse option 's/"batch-size"/"input-dim"/' "option 'input-dim' occurs twice"
refuse inputs 's/\.input_count = .*/.input_count = 0,/' "inputs"
echo 'not a library' >text.so
"$assay" model info --model ./text.so >out.txt 2>&1 && exit 1
grep -q "plugin './text.so' cannot be loaded" out.txt || { cat out.txt && exit 1; }

# What it cannot do is said; a setting that is called like an option of the command has another name.
"$assay" model eval --model ./linear.so --input x.npy --output y.npy --steps 3 >out.txt 2>&1 && exit 1
sed 's/"batch-size"/"steps"/' "$ASSAY_SOURCE/examples/plugin/linear.c" >steps.c
cc -w -shared -fPIC -I "$ASSAY_SOURCE/include" steps.c -o steps.so -lm
expect '^  steps +5 ' "$assay" model info --model ./steps.so --model-steps 5

# Numbers, with NumPy.
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "python3-numpy is missing: numbers not checked"; exit 77; }
exec /usr/bin/python3 - "$assay" "$ASSAY_SOURCE/tests/accuracy" <<'END'
import subprocess
import sys

import numpy

sys.path.insert(0, sys.argv[2])
import safetensors

random = numpy.random.default_rng(5)
x, w, b = random.normal(size=(200, 3)), random.normal(size=(2, 3)), random.normal(size=2)
y = x @ w.T + b + 0.1 * random.normal(size=(200, 2))
numpy.save("x.npy", x)
numpy.save("y.npy", y)


def assay(action, *arguments):
    run = subprocess.run([sys.argv[1], "model", action, "--model", "./linear.so", *arguments], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{action}: {run.stderr}")
    return run.stdout


assay("train", "--input-dim", "3", "--output-dim", "2", "--input", "x.npy", "--target", "y.npy", "--epochs", "60",
      "--batch", "32", "--learning-rate", "0.1", "--output", "w.safetensors")
fitted = safetensors.load("w.safetensors")
solution = numpy.linalg.lstsq(numpy.c_[x, numpy.ones(200)], y, rcond=None)[0].T
assert numpy.abs(fitted["weight"] - solution[:, :3]).max() < 0.05, fitted
assert numpy.abs(fitted["bias"] - solution[:, 3]).max() < 0.05, fitted
assay("eval", "--weights", "w.safetensors", "--input", "x.npy", "--output", "out.npy")
expected = x @ fitted["weight"].T + fitted["bias"]
assert numpy.allclose(numpy.load("out.npy"), expected, atol=1e-5)
loss = float(assay("grad", "--weights", "w.safetensors", "--input", "x.npy", "--target", "y.npy", "--output",
                   "g.safetensors").split()[1])
assert abs(loss - ((expected - y) ** 2).mean()) < 1e-6, loss
gradient = safetensors.load("g.safetensors")["weight"]
assert numpy.allclose(gradient, 2 * (expected - y).T @ x / y.size, atol=1e-5), gradient
END
