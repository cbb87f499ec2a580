# What depends on the machine's mood goes: rounds left out, and with them the figures and verdicts.
steady() { grep -vE '^  (left out|disturbed|slow runs|in doubt) '; }
show bench --runs 5 --name nightly -- true | steady | mask
show bench --runs 5 -- sh -c 'exit 0' | steady | mask
show bench --runs 3 --ignore-failure --label failing -- false | steady | mask
show bench --runs 3 --quiet -- true

echo "— what stands in the record"
names() {
    python3 -c '
import json, sys
record = json.load(open(sys.argv[1]))
print(record["kind"], record.get("name"))
for s in record["subjects"]:
    whole = len(s["samples_seconds"]) + s["rejected_samples"] + s["warmup_samples"]
    print(s["name"], s["command"], s.get("parameters"), whole, s["stopped"])' "$1"
}
"$ASSAY" bench -q --runs 4 --json two.json --name twice -- true -- true && names two.json
"$ASSAY" bench -q --runs 2 --json sweep.json --param size=1,2 --param 'how=a b,c' -- test {size} != '{how}-' && names sweep.json
"$ASSAY" bench -q --runs 2 --json - --command 'printf "%s\n" -- '"'{n} b'"' c\ d' --param n=7 >words.json && names words.json
"$ASSAY" bench -q --runs 2 --json shell.json --shell --label both --param n=1 -- 'true | test' '{n}' && names shell.json
"$ASSAY" bench -q --runs 2 --json shell.json --shell --param n=1 --param m=2 --label both -- 'test {n} != {m}' && names shell.json
"$ASSAY" bench -q --runs 2 --json shell.json --shell -- 'true | true' && names shell.json
"$ASSAY" bench -q --runs 2 --warmup 3 --json warm.json -- true && names warm.json
python3 -c 'import json; print(json.load(open("warm.json"))["subjects"][0]["warmup_samples"])'

echo "— ranges of values"
for range in 1..4 4..1 1..10..3 -1..1 0..1..0.25 0.1..1..0.1 1..2.5 5..5 1..64*2 64..1*4 1..1e6*10 1..9*1.5 0.010..1*10 \
    1..2,7,9..8 1.0..1.1-rc1 ..1 1.. a..b 1...3; do
    "$ASSAY" bench -q --runs 1 --json ranges.json --param "n=$range" -- true {n}
    python3 -c '
import json, sys
print(sys.argv[1] + ":", *(s["parameters"]["n"] for s in json.load(open("ranges.json"))["subjects"]))' "$range"
done

echo "— runs that are made though the budget is spent: three, or as many as asked for"
"$ASSAY" bench -q --budget 1us --json spent.json -- sleep 0.01 && names spent.json
"$ASSAY" bench -q --budget 1us --min-runs 7 --json spent.json -- sleep 0.01 && names spent.json

echo "— no sleep is shorter than asked for, no run longer than all of them"
python3 - <<'PYTHON'
import json, os, subprocess, time
before = time.monotonic()
subprocess.run([os.environ["ASSAY"], "bench", "-q", "--runs", "2", "--json", "slept.json", "--", "sleep", "0.2"])
whole = time.monotonic() - before
seconds = json.load(open("slept.json"))["subjects"][0]["samples_seconds"]
print(all(0.2 <= s for s in seconds), sum(seconds) <= whole)
PYTHON


echo "— failures that are ignored"
"$ASSAY" bench -q --runs 12 --ignore-failure --json ignored.json -- sh -c 'sleep 0.01; exit 1' -- sh -c 'sleep 0.1' 2>/dev/null
python3 -c '
import json
record = json.load(open("ignored.json"))
for s in record["subjects"]:
    print(s["failed_runs"], s.get("failures_timed"))
c = record["comparisons"][0]
print(c["verdict"] in ("slower", "inconclusive"), c["reason"].split("; ")[-1])'
"$ASSAY" report ignored.json | grep '^  failed'
"$ASSAY" report --format hyperfine ignored.json | grep -c exit_codes

echo "— around the command"
echo input >in.txt
"$ASSAY" bench -q --runs 3 --input in.txt --output out.txt -- tr i o && cat out.txt
"$ASSAY" bench -q --runs 2 --output inherit -- echo heard
"$ASSAY" bench -q --runs 3 --prepare 'sh -c "echo {x} >>prepared"' --cleanup 'touch cleaned-{x}' --param x=1,2 -- true
sort prepared | uniq -c | tr -s ' '; ls cleaned-*

echo "— verdicts"
show bench --runs 30 --margin 3% --json verdict.json -- true -- sleep 0.02 | grep -E '^(baseline|true|sleep|interval)' |
    sed -E 's/^(true +sleep [^ ]+) .*(slower|inconclusive)$/\1 FIGURES/' | mask
python3 -c '
import json
comparisons = json.load(open("verdict.json"))["comparisons"]
print([c["metric"] for c in comparisons])
for c in comparisons[:1]:
    print(c["baseline"], c["candidate"], c["verdict"] in ("slower", "inconclusive"), c["low"] is None or c["low"] < c["ratio"] < c["high"])
    print(c["reason"] is None or c["verdict"] == "inconclusive")'
"$ASSAY" report verdict.json | grep -c '^  mean '

echo "— three commands in their order, as the last lines"
"$ASSAY" bench --runs 12 -- sleep 0.05 -- true -- sleep 0.1 | tail -n 4 | cut -c 1-26 | sed -E 's/^  [1-3]/  #/'
