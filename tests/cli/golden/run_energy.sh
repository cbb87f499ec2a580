# Energy, from a powercap tree of our own: 3 J while the command runs. Without a counter the command runs all the same.
unset LD_LIBRARY_PATH
mkdir -p tree/intel-rapl:0
echo package-0 >tree/intel-rapl:0/name
echo 262143328850 >tree/intel-rapl:0/max_energy_range_uj
echo 1000000 >tree/intel-rapl:0/energy_uj
cat >spend.sh <<'SPEND'
sleep 0.3
echo 4000000 >tree/intel-rapl:0/energy_uj
sleep 0.3
SPEND
ASSAY_POWERCAP=$PWD/tree "$ASSAY" run --energy --json energy.json -- sh spend.sh 2>text.txt
echo "exit $?"
grep -c '^energy .* J (.* to .*) of the processor$' text.txt
python3 - <<'PYTHON'
import json
record = json.load(open("energy.json"))
assert record["energy_joules_low"] <= 3 <= record["energy_joules_high"], record
print(round(record["energy_joules"], 3), record["machine"]["energy_of"])
PYTHON
ASSAY_POWERCAP=$PWD/none "$ASSAY" run --energy --json none.json -- true 2>text.txt
echo "exit $?"
grep -c 'no counter of energy (RAPL)' text.txt
python3 - <<'PYTHON'
import json
record = json.load(open("none.json"))
print(record["energy_joules"], record["unavailable"]["energy_joules"])
PYTHON
"$ASSAY" run --json plain.json -- true 2>/dev/null
grep -c energy plain.json || true
