# One model from all sides: the screen, the seed's JSON, seed A's profile, the record, all from one run.
export XDG_CACHE_HOME=$PWD/cache # no peak of this machine
figures() { sed -E -e '/^(\$|exit|=|-)/b' -e "s/(\B-)?$FIGURE\b/#/g" -e 's/  +/ /g'; }
small="--num-nodes 100 --num-edges 400 --hidden_dim 32 --num-layers 2 --num_heads 4 --ffn-dim 64"
runs="--num-runs 3 --warmup-runs 1"
show profile --model graph_transformer $small $runs --profile runtime memory flops \
    --json p.json --record r.json | figures
python3 - <<'P'
import json
profile, record = json.load(open("p.json")), json.load(open("r.json"))
for key, value in profile.items():
    print(key, list(value) if isinstance(value, dict) else "")
for key in ("forward", "backward", "training_step"):
    print(key, list(profile["runtime"][key]), profile["runtime"][key]["unit"], profile["runtime"][key]["num_runs"])
print("memory.breakdown", list(profile["memory"]["breakdown"]))
print("flops.breakdown", list(profile["flops"]["breakdown"]))
print("conventions", {name: list(it) for name, it in profile["flops"]["conventions"].items()})
info = profile["model_info"]
print("parameters", info["total_parameters"], "MB", info["parameter_memory_mb"] == info["total_parameters"] * 4 / 2**20)
parts = profile["memory"]["breakdown"]
print("the parts add up", parts["total"] == sum(v for k, v in parts.items() if k != "total"))
groups = sum(profile["flops"]["breakdown"].values())
print("so do the groups", abs(groups - profile["flops"]["total_gflops"]) < 1e-12)
print(record["kind"], [s["name"] for s in record["subjects"]])
for subject, key in zip(record["subjects"], ("forward", "gradient", "training_step")):
    print(key, subject["covers"] + ":", len(subject["samples_seconds"]), "samples in turns", subject["rounds"] == record["subjects"][0]["rounds"],
          "of", subject["model"], "parameters", subject.get("parameters"))
figures = {(f["name"], f.get("of")): f for f in record["figures"]}
means = {s["name"].split()[-1]: s["mean_seconds"] for s in record["subjects"]}
backward = figures["backward_seconds", "graph_transformer"]
print("backward,", backward["covers"], abs(means["gradient"] - means["forward"] - backward["value"]) < 1e-12)
print("views of the record", abs(profile["runtime"]["forward"]["mean"] - 1e3 * means["forward"]) < 1e-9,
      abs(profile["runtime"]["backward"]["mean"] - 1e3 * backward["value"]) < 1e-9,
      abs(profile["runtime"]["backward"]["low"] - 1e3 * figures["backward_low_seconds", "graph_transformer"]["value"]) < 1e-9)
print([profile["runtime"]["backward"][k] for k in ("std", "min", "max")], profile["runtime"]["backward"]["unavailable"])
model, = record["models"]
print(model["name"], model["settings"]["num-nodes"], model["parameters"], model["gradient_bytes"] / 2**20 == parts["gradients"])
print("FLOPs", sorted({f["convention"] for f in model["flops"]}), abs(sum(f["forward"] for f in model["flops"] if f["convention"] == "assay") * 1e-9
                                                                      - profile["flops"]["total_gflops"]) < 1e-12)
P
show profile --model mvar $runs --forecast-steps 10 --profile runtime --runtime-profile a.json --record a.record.json --json - >a.out
python3 - <<'P'
import json
text = open("a.out").read()
seen = json.loads(text[text.index("{"):text.rindex("}") + 1])
a = json.load(open("a.json"))
print(list(a), list(a["inference"]), list(a["complexity"]))
c = a["complexity"]
print(c["total_parameters"], c["parameters_per_lag"], c["inference_flops_per_step"])
record = json.load(open("a.record.json"))
print([(s["name"], len(s["samples_seconds"])) for s in record["subjects"]], record["settings"]["forecast_steps"])
print("one measurement", abs(a["inference"]["single_step"]["mean_seconds"] * 1e3
                             - seen["runtime"]["forecast"]["single_step"]["mean"]) < 1e-12)
P
echo
show profile --model mlp --hidden-dim 8 --batch-size 16 --scaling batch --sizes 500,1000,2000 --budget 0.3s --json s.json |
    sed -n '1,6p;/^SCALING/,/^---/p;/^By/p'
