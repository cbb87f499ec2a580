table() { # awk expression of n and the noise e: nine sizes, three values each
    echo "n,seconds"
    awk "BEGIN {
        split(\"0.6 -1.1 0.4 -0.2 1.3 -0.9 0.1 0.8 -0.5\", noise, \" \")
        for (i = 0; i < 27; i++) {
            n = 2 ^ (5 + int(i / 3)); e = 1 + 0.02 * noise[1 + (i * 5 + int(i / 9)) % 9]
            printf \"%d,%.5g\n\", n, $1
        }
    }"
}
table "1e-8 * n * log(n) * e" >nlogn.csv
show fit nlogn.csv
table "(2e-6 + 3e-9 * n ^ 1.5) * e" | show fit - --json - | head -n 12 | mask
table "5e-3 * e" >constant.csv
show fit constant.csv | head -n 4
table "(1e-3 + 1e-9 * n) * e" | show fit - | head -n 6
{ table "1e-8 * n * (1 + 20 * (e - 1))"; echo 32,1; } | show fit - | sed -n '/^data/,/^$/p'
awk 'BEGIN { for (i = 0; i < 30000; i++) print 10 * 2 ^ (i % 6) "," 2 ^ (i % 6) * (1 + i % 7 / 100) }' | show fit - | sed -n '/^data/,/^$/p'
printf 'run;size;time_ms\nann;10;1,5\nbob;20;2,5\nann;30;3,7\n' >other.csv
show fit other.csv
show fit other.csv -n size --seconds-column time_ms | head -n 6
printf 'n,seconds\n10,1\n10,1.1\n' >few.csv
show fit few.csv --json -
# 1,600 is 1600 or 1.6; sizes with other decimals tell, and so does a decimal point beside decimal points
printf 'n;seconds\n800;0,08\n1,600;0,16\n3,200;0,32\n' | show fit -
printf 'n;seconds\n800;0,08\n1.600;0,16\n3.200;0,32\n' | show fit -
printf 'n;seconds\n0,5;0,08\n1,600;0,16\n3,200;0,32\n' | show fit - | head -n 2
printf 'n;seconds\n800;0.08\n1.600;0.16\n3.200;0.32\n' | show fit - | head -n 2
awk 'BEGIN { for (i = 1; i <= 3; i++) print 10 ^ i "," 4e8 * 10 ^ i }' | show fit - | grep predicted
printf 'n,seconds\n10,1\n20,oops\n' >bad.csv
show fit bad.csv
printf '10,1\n\n20,-2\n' | show fit -
printf '' | show fit -
show fit no-such.csv
show fit
show fit nlogn.csv few.csv
show fit nlogn.csv --json no/such/folder/fit.json
show fit nlogn.csv --json fit.json
grep -c '"class": "n log n"' fit.json
show fit --no-such nlogn.csv

