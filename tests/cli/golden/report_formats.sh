# Every format the help lists, on a benchmark record and on one of spans.
python3 - >bench.json <<'PYTHON'
import json
figures = lambda mean: {"mean_seconds": mean, "low_seconds": 0.75 * mean, "high_seconds": 1.5 * mean, "std_seconds": 0.25 * mean}
counts = {"iterations": 1, "warmup_samples": 2, "rejected_samples": 0, "disturbed_samples": 0, "failed_runs": 0}
print(json.dumps({"schema": "assay-record", "version": 1, "total_seconds": 0, "created": "2026-11-15T04:11:49Z",
                  "subjects": [{"name": "old", "samples_seconds": [0.5, 0.75, 1], **counts, **figures(0.75)},
                               {"name": "new", "samples_seconds": [0.25, 0.375, 0.5], **counts, **figures(0.375)}]}))
PYTHON
formats=$("$ASSAY" report --help | sed -n '/^formats:/,/^plots:/s/^  \([a-z-]*\) .*/\1/p')
for format in $formats; do
    "$ASSAY" report bench.json --format "$format" >"$format.out" 2>"$format.err"
    echo "$format: exit $?, $([ -s "$format.out" ] && echo text || echo nothing)"
    cat "$format.err"
done
show report bench.json --format csv
show report bench.json --csv
show report bench.json --format scaling
show report bench.json bench.json --format csv-samples
show report bench.json --format markdown --output table.md
cat table.md
show report bench.json --format markdwon
show report bench.json --format yaml
show report bench.json --csv --summary
show report bench.json --format csv --output no/such/folder/x.csv
show report bench.json --format csv --output /dev/full
python3 - >spans.json <<'PYTHON'
import json
span = lambda name, start, seconds: {"operation": name, "depth": 0, "start_seconds": start, "duration_seconds": seconds,
                                     "cpu_delta_bytes": 1048576, "gpu_delta_bytes": None, "gpu_peak_bytes": None}
print(json.dumps({"schema": "assay-record", "version": 1, "total_seconds": 4,
                  "metrics": [span("load data", 0, 3), span("forward", 3, 0.75), span("save", 3.75, 0.25)]}))
PYTHON
show report spans.json --csv
show report spans.json --summary
show report spans.json --advice
show report spans.json bench.json spans.json --format csv-spans
show report spans.json --format hyperfine
show report spans.json --format bench
show report spans.json --format scaling
"$ASSAY" report bench.json -f hyperfine -o theirs.json
show report theirs.json --format csv-samples
