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
show study routes --models vanila
show study routes --od-source tset
show study routes --search depth
show study routes --geo here/city.geo
show study routes --evaluate nowhere.csv
show study routes --roads 3
show study routes extra
