# Spans of a program that links libassay, also when it is killed and when it forks.
for mode in done kill worker; do
    show run --json $mode.json -- "$SUBJECTS/subject_spans" $mode >$mode.txt
    echo "== $mode: $(tail -n 1 $mode.txt)"
    sed -n '/^operation/,$p' $mode.txt | mask | grep -v '^exit'
done
python3 - <<'PYTHON'
import json
for mode in ("done", "kill", "worker"):
    record = json.load(open(mode + ".json"))
    counts = {o["name"]: o["count"] for o in record["operations"]}
    print(mode, dict(sorted(counts.items())), [s["operation"] for s in record["open_spans"]],
          len({lane["process_id"] for lane in record["lanes"]}), "processes")
PYTHON
ls -d assay-* 2>/dev/null || echo "nothing is left behind"
