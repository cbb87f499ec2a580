# Names from a hostile place cannot drive the terminal or break the JSON.
"$ASSAY" run --output s.txt --json r.json --trace t.json --name "$(printf 'title\033]0;x\a')" -- "$SUBJECTS/subject_spans" names
echo "exit $?"
LC_ALL=C grep -c '[[:cntrl:]]' s.txt
# Nor can a name be written backwards, or hide something.
"$ASSAY" run --name "$(printf 'invoice\u202egpj.sh a\u200bb \u2066c \ufeffd')" -- true 2>&1 | head -n 1
"$ASSAY" report "$(printf 'x\u202ey')" 2>&1
cp r.json "$(printf 'x\u202ey\033[31m.json')"
"$ASSAY" report *y*.json r.json | grep '\.json:$'
rm *y*.json
python3 - <<'PYTHON'
import json
record = json.load(open("r.json"))
print(record["name"])
for name in sorted(o["name"] for o in record["operations"]):
    print(len(name) if len(name) > 100 else name)
json.load(open("t.json"))
PYTHON
grep -v ^command s.txt | grep -E '^.{80,}' || echo 'fits 80 columns'
