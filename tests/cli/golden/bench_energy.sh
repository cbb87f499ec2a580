# Energy of commands, from the fake GPU of 300 W, which is throttled all the time; without a counter the commands run all the same.
export ASSAY_POWERCAP=$PWD/none FAKE_NVML=watts=300,boards=1,reasons=4
fakes=$(dirname "$ASSAY")/tests/fake
LD_LIBRARY_PATH=$fakes "$ASSAY" bench --runs 6 --metric energy --json energy.json -- sleep 0.2 -- sleep 0.4 >text.txt
echo "exit $?"
grep -cE '^  energy +[0-9.]+ J \([0-9.]+ to [0-9.]+\) of the GPUs, not the processor$' text.txt
grep -cE '^  throttled +6: a GPU ran slower \(power limit\)$' text.txt
grep -c 'candidate.s energy over the baseline' text.txt
python3 - <<'PYTHON'
import json
record = json.load(open("energy.json"))
first = record["comparisons"][0]
wall = [it for it in record["comparisons"] if it["metric"] == "wall_seconds"][0]
print(first["metric"], 0.8 < first["ratio"] / wall["ratio"] < 1.2)
for subject in record["subjects"]:
    joules = 300 * subject["mean_seconds"]
    assert subject["energy_joules_low"] <= joules <= subject["energy_joules_high"], subject
    print(subject["throttled_samples"], subject["throttle"], 0.7 < subject["energy_joules"] / joules < 1.3)
PYTHON
echo "— too short for the counter"
FAKE_NVML=$FAKE_NVML,tick=1000 LD_LIBRARY_PATH=$fakes "$ASSAY" bench --runs 3 --metric energy --json short.json -- true -- /bin/true >text.txt 2>errors.txt
echo "exit $?"
cat errors.txt
python3 - <<'PYTHON'
import json
record = json.load(open("short.json"))
print(record["comparisons"][0]["metric"], record["comparisons"][0]["reason"].split(":")[0])
for subject in record["subjects"]:
    print(subject["energy_joules"], subject["unavailable"]["energy_joules"], subject["energy_joules_high"] > 0)
PYTHON
echo "— without a counter"
unset LD_LIBRARY_PATH
"$ASSAY" bench --runs 3 --energy --json none.json -- true 2>errors.txt | grep energy
sed "s|$PWD|.|" errors.txt
python3 -c '
import json
subject = json.load(open("none.json"))["subjects"][0]
print(subject["energy_joules"], subject["unavailable"]["energy_joules"])'
"$ASSAY" bench -q --runs 3 --json plain.json -- true
grep -c energy plain.json || true
