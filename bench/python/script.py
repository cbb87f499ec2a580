"""What does profiling cost a script? `python3 -m assay run` is compared with the same script alone. By default the sampling
rate is highest in the first seconds of a script, which are the ones measured here; `--rate 100` is shown beside it.

The script measures the processor time of its own work, so that neither the start of Python nor the end of the command is
included. Runs with and without a profile take turns; the figure is the median of the ratios of neighbouring runs.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 24
SCRIPT = """
import json, time
def node(depth):
    return {"value": depth, "children": [node(depth - 1) for _ in range(2)]} if depth else {"value": 0, "children": []}
def total(tree):
    return tree["value"] + sum(total(child) for child in tree["children"])
def step():
    tree = node(9)
    text = json.dumps(tree)
    return total(json.loads(text)) + len(sorted(text.split(",")))
def work(seconds):
    for _ in range(int(seconds * 100)):
        step()
work(0.1)
begin = time.perf_counter()
work(2)
print(time.perf_counter() - begin)
"""


def seconds(command):
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        run = [sys.executable, "-m", "assay", "run", "-q"]
        commands = {"alone": [sys.executable, path], "sampled": [*run, path], "at 100 Hz": [*run, "--rate", "100", path],
                    "allocations": [*run, "--allocations", path]}
        figures = {name: [] for name in commands}
        for turn in range(ROUNDS):
            order = list(commands)
            for name in order if turn % 2 else order[::-1]:
                figures[name].append(seconds(commands[name]))
    good = True
    names = {"sampled": "script profiled", "at 100 Hz": "script profiled at 100 Hz", "allocations": "script profiled with its allocations"}
    for name, bar in (("sampled", 1.03), ("at 100 Hz", 1.03), ("allocations", None)):
        ratio = statistics.median(b / a for a, b in zip(figures["alone"], figures[name]))
        ok = bar is None or ratio <= bar
        good &= ok
        print(json.dumps({"name": names[name] + " ÷ alone", "value": round(ratio, 4), "unit": "ratio", "bar": bar, "ok": ok}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
