# Times, verdicts that depend on them and the order of speed-ups are masked; titles, names, columns and keys stay.
shape() {
    sed -E -e 's/[0-9]+\.[0-9]+(e[-+][0-9]+)?|[0-9]+(e[-+][0-9]+)/#/g' -e 's/-#/#/g' -e 's/#x (faster|slower|as fast)/#x faster/' \
        -e 's/(Verdict:|  Median time:|  Mean time:).*/\1 #/' -e 's/^  (Steady (after|from)|Not settled).*/  steady state #/' -e '/^  warm-up cost /d' \
        -e 's/(, |of |in )[0-9]+( rounds)/\1#\2/' -e 's/ +([0-9]+ epochs|never)$/ #/' -e 's/  Converged: .* of 9 trainings.*/  Converged: # of 9 trainings/' \
        -e 's/  Median epochs:.*/  Median epochs: #/' -e 's/[( ]+#%/ (#%/' -e 's/  +/ /g'
}
show study fields --quick --epochs 10 --out out --baseline kan --json summary.json >report.txt
sed '/^SPEEDUP/,/^MLP - Conv/d' report.txt | shape
sed -n '/^SPEEDUP/,/^MLP - Conv/p' report.txt | shape | sort -u
cmp out/results.json summary.json
(cd out && find . -type f | LC_ALL=C sort)
sed 's/,[0-9.]*$/,#/' out/fields_timing.csv
head -n 1 out/accuracy.csv
python3 - <<'END'
import json
timing = json.load(open("out/fields_timing.json"))
print(sorted(timing), {name: sorted(entry) for name, entry in timing["timings"].items()})
results = json.load(open("out/results.json"))
print(sorted(results), len(results["functions"]), len(results["trainings"]))
print(sorted(results["trainings"][0]), len(results["trainings"][0]["losses"]))
print(sorted(results["timing"]), sorted(results["timing"]["models"]["MLP"]), sorted(results["timing"]["models"]["MLP"]["speedup"]))
END
show study fields --quick --baseline transformer --out other
show study fields franke
show study fields --epochs 0
show study fields --quick --out out --seed 7
