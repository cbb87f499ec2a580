# Every line has a level; the JSON says the same.
"$ASSAY" doctor >text.txt
echo "exit $?"
grep -E '^.{80,}' text.txt || echo 'fits 80 columns'
"$ASSAY" doctor --json - >doctor.json
python3 - <<'PYTHON'
import json, re
doctor = json.load(open("doctor.json"))
print(doctor["kind"])
text = open("text.txt").read()
for check in doctor["checks"]:
    assert check["level"] in ("ok", "limited", "no"), check
    assert check["finding"]
    print(check["group"], check["key"])
levels = re.findall(r"^(ok|limited|no) ", text, re.M)
assert len(levels) == len(doctor["checks"]), (levels, text)
PYTHON
show doctor --json no/such/folder/d.json
show doctor --json /dev/full
"$ASSAY" doctor >/dev/full
echo "exit $?"
# The peak is measured once and kept; a damaged file is said to be.
export XDG_CACHE_HOME=$PWD/cache
"$ASSAY" doctor --json - | grep -A3 '"peak"' | grep level
"$ASSAY" doctor --measure >measured.txt
echo "exit $?"
grep -cE '^ok +peak +[0-9.]+ GFLOP/s' measured.txt
"$ASSAY" doctor --json - | grep -A3 '"peak"' | grep level
echo '{"gflops": -1}' >cache/assay/peak.json
"$ASSAY" doctor --json - | grep -A3 '"peak"' | grep finding
sed 's/"processor": "[^"]*"/"processor": "another"/' >cache/assay/peak.json <<'JSON'
{"gflops": 1.0, "gigabytes_per_second": 1.0, "processor": "x", "measured_at": "now"}
JSON
"$ASSAY" doctor --json - | grep -A3 '"peak"' | grep level

echo "== what the driver says of GPUs"
for said in boards=1 boards=1,mig=1 boards=1,energy=4 boards=1,memory=3,power=999 boards=1,lost=0 lost=0 lost=1 count=15 boards=0 init=9 init=4; do
    LD_LIBRARY_PATH=$SUBJECTS/../fake FAKE_NVML=$said ASSAY_POWERCAP=$PWD/none "$ASSAY" doctor --json gpu.json >/dev/null
    python3 - $said <<'PYTHON'
import json, os, sys
print(sys.argv[1])
for check in json.load(open("gpu.json"))["checks"]:
    if check["key"] in ("gpu", "energy"):
        print("   ", check["level"], check["key"], check["finding"].replace(os.getcwd(), "."))
PYTHON
done