python3 - <<'P'
import json
scaling = json.load(open("s.json"))["scaling"]
print({axis: list(it) for axis, it in scaling.items()}, scaling["batch"]["parameter_values"])
P
show profile --model mlp --scaling batch,batch_size
# Two records can pass a gate, and the one that is slower on purpose is named.
"$ASSAY" profile --model mlp --num-runs 200 --profile runtime --scaling batch --sizes 500,1000,2000 --budget 0.3s --record g.json >/dev/null
python3 - <<'P'
import json
record = json.load(open("g.json"))
print([(s["name"], s["parameters"]) for s in record["subjects"] if s["parameters"]],
      [(s["name"], s["of"], s["parameter"]) for s in record["scalings"]])
for subject in record["subjects"]: # the means that were measured, in 40 samples without the noise of this machine
    subject["samples_seconds"] = [subject["mean_seconds"] * (1 + 1e-3 * (i * 7 % 5 - 2)) for i in range(40)]
    if "rounds" in subject:
        subject["rounds"] = list(range(40))
    for measure in subject.get("measures", []):
        measure["samples"] = [2e-5] * 40
json.dump(record, open("g.json", "w"))
for subject in record["subjects"]:
    if subject["name"] == "mlp gradient":
        subject["samples_seconds"] = [1.3 * s for s in subject["samples_seconds"]]
json.dump(record, open("slow.json", "w"))
P
for other in g slow; do
    "$ASSAY" compare g.json $other.json --gate --json compared.json >/dev/null
    echo "gate $?"
    python3 -c 'import json; print([(c["candidate"], c["verdict"]) for c in json.load(open("compared.json"))["comparisons"] if not c.get("beside")])'
done
show profile --model graph_transformer $small --scaling encodings --sizes 4 --budget 0.2s | figures | tail -n 16
echo
show profile --model graph_transformer $small $runs --dataset peptides_func --synthetic --batch-size 2 \
    --profile memory --json d.json | head -n 6
python3 -c 'import json; info = json.load(open("d.json"))["model_info"]; print(info["data"], info["settings"]["output-dim"], info["settings"]["readout"])'
mkdir -p data/peptides_func/raw && cd data/peptides_func/raw
printf '0,1\n1,0\n1,2\n2,1\n0,1\n1,0\n' >edge.csv
printf '1,2\n3,4\n5,6\n7,8\n9,10\n' >node-feat.csv
printf '3\n2\n' >num-node-list.csv
printf '4\n2\n' >num-edge-list.csv
printf '0,1,0\n1,0,1\n' >graph-label.csv
cd ../../..
for batch in 1 2; do
    show profile --model graph_transformer $small $runs --dataset peptides_func --batch-size $batch --profile memory --json d.json |
        sed -n '/^data/p;/^exit/p'
    python3 -c 'import json; s = json.load(open("d.json"))["model_info"]["settings"]; print(s["input-dim"], s["output-dim"], s["readout"])'
done

# With a peak of the machine, a plugin, and the same seed twice.
mkdir -p cache/assay
show doctor --measure >/dev/null
python3 - <<'P'
import json
peak = json.load(open("cache/assay/peak.json"))
peak.update(gflops=100.0, gigabytes_per_second=10.0, measured_at="2026-01-01T00:00:00Z")
json.dump(peak, open("cache/assay/peak.json", "w"))
P
show profile --model lstm --hidden-dim 32 $runs --profile runtime flops --json l.json | figures | sed -n '/^ROOFLINE/,$p'
python3 - <<'P'
import json
roof = json.load(open("l.json"))["roofline"]
print(list(roof["peak"]), list(roof["forward"]))
print(abs(roof["forward"]["share_of_peak"] - roof["forward"]["gflops_per_second"] / roof["peak"]["gflops_per_second"]) < 1e-12)
P
source=$(cd "$(dirname "$0")/../../.." && pwd)
if cc -O2 -shared -fPIC -I "$source/include" "$source/examples/plugin/linear.c" -o linear.so; then
    show profile --model ./linear.so --input-dim 64 --batch-size 500 $runs --json plugin.json | figures
fi
for run in 1 2; do
    "$ASSAY" profile --model graph_transformer $small $runs --seed 7 --json same.$run.json >/dev/null
done
python3 - <<'P'
import json
one, two = (json.load(open(f"same.{run}.json")) for run in (1, 2))
print("same seed, same", [key for key in ("hardware", "model_info", "flops") if one[key] == two[key]])
print("bytes", one["memory"]["breakdown"] == two["memory"]["breakdown"])
P

echo "== the GPU of the machine"
for said in boards=1 boards=1,memory=3 init=9; do
    LD_LIBRARY_PATH=$SUBJECTS/../fake FAKE_NVML=$said "$ASSAY" profile --model mlp --profile memory $runs --json gpu.json >/dev/null 2>&1
    python3 -c '
import json
hardware = json.load(open("gpu.json"))["hardware"]
print(hardware["cuda_available"], hardware["gpu_name"], hardware["gpu_memory_gb"])'
done
