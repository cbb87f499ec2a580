#!/bin/bash
# Records of version 1, written by the last assay that wrote them, are read without loss. When they are
# written again as version 2, every figure is the same, numbers of the machine are numbers, and the records
# can be shown and compared as before.
set -u
assay=$ASSAY_BUILD/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
old=$ASSAY_SOURCE/tests/records/version1
for file in "$old"/*.json; do
    kind=$(basename "$file" .json)
    "$assay" report "$file" --json "$kind.json" >/dev/null || { echo "$kind is not read"; exit 1; }
    "$assay" report "$file" >shown.txt && [ -s shown.txt ] || { echo "$kind is not shown"; exit 1; }
done
/usr/bin/python3 - "$old" <<'PYTHON' || exit 1
import json, pathlib, sys
NUMBERS = {"cores", "usable_cores", "memory_bytes", "numa_nodes", "cpu_mhz"}
problems = []

def same(path, old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            place = f"{path}.{key}"
            if path.endswith(".machine") and key in NUMBERS and value is not None:
                if new.get(key) != float(value):
                    problems.append(f"{place}: {value!r} became {new.get(key)!r}")
            elif key not in new:
                problems.append(f"{place}: lost")
            else:
                same(place, value, new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            same(f"{path}[{i}]", a, b)
    elif old != new:
        problems.append(f"{path}: {old!r} became {new!r}")

files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
for file in files:
    old, new = json.loads(file.read_text()), json.loads(pathlib.Path(file.name).read_text())
    assert (old.pop("version"), new["version"]) == (1, 2)
    if not old["operations"] and not old["metrics"]:
        assert old.pop("total_seconds") == 0 and "total_seconds" not in new
    same(file.name, old, new)
print("\n".join(problems) or f"{len(files)} records of version 1 read without a loss")
sys.exit(bool(problems) or len(files) < 7)
PYTHON
conforms() { /usr/bin/python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" "$@"; }
conforms ./*.json || [ $? = 77 ] || exit 1
for kind in bench profile routes_comparison run; do
    "$assay" compare "$old/$kind.json" "$kind.json" >shown.txt ||
        { echo "$kind of version 1 and 2 do not compare"; exit 1; }
    ! grep -Eq ' (faster|slower)$' shown.txt || { echo "$kind differs from itself"; cat shown.txt; exit 1; }
done
