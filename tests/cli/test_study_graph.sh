#!/bin/bash
# A graph study is a function of its seed, except for times: model, operations, memory by use, sizes and files are the same in
# two runs, and in a run that is interrupted and resumed. Not compared: timestamp, runtime, roofline, resident memory, and in
# scaling and encoding costs everything except sizes and storage.
set -eu
. "$ASSAY_SOURCE/tests/cli/interrupt.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
command=("$ASSAY_BUILD/assay" study graph --quick --num-nodes 60 --num-edges 240 --hidden-dim 32 --num-layers 2 --ffn-dim 64
    --num-runs 5 --budget 100ms)
fail() {
    echo "$*"
    cat "$folder/log"
    exit 1
}
for name in one two; do
    "${command[@]}" --out "$folder/$name" >>"$folder/log" 2>&1 || fail "$name failed"
done
interrupt_when "$folder/interrupted.txt" '[ -e "$folder/three/profile.json" ]' "${command[@]}" --out "$folder/three"
echo "interrupted with exit $interrupted"
python3 -c 'import json, sys; json.load(open(sys.argv[1]))["flops"]' "$folder/three/profile.json" || fail "nothing to read after an interruption"
"${command[@]}" --out "$folder/three" >>"$folder/log" 2>&1 || fail "going on failed"

python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" "$folder"/{one,two,three}/record.json ||
    [ $? = 77 ] || fail "a record does not conform"
# Shown again, a study that is done writes what it wrote.
cp "$folder/one/record.json" "$folder/before.json"
cp "$folder/one/report.txt" "$folder/before.txt"
"${command[@]}" --out "$folder/one" >"$folder/again.txt" 2>>"$folder/log" || fail "showing it again failed"
cmp "$folder/before.txt" "$folder/one/report.txt" || fail "another report when shown again"
head -n -2 "$folder/again.txt" | cmp - "$folder/one/report.txt" || fail "what is printed is not the report"

python3 - "$folder" <<'END'
import csv, json, os, sys
def measured(path):
    record = json.load(open(path))
    return {key: record[key] for key in ("created", "settings", "subjects", "models", "figures", "series", "scalings")}
if measured(sys.argv[1] + "/before.json") != measured(sys.argv[1] + "/one/record.json"):
    sys.exit("another record when shown again")
def layout(root):
    record = json.load(open(root + "/record.json"))
    for subject in record["subjects"]:
        if not subject.get("samples_seconds") or not subject.get("covers") or not subject.get("model"):
            sys.exit("%s says too little" % subject["name"])
    return ([(s["name"], s["model"], s.get("parameters")) for s in record["subjects"]], record["models"], record["settings"],
            [(f["name"], f.get("of"), f.get("unit")) for f in record["figures"]], [(s["name"], s.get("of"), len(s["values"])) for s in record["series"]])
def content(root):
    profile = json.load(open(root + "/profile.json"))
    for key in ("timestamp", "runtime", "roofline"):
        profile[key] = None
    profile["memory"] = profile["memory"]["breakdown"]
    profile["scaling"] = {k: [v.get("parameter"), v.get("parameter_values"), [key for key in v if key != "unavailable"]] for k, v in profile["scaling"].items()}
    for name in ("lap", "rwse"):
        profile["encoding_costs"][name] = [len(profile["encoding_costs"][name]["runtime_stats"]), [key for key in profile["encoding_costs"][name] if key != "unavailable"]]
    rows = [(r["axis"], r["parameter"], r["size"], r["what"], r["storage_mb"]) for r in csv.DictReader(open(root + "/scaling.csv"))]
    titles = [line for line in open(root + "/report.txt") if line[0].isupper() and not line.startswith(("Growth", "Cannot"))]
    return profile, rows, titles, layout(root), sorted(os.path.relpath(os.path.join(at, name), root) for at, _, names in os.walk(root) for name in names)
one = content(sys.argv[1] + "/one")
for name in ("two", "three"):
    other = content(sys.argv[1] + "/" + name)
    for what, a, b in zip(("profile.json", "scaling.csv", "report.txt", "record.json", "files"), one, other):
        if a != b:
            sys.exit("%s: another %s:\n%s\n%s" % (name, what, a, b))
print("%d sizes, %d files, the same each time" % (len(one[1]), len(one[4])))
END