echo "— the record of a sweep"
sweep() { # file, words of the first command, parameters beside n: two commands, one linear and one quadratic
    python3 - "$@" <<'PYTHON'
import json, sys
noise = [0.6, -1.1, 0.4, -0.2, 1.3, -0.9, 0.1, 0.8, -0.5]
results = []
for i, n in enumerate(2 ** k for k in range(5, 14)):
    for name, power in (sys.argv[2], 1), ("slow 8192 {n}", 2):
        times = [1e-6 * n ** power * (1 + 0.02 * noise[(5 * i + 2 * k + power) % 9]) for k in range(3)]
        results.append({"command": name.replace("{n}", str(n)), "times": times, "parameters": {"n": str(n), **json.loads(sys.argv[3])}})
json.dump({"results": results}, open(sys.argv[1], "w"))
PYTHON
}
sweep two.json 'fast {n} --of={n}' '{}'
show fit two.json | grep -E '^(of|class|exponent|data|exit)'
"$ASSAY" fit two.json >two.txt
cat two.json | "$ASSAY" fit - | cmp - two.txt && echo "same through a pipe"
{ printf ' \n'; cat two.json; } | "$ASSAY" fit - | cmp - two.txt && echo "same behind blanks"
# a file that begins with megabytes of blanks takes no system call for each
{ head -c 60000000 /dev/zero | tr '\0' ' '; cat two.json; } >blanks.json
timeout 10 "$ASSAY" fit blanks.json | cmp - two.txt && echo "same behind many blanks"
"$ASSAY" fit - <two.json | cmp - two.txt && echo "same from standard input"
{ printf '\357\273\277'; cat two.json; } | "$ASSAY" fit - | cmp - two.txt && echo "same behind a byte order mark"
"$ASSAY" fit <(cat two.json) | cmp - two.txt && echo "same from a named pipe"
"$ASSAY" fit <(cat nlogn.csv) | cmp - <("$ASSAY" fit nlogn.csv) && echo "so is a table"
head -c 100 two.json | show fit -
yes '{' | show fit - --max-input 1M
(ulimit -f 8; yes '{' | head -c 100000 | show fit - 2>&1)
show fit two.json --json fits.json
python3 -c '
import json
for fit in json.load(open("fits.json"))["fits"]:
    print(fit["name"], fit["class"], round(fit["low"], 2) <= int(fit["class"][2:] or 1) <= round(fit["high"], 2), fit["conclusive"])'
sweep label.json 'sort (n={n})' '{"kind": "random"}'
show fit label.json -n parameter_n | grep -E '^(of|class|exit)'
show fit label.json -n kind
show fit label.json -n size
show fit label.json -s cpu_seconds
python3 - <<'PYTHON'
import json
subjects = []
for n in (1000 * 2 ** k for k in range(5)):
    times, peaks = [1, 1.01, 0.99, 1.02], [8e6 + 800 * n + e for e in (0, 1000, -2000, 1500)]
    subjects.append({"name": f"hold {n}", "parameters": {"n": str(n)}, "samples_seconds": times, "mean_seconds": 1.005, "iterations": 1,
                     "warmup_samples": 0, "rejected_samples": 0, "disturbed_samples": 0, "failed_runs": 0, "source": "assay",
                     "measures": [{"metric": "peak_rss_bytes", "samples": peaks},
                                  {"metric": "energy_joules", "samples": [peak / 1e6 for peak in peaks]}]})
json.dump({"schema": "assay-record", "version": 2, "kind": "bench", "subjects": subjects}, open("memory.json", "w"))
PYTHON
show fit memory.json -s peak_rss_bytes
show fit memory.json -s energy_joules | grep -E '^energy|predicted'
python3 - <<'PYTHON'
import json
results = json.load(open("two.json"))["results"]
json.dump({"results": results[::2]}, open("one.json", "w"))
json.dump({"results": results[0:6:2][:2]}, open("short.json", "w"))
json.dump({"results": results[:1]}, open("single.json", "w"))
for r in results:
    r["parameters"]["m"] = r["parameters"]["n"] + "0"
json.dump({"results": results}, open("both.json", "w"))
for r in results:
    r["parameters"]["n"] = "x" + r["parameters"].pop("m")
json.dump({"results": results}, open("words.json", "w"))
PYTHON
show fit one.json --json - | grep -E '"(name|class)"|^exit' | head -n 2
show fit short.json | tail -n 2
show fit single.json
show fit both.json
show fit words.json
echo '{}' >empty.json
show fit empty.json
"$ASSAY" bench --runs 3 --json bench.json --param n=1..5 --label some --label more -- true {n} -- true {n} 1 |
    sed -n '/^growth/,$p' | sed -E 's/: [1ln].*/: CLASS/; s/: power.*/: CLASS/'
show fit bench.json | grep -E '^of'
"$ASSAY" bench --runs 3 --param n=1..5 -- sh -c 'exit 0' "$(printf 'a word and %.0s' 1 2 3 4 5 6 7)" {n} |
    sed -n '/^growth/,$p' | awk 'length > 80 { print "too long: " $0 } NR == 2'
"$ASSAY" bench --runs 3 --param n=1..4 -- true {n} | sed -n '/^growth/p' | wc -l
