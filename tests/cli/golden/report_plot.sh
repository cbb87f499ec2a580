# figures of a record as SVG; tests/unit/test_plot.c looks at where the marks stand
python3 - >sweep.json <<'PYTHON'
import json
def subject(n):
    return {"name": f"sort {n}", "iterations": 1, "parameters": {"n": str(n)},
            "samples_seconds": [n * 1e-6, n * 1.01e-6, n * 0.99e-6], "warmup_samples": 0, "rejected_samples": 0,
            "disturbed_samples": 0, "failed_runs": 0}
print(json.dumps({"schema": "assay-record", "version": 2, "kind": "bench", "name": "<sort> & co",
                  "subjects": [subject(10 ** k) for k in range(1, 6)]}))
PYTHON
show report sweep.json --plot growth
show report sweep.json --plot growth --title "Sorting" --width 720 -o growth.svg
head -n 3 growth.svg
show report sweep.json --plot ratios
show report sweep.json --plot growth --of m
show report sweep.json --plot distribution --of nobody
show report sweep.json --plot growht
show report sweep.json --plot growth --csv
show report sweep.json --plot growth --width 20
show report sweep.json --width 500
show report sweep.json sweep.json --plot growth
show report sweep.json --plot growth -o no/such/folder/growth.svg
show report sweep.json --plot growth -o /dev/full
