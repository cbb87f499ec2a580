# GPU activity from outside, on the CUPTI of tests/fake: every way in which it can end or be refused. Counts and volumes are
# exact; times are not, since the fake's device runs by the real clock.
export LD_LIBRARY_PATH=$SUBJECTS/../fake
facts() {
    python3 - "$1" <<'PYTHON'
import json, sys
record = json.load(open(sys.argv[1]))
gpu = record.get("gpu")
if gpu is None:
    print("no gpu part")
    sys.exit()
for kernel in gpu["kernels"]:
    print(kernel["name"], kernel["count"], round(kernel["total_seconds"] * 1e6, 3), "µs", round(kernel["share"], 3))
for copy in gpu["copies"]:
    print(copy["direction"], copy.get("memory"), copy["count"], int(copy["bytes"]), round(copy["seconds"] * 1e6, 3), "µs")
assert abs(gpu["span_seconds"] - gpu["kernel_seconds"] - gpu["idle_seconds"]) < 1e-9
assert abs(sum(i["seconds"] for i in gpu["idle"]) - gpu["idle_seconds"]) < 1e-9
assert gpu["kernel_seconds"] <= gpu["busy_seconds"] <= gpu["span_seconds"] <= record["wall_seconds"]
print("busy", round(gpu["busy_seconds"] * 1e6, 3), "µs; allocations", int(gpu["allocations"]), int(gpu["peak_bytes"]), int(gpu["live_bytes"]))
print("causes:", *sorted(i["cause"] for i in gpu["idle"] if i["cause"] in ("copies", "data loading", "synchronisation")))
print("dropped", gpu.get("dropped_records", 0), "untimed", gpu.get("untimed_records", 0))
print("unseen:", gpu["unseen"].replace(str(record["process"]["process_id"]), "N") if "unseen" in gpu else None)
print("device", [(d["id"], round(d["busy_seconds"] * 1e6, 3), int(d["peak_bytes"])) for d in record["devices"]])
PYTHON
}
try() { # fake's mode, then the subject's
    echo "== ${1:-plain} ${2:-}"
    FAKE_CUPTI=$1 "$ASSAY" run --gpu -q --json gpu.json -- "$SUBJECTS/subject_gpu" $2 2>&1 | sed -E 's/process [0-9]+/process N/'
    facts gpu.json
}
try ""
for mode in killed exits profiles forks; do try "" $mode; done
for mode in old taken forbidden unkernel slow untimed "failing 1" "failing 2" "failing 8" "failing 60"; do try "$mode"; done

for mode in "" ranges; do
    echo "== ranges ${mode:-that are not marked}"
    "$ASSAY" run --gpu-range -q --json gpu.json -- "$SUBJECTS/subject_gpu" $mode 2>&1 | sed -E 's/process [0-9]+/process N/'
    facts gpu.json
    "$ASSAY" report gpu.json | grep -c 'recorded in 2 ranges'
done
python3 -c 'import json; g = json.load(open("gpu.json"))["gpu"]
print("ranges", g["ranges"], "the 50 ms between them are idle time:", g["span_seconds"] > 0.05 or g["longest_gap_seconds"] > 0.05)'

echo "== no room for the file"
(ulimit -f 1000; try "")

echo "== what is printed, and the trace"
"$ASSAY" run --gpu --trace trace.json -- "$SUBJECTS/subject_gpu" 2>&1 | sed -n '/^GPU/,$p' | tee text.txt | mask | grep -v 'work of the host\|launch-bound'
awk 'length > 80 {print "too wide: " $0}' text.txt
python3 - <<'PYTHON'
import json
events = json.load(open("trace.json"))["traceEvents"]
lanes = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
for name in ("matmul(float*, int)", "relu", "host to device"):
    mine = [e for e in events if e["ph"] == "X" and e["name"] == name]
    print(name, len(mine), {e["cat"] for e in mine}, {lanes[e["tid"]] for e in mine})
print("memory", [e["args"]["value"] for e in events if e["ph"] == "C" and e["name"] == "cuda:0 allocated_bytes"])
PYTHON

echo "== read back, with its events; and advice"
"$ASSAY" run --gpu -q --trace trace.json --json events.json -- "$SUBJECTS/subject_gpu" 2>&1
"$ASSAY" report events.json | sed -n '/^GPU/,$p' | grep -c 'matmul\|host to device'
"$ASSAY" report --advice events.json | grep -A3 'waits for data' | mask
sed 's/"kernel", 0,/"kernel", 99,/' events.json | tr -d '\n' | sed 's/\["kernel",0,/["kernel",99,/' >broken.json
"$ASSAY" report broken.json 2>&1 | sed -E 's/events\[[0-9]+\]/events[N]/'

echo "== processes that see different boards"
cat >both.sh <<'BOTH'
for boards in "$@"; do CUDA_VISIBLE_DEVICES=$boards "$SUBJECTS/subject_gpu"; done
BOTH
export SUBJECTS
for boards in "0 1" "1 1,0" "1 1"; do
    "$ASSAY" run --gpu -q --trace trace.json --json gpu.json -- sh both.sh $boards
    python3 - <<'PYTHON'
import json
record = json.load(open("gpu.json"))
print([(d["id"], d["uuid"], int(d["peak_bytes"])) for d in sorted(record["devices"], key=lambda d: d["id"])])
print(sorted({lane["name"] for lane in record["lanes"] if "stream" in lane["name"]}))
PYTHON
done

echo "== without CUDA, without CUPTI, with another tool injected"
show run --gpu -q -- true
ASSAY_CUPTI=$PWD/none.so CUDA_INJECTION64_PATH=/opt/tool.so show run --gpu -q -- true
