#!/bin/bash
# A study of routes is a function of its seed: two runs leave the same bytes, and so does one that is
# interrupted and goes on. What is time is left out: keys of JSON that say so (…time…, …seconds, throughput),
# comparison.json and the verdicts made of it.
set -eu
. "$ASSAY_SOURCE/tests/cli/interrupt.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
command=("$ASSAY_BUILD/assay" study routes --quick --roads 100 --drives 400 --epochs 6 --num-gene 30 --compare-time 50ms)
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

python3 - "$folder" <<'END'
import json, os, sys
def masked(value):
    if isinstance(value, dict):
        return {k: masked(v) for k, v in value.items()
                if not ("time" in k or "seconds" in k or "throughput" in k or k == "comparisons")}
    return [masked(v) for v in value] if isinstance(value, list) else value
def content(root):
    files = {}
    for at, _, names in os.walk(root):
        for name in names:
            path = os.path.join(at, name)
            data = open(path, "rb").read()
            key = os.path.relpath(path, root)
            files[key] = "" if key == "comparison.json" else json.dumps(masked(json.loads(data))) if name.endswith(".json") else data
    return files
one, two, three, other = (content(os.path.join(sys.argv[1], name)) for name in ("one", "two", "three", "other"))
def differences(a, b):
    return sorted(k for k in set(a) | set(b) if a.get(k) != b.get(k))
for name, files in (("again", two), ("interrupted", three)):
    if differences(one, files):
        sys.exit("%s: other content in %s" % (name, differences(one, files)))
for name in ("city.geo", "vanilla/generated.csv", "distilled/weights.safetensors"):
    if one[name] == other[name]:
        sys.exit("another seed gives the same " + name)
print("%d files, the same each time" % len(one))
END
