# Too few trials of a forecast are warned about, in the text and in the profile; by default there are enough.
show profile --model mvar --num-runs 9 --profile runtime --runtime-profile few.json | grep '^warning'
"$ASSAY" profile --model mvar --profile runtime --runtime-profile enough.json | grep -c '^warning'
python3 - <<'END'
import json
for name in ("few", "enough"):
    inference = json.load(open(name + ".json"))["inference"]
    print(name, inference["single_step"]["samples"], "warning" in inference["single_step"])
END
