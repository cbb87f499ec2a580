# A process that outlives its parent but not the command is counted; one that outlives the command is
# left alone, mentioned, and in the record.
"$ASSAY" run -q --json r.json -- sh -c '(sh -c "head -c 20000000 /dev/zero | tail -c 20000000 >/dev/null; touch done" &) ; while [ ! -e done ]; do sleep 0.02; done; sleep 0.1'
echo "exit $?"
python3 -c 'import json; r = json.load(open("r.json")); print(r["peak_rss_bytes"] > 15e6 and "its memory is counted")'
show run -q --json r.json -- sh -c 'sleep 60 & echo $! >pid; sleep 0.1'
python3 - <<'PYTHON'
import json
r = json.load(open("r.json"))
print("running:", r["process"]["running_processes"])
for p in r["processes"]:
    if p.get("running"):
        print(p["name"], p["process_id"] == int(open("pid").read()), p["end_seconds"], p["peak_rss_bytes"] > 0)
print("processes:", r["process"]["process_count"], len(r["processes"]))
PYTHON
kill -0 "$(cat pid)" && echo "still runs" && kill "$(cat pid)"
