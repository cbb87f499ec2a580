# The shape of the record: every key, and the type of every figure.
"$ASSAY" run -q --name shape --json - -- sh -c 'exit 3' >record.json
echo "exit $?"
python3 - <<'PYTHON'
import json
record = json.load(open("record.json"))
def shape(value, indent):
    for key, item in value.items():
        kind = type(item).__name__.replace("int", "number").replace("float", "number")
        if isinstance(item, dict) and key not in ("machine", "git", "unavailable"):
            print(f"{indent}{key}:")
            shape(item, indent + "  ")
        else:
            print(f"{indent}{key}: {kind}")
shape(record, "")
assert record["kind"] == "run" and record["name"] == "shape"
assert record["process"]["exit_status"] == 3 and record["process"]["command"] == ["sh", "-c", "exit 3"]
assert record["tree_peak_rss_bytes"] >= record["peak_rss_bytes"] > 0
assert record["wall_seconds"] > 0
PYTHON
show run -q --json killed.json -- sh -c 'kill -9 $$'
python3 -c 'import json; p = json.load(open("killed.json"))["process"]; print(p["exit_status"], p["signal"])'
echo "== the only journal could not be made"
"$ASSAY" run -q --json lost.json -- sh -c 'ln -s "/dev/null/No space left" "$ASSAY_JOURNAL_DIR/p.1.1.assay"' 2>&1 | sed 's|/[^ ]*/||'
python3 -c 'import json; print(json.load(open("lost.json"))["integrity"]["unreadable_journals"])'
