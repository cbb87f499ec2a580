# The reduced-order-model study: report, files and keys, resuming, the same numbers again, bad input.
"$ASSAY" study rom --quick --out a --experiment first 2>&1 | mask |
    sed -E "s/^(MVAR forecasts|LSTM forecasts|Both forecast|Which is faster) .*/the verdict/"
(cd a/first && find . -type f | sort)
python3 - <<'PYTHON'
import json
profile = json.load(open("a/first/LSTM/runtime_profile.json"))
for key, value in profile.items():
    print(key, list(value) if isinstance(value, dict) else value)
mvar = json.load(open("a/first/MVAR/runtime_profile.json"))["complexity"]
print(mvar["total_parameters"], mvar["parameters_per_lag"], mvar["inference_flops_per_step"])
comparison = json.load(open("a/first/runtime_comparison.json"))
for key, value in comparison.items():
    print(key, list(value))
summary = json.load(open("a/first/summary.json"))
print(list(summary), list(summary["runtime_analysis"]), list(summary["significance"]))
assert summary["runtime_analysis"]["profiles"][1] == profile
assert summary["runtime_analysis"]["comparison"] == comparison
PYTHON
# Finished: nothing is trained again, the report is the same.
"$ASSAY" study rom --quick --out a --experiment first >again.txt
"$ASSAY" study rom --quick --out a --experiment first | cmp - again.txt && echo 'same report'
# The same seed gives the same models, byte for byte; another seed others.
"$ASSAY" study rom --quick --budget 200ms --out b --experiment first >/dev/null
cmp a/first/.study/LSTM.safetensors b/first/.study/LSTM.safetensors && echo 'same LSTM'
cmp a/first/.study/MVAR.safetensors b/first/.study/MVAR.safetensors && echo 'same MVAR'
python3 - <<'PYTHON'
import json
def timeless(name):
    summary = json.load(open(name))
    return json.dumps([summary["data"], summary["reduction"], summary["forecast"]])
assert timeless("a/first/summary.json") == timeless("b/first/summary.json")
print("same numbers")
PYTHON
"$ASSAY" study rom --quick --epochs 1 --budget 200ms --seed 1 --out c >/dev/null
cmp -s a/first/.study/MVAR.safetensors c/rom/.study/MVAR.safetensors || echo 'another MVAR'
# A folder that belongs to something else; data that cannot be used.
show study rom --quick --out a --experiment first --seed 7
show study rom --experiment ../x
show study rom --data missing.npy --out d
echo 'no array' >bad.npy
show study rom --data bad.npy --out d
ls d 2>&1
# Folders that cannot be made: every study refuses them as other commands refuse their outputs.
for study in rom fields pde graph routes; do show study $study --quick --out /proc/none/here; done
show study rom --quick --out bad.npy/here
ls assay-* 2>&1
show study rom extra
show study rum
