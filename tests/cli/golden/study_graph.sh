# Operations are counted and stay; times, and what is said about them, are masked.
export XDG_CACHE_HOME=$PWD/cache # no peak of this machine
figures() {
    sed -E -e '/^(\$|exit|=|---)/b' -e '/^FLOPS/,/^pytorch/b' -e '/\|/d' -e '/^ +[+n]/d' -e '/^Cannot tell: /,/^[^C ]/{/^(Cannot tell: | {13})/d}' -e 's/^Growth: .*/Growth/' -e 's/^(lap|rwse)( +grows as) .*/\1\2 CLASS/' \
        -e 's/^(nodes|layers|hidden|batch)( +)([a-z]+-[a-z]+) .*/\1\2\3 CLASS/' -e "s/(\B-)?$FIGURE\b/#/g" \
        -e 's/([^ ])  +/\1 /g' -e '/^(RUNTIME|MEMORY|ROOFLINE)/b' -e 's/  +/ /g'
}
shape="--num-nodes 60 --num-edges 240 --hidden-dim 32 --num_layers 2 --num-heads 4 --ffn-dim 64 --num-runs 5 --budget 100ms"
show study graph --quick $shape --out here --json profile.json | figures
find here -type f | sort
python3 - <<'END'
import csv, json
profile = json.load(open("profile.json"))
print(open("profile.json").read() == open("here/profile.json").read())
print(", ".join(profile))
for name, axis in profile["scaling"].items():
    print(name, axis.get("parameter"), len(axis.get("parameter_values", [])), ", ".join(k for k in axis if k != "unavailable"))
costs = profile["encoding_costs"]
print(", ".join(costs), costs["num_nodes"], ", ".join(k for k in costs["lap"] if k != "unavailable"))
rows = list(csv.DictReader(open("here/scaling.csv")))
print(", ".join(rows[0]))
print(sum(len(a["parameter_values"]) for a in profile["scaling"].values() if "parameter_values" in a)
      == sum(r["axis"] != "encodings" for r in rows))
print([(r["parameter"], r["size"], r["what"]) for r in rows if r["axis"] == "encodings"])
print(all(float(r["mean_ms"]) > 0 for r in rows if r["what"] == "forward"))
record = json.load(open("here/record.json"))
print(record["kind"], record["study"], record["settings"]["quick"], [m["name"] for m in record["models"]], all(s["samples_seconds"] for s in record["subjects"]))
print([s["name"] for s in record["subjects"] if "/" not in s["name"]], len(record["subjects"]))
print([(s["name"], s["of"], s["parameter"]) for s in record["scalings"]])
print(profile["timestamp"] == record["created"])
text = open("here/report.txt").read()
print(text.count("SCALING"), "GROWTH" in text)
END
show study graph --quick $shape --out here >again
grep -c SCALING again
show study graph --quick $shape --seed 43 --out here
show study graph --num-heads 3 --out new
show study graph --num-runs 1
show study graph --num-node 4
ls
