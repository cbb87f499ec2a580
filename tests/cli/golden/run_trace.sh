# A trace opens in viewers: nested per thread, named, with counters; open spans reach to the end.
"$ASSAY" run -q --trace t.json -- "$SUBJECTS/subject_spans" kill
echo "exit $?"
python3 - <<'PYTHON'
import json
from collections import Counter
trace = json.load(open("t.json"))
events = trace["traceEvents"]
print(sorted(Counter((e["ph"], e["name"]) for e in events if e["name"] != "resident bytes of the tree"
                     and not e["name"].endswith("sort_index")).items()))
print("memory track:", any(e["name"] == "resident bytes of the tree" and e["args"]["value"] > 0 for e in events))
lanes = {}
for e in events:
    if e["ph"] == "X":
        lanes.setdefault((e["pid"], e["tid"]), []).append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e))
print("lanes:", len(lanes))
ends = max(end for lane in lanes.values() for _, end, _ in lane)
for lane in lanes.values():
    stack = []
    for begin, end, e in lane:
        while stack and stack[-1] <= begin:
            stack.pop()
        assert not stack or end <= stack[-1], (e, stack)
        stack.append(end)
        assert begin >= 0
        if e.get("args", {}).get("open"):
            print("open:", e["name"], end == ends)
PYTHON
"$ASSAY" run -q --trace small.json --trace-events 4 -- "$SUBJECTS/subject_spans" done
python3 -c '
import json
from collections import Counter
trace = json.load(open("small.json"))
kept = Counter(e["tid"] for e in trace["traceEvents"] if e["ph"] in "XC" and "tid" in e)
print("kept at most 4:", max(kept.values()) <= 4, "dropped:", trace["otherData"]["dropped_events"] > 0)'
