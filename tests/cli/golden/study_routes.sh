# Figures are masked without touching blanks: the block keeps the seed's columns.
figures() {
    sed -E -e '/^(\$|exit)/b' -e 's/^(vanilla|distilled)( +)([0-9]+)(.*)$/\1 \3\4/' -e "s/$FIGURE(ms|us|s)?\b/#/g" \
        -e '/^(baseline|vanilla|distilled)/s/  +/ /g' -e '/generated/s/ \(.*//'
}
# The verdict, its figures and its reason are the machine's.
verdict() { sed -E -e 's/^(vanilla +distilled) .*/\1 VERDICT/' -e '/^ +/d' -e '/^processor time:/,/^$/d'; }
show study routes --quick --num-gene 20 --models vanilla,distilled --od-source test --search beam --beam-width 4 --seed 42 \
    --roads 100 --drives 300 --epochs 4 --compare-time 200ms --out here --json summary.json | figures | verdict
find here -type f | sort
python3 - <<'END'
import json
def keys(name):
    print(name, ", ".join(json.load(open("here/" + name))))
    return json.load(open("here/" + name))
results = keys("vanilla/results.json")
print(", ".join(sorted(results["generation_performance"])))
keys("distilled/generation.json")
keys("distilled/training.json")
print("summary.json", ", ".join(json.load(open("summary.json"))), open("summary.json").read() == open("here/summary.json").read())
print(sorted(json.load(open("summary.json"))["comparisons"][0]))
print(json.load(open("here/comparison.json"))["kind"])
END
head -n 1 here/vanilla/generated.csv
# The files of the made-up city are files like others; nothing but evaluating leaves performance out.
show study routes --evaluate here/vanilla/generated.csv --geo here/city.geo --rel here/city.rel --trajectories here/train.csv \
    --test-trajectories here/test.csv --json again.json | figures
python3 -c '
import json
again, before = json.load(open("again.json")), json.load(open("here/vanilla/results.json"))
print("generation_performance" in again, all(abs(again[k] - before[k]) < 1e-4 for k in ("Distance_JSD", "Duration_JSD", "Radius_JSD", "Hausdorff", "DTW")))'
show study routes --models distilled --search greedy --skip-performance --num-gene 5 --roads 100 --drives 300 --epochs 4 --out other | figures
grep -c generation_performance other/distilled/results.json
show study routes --num-gene 6 --models distilled --search greedy --skip-performance --roads 100 --drives 300 --epochs 4 --out other
"$ASSAY" study routes --evaluate here/vanilla/generated.csv --roads 100 --drives 300 --json - 2>/dev/null | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'
"$ASSAY" study routes --help | head -n 3
# Weights trained before: nothing is trained, and the same seed gives the same trajectories. More than two models are compared.
show study routes --dataset here --model-path here/vanilla/weights.safetensors --model-path small=here/distilled/weights.safetensors \
    --model-path twin=here/vanilla/weights.safetensors --num-gene 20 --seed 42 --compare-time 200ms --out given | figures | verdict |
    sed -E 's/^(vanilla +(small|twin)) .*/\1 VERDICT/'
find given -name '*.json' | grep -v /.study/ | sort
cmp here/vanilla/generated.csv given/vanilla/generated.csv && cmp here/distilled/generated.csv given/small/generated.csv && echo 'same trajectories'
python3 - <<'END'
import json
performance = json.load(open("given/small/performance.json"))
print(", ".join(performance), len(performance["searches"]))
print(", ".join(performance["slowest"]))
assert performance["slowest"]["total_time"] == max(s["total_time"] for s in performance["searches"]) == performance["performance"]["total_time_max"]
print({n: list(m) for n, m in json.load(open("given/summary.json"))["models"].items()})
record = json.load(open("given/record.json"))
print([(m["name"], m["settings"]["weights"], m["parameters"]) for m in record["models"]], record["settings"]["models"])
print([(c["baseline"], c["candidate"]) for c in record["comparisons"] if not c.get("beside")])
END
# Evaluated alone, with what generating cost beside it.
show study routes --evaluate given/small/generated.csv --dataset here --generation-performance given/small/performance.json --json with.json | figures
python3 -c '
import json
print(json.load(open("with.json"))["generation_performance"] == json.load(open("given/small/results.json"))["generation_performance"])'
show study routes --evaluate given/small/generated.csv --dataset here --generation-performance here/vanilla/training.json
show study routes --generation-performance given/small/performance.json
show study routes --dataset here --geo here/city.geo
show study routes --dataset given
show study routes --model-path here/vanilla/weights.safetensors --roads 120 --out none
show study routes --model-path here/city.geo --dataset here --out none
show study routes --model-path a/weights.safetensors --model-path b/../a/weights.safetensors
show study routes --models distilled --model-path here/vanilla/weights.safetensors
show study routes --model-path =x
ls none 2>&1
show study routes --models vanila
show study routes --od-source tset
show study routes --search depth
show study routes --geo here/city.geo
show study routes --evaluate nowhere.csv
show study routes --roads 3
show study routes extra
# The emulated device of the tests gives the same trajectories. Its threads have stacks of their own, at which the address
# sanitizer wonders in three lines.
device() { LD_LIBRARY_PATH=$SUBJECTS/../fake/compute show "$@" | grep -vE 'ASan is ignoring|^False positive error|^For details see'; }
device study routes --dataset here --model-path here/vanilla/weights.safetensors --num-gene 20 --seed 42 --device cuda:0 --out there | figures
cmp here/vanilla/generated.csv there/vanilla/generated.csv && echo 'same trajectories'
python3 - <<'END'
import json
print(json.load(open("there/summary.json"))["device"], json.load(open("there/record.json"))["settings"]["device"])
END
device study routes --dataset here --model-path here/vanilla/weights.safetensors --num-gene 20 --seed 42 --out there
FAKE_COMPUTE=devices=0 device study routes --device cuda:0 --out none
show study routes --device gpu --out none
