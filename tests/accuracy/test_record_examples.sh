#!/bin/bash
# The examples of docs/record.md are records: the first is complete, and each further one adds keys to it.
# All conform to the schema, and the command can read them.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
/usr/bin/python3 - "$ASSAY_SOURCE/docs/record.md" <<'PYTHON' || exit 1
import json, re, sys
blocks = re.findall(r"```json\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)
whole = json.loads(blocks[0])
for number, block in enumerate(blocks):
    json.dump({**whole, **json.loads(block)}, open(f"example{number}.json", "w"))
kinds = {json.load(open(f"example{n}.json"))["kind"] for n in range(len(blocks))}
missing = {"monitor", "run", "journal", "bench", "compare", "profile", "study"} - kinds
sys.exit(f"no example of {missing}" if missing else 0)
PYTHON
for file in example*.json; do
    "$ASSAY_BUILD/assay" report "$file" --json again.json >/dev/null || exit 1
    /usr/bin/python3 - "$file" again.json <<'PYTHON' || exit 1
import json, sys
old, new = (json.load(open(path)) for path in sys.argv[1:])
lost = [key for key in old if key != "created" and key not in new]
sys.exit(f"{sys.argv[1]}: {lost} lost" if lost else 0)
PYTHON
done
/usr/bin/python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" example*.json
