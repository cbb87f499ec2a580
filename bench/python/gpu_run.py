"""What does `assay run --gpu` cost unmodified PyTorch programs, and do its figures agree with torch.profiler? This needs a
machine with an NVIDIA GPU and PyTorch; elsewhere it exits with 77.

    gpu_run.py [ASSAY...]      the commands to try; $ASSAY_BUILD/assay by default

Cost: two bare processes, one process under each command and one under torch.profiler (CUDA activity only) exist side by side
and take turns in random order. Each is told to run some steps and reports their time, while the others wait. So all have the
same clock frequencies and the same neighbours. The ratio of a round is the time divided by the geometric mean of the two bare
times. A turn takes a fraction of a second, as a training runs step after step: in turns of a few steps, much of the time goes
by until the caches hold the code of the driver and of CUPTI again, which the other processes have driven out.
ASSAY_BENCH_STEPS changes the number of launch-bound steps of a turn.

Cost of recording: in one process, steps that are recorded and steps that are not take turns. Under `assay run --gpu-range`
the program switches the recording on and off by cudaProfilerStart() and cudaProfilerStop(), beside it another process does
so with torch.profiler. This leaves out what a process pays because a library is injected at all.

Figures: the same steps run without a pause, under assay and under torch.profiler, in separate processes. Over the last steps,
the kernel totals are compared name by name, and so is the share of the time without a kernel. The record's own sums are
compared with its trace.

Prints one JSON object on each line, as every benchmark does.
"""
import contextlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = {"small": (21, 256, 64), "large": (3, 8192, 8192)}  # layers, width, batch
STEADY_STEPS = {"small": 300, "large": 10}
WARM_STEPS = {"small": 40, "large": 3}


def row(name, value, unit, bar=None, ok=None):
    if ok is None:
        ok = bar is None or value <= bar
    print(json.dumps({"name": name, "value": round(value, 5), "unit": unit, "bar": bar, "ok": ok}), flush=True)


# ---- the programs that are measured ----


def make_step(size):
    import torch
    layers, width, batch = SIZES[size]
    torch.manual_seed(1)
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*parts).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, foreach=False)
    inputs, target = torch.randn(batch, width, device="cuda"), torch.randn(batch, width, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(inputs), target).backward()
        optimizer.step()
    return step


def run_steps(step, count):
    import torch
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def profiler():
    import torch
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])


def take_turns(size, profiled):
    """Reads a number of steps from each line on stdin, and answers with the seconds that they took."""
    import torch
    step = make_step(size)
    run_steps(step, WARM_STEPS[size])
    if profiled:
        with profiler():
            step()
    print("ready", flush=True)
    for line in sys.stdin:
        warm, steps = map(int, line.split())
        session = profiler() if profiled else None
        if session:
            session.__enter__()
        run_steps(step, warm)
        seconds = run_steps(step, steps)
        if session:
            session.__exit__(None, None, None)
        print(seconds, flush=True)


class Range:
    """What `assay run --gpu-range` records."""

    def __enter__(self):
        import torch
        torch.cuda.profiler.start()

    def __exit__(self, *_):
        import torch
        torch.cuda.profiler.stop()


def switch(size, ours):
    """As take_turns(), but each answer has two times: with the recording off, and on."""
    step = make_step(size)
    run_steps(step, WARM_STEPS[size])
    record = Range if ours else profiler
    with record():
        step()
    print("ready", flush=True)
    for line in sys.stdin:
        warm, steps = map(int, line.split())
        seconds = {}
        for recorded in random.sample([False, True], 2):
            with record() if recorded else contextlib.nullcontext():
                run_steps(step, warm)
                seconds[recorded] = run_steps(step, steps)
        print(seconds[False], seconds[True], flush=True)


def steady(size, kept):
    """Runs steps without a pause. The kernels that torch.profiler saw go to the file `kept`, if there is one."""
    import torch
    print("ready", flush=True)
    sys.stdin.readline()
    step = make_step(size)
    run_steps(step, WARM_STEPS[size])
    if not kept:
        run_steps(step, STEADY_STEPS[size])
        return
    with profiler() as session:
        run_steps(step, STEADY_STEPS[size])
    seen = [(e.name(), e.start_ns() / 1e9, e.duration_ns() / 1e9) for e in session.profiler.kineto_results.events()
            if "CUDA" in str(e.device_type())]
    with open(kept, "w") as stream:
        json.dump(seen, stream)


# ---- the driver ----


def start(prefix, arguments):
    return subprocess.Popen(prefix + [sys.executable, os.path.abspath(__file__)] + arguments, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def wait_ready(child):
    for line in child.stdout:
        if line.strip() == "ready":
            return
    raise SystemExit("gpu_run: a program did not start")


def ask(child, warm, steps):
    child.stdin.write(f"{warm} {steps}\n")
    child.stdin.flush()
    return child.stdout.readline()


def spread(values):
    """Half of the 95 % interval of the median, by ranks."""
    ordered, half = sorted(values), 0.98 * math.sqrt(len(values))
    low, high = (ordered[max(0, min(len(values) - 1, round(len(values) / 2 + side)))] for side in (-half, half))
    return (high - low) / 2


def turns(children, budget, warm, steps):
    found, bare = {name: [] for name in children}, []
    names, end = list(children), time.time() + budget
    while time.time() < end:
        random.shuffle(names)
        seconds = {}
        for name in names:
            seconds[name] = float(ask(children[name], warm, steps))
        middle = math.sqrt(seconds["bare"] * seconds["bare again"])
        bare.append(middle / steps)
        for name in names:
            found[name].append(seconds[name] / middle)
    return statistics.median(bare), found


def cost(size, commands, budget, warm, steps, bar):
    children = {"bare": start([], ["turns", size]), "bare again": start([], ["turns", size]),
                "torch.profiler": start([], ["turns", size, "profiled"])}
    for name, prefix in commands.items():
        children[name] = start(prefix + ["-q", "--"], ["turns", size])
    return children, lambda: report_cost(size, children, commands, budget, warm, steps, bar)


def report_cost(size, children, commands, budget, warm, steps, bar):
    for child in children.values():
        wait_ready(child)
    seconds, found = turns(children, budget, warm, steps)
    for child in children.values():
        child.stdin.close()
    row(f"{size} step: bare", seconds * 1e3, "ms")
    for name, values in found.items():
        if name != "bare":
            row(f"{size} step: {name}", statistics.median(values), "x bare", bar if name in commands else None)
            row(f"{size} step: {name}, half of the 95 % interval", spread(values), "x bare")
    for child in children.values():
        child.wait()


def start_switched(size, commands):
    children = {"torch.profiler": start([], ["switch", size])}
    for name, prefix in commands.items():
        children[name + "-range"] = start(prefix[:-1] + ["--gpu-range", "-q", "--"], ["switch", size, "ours"])
    return children


def report_switched(size, children, budget, warm, steps, bar):
    found, end = {name: [] for name in children}, time.time() + budget
    for child in children.values():
        wait_ready(child)
    while time.time() < end:
        for name in random.sample(list(children), len(children)):
            off, on = map(float, ask(children[name], warm, steps).split())
            found[name].append(on / off)
    for name, values in found.items():
        title = f"{size} step, switched within a process: {name}"
        row(title, statistics.median(values), "x off", None if name == "torch.profiler" else bar)
        row(f"{title}, half of the 95 % interval", spread(values), "x off")
    for child in children.values():
        child.stdin.close()
        child.wait()


def summary(events, count):
    """For the last `count` kernels: the seconds by name, and the share of their time without a kernel."""
    events = sorted(events, key=lambda e: e[1])[-count:]
    totals, busy, end = {}, 0.0, events[0][1]
    for name, begin, length in events:
        totals[name] = totals.get(name, 0.0) + length
        busy += max(0.0, begin + length - max(begin, end))
        end = max(end, begin + length)
    return totals, 1 - busy / (end - events[0][1])


def is_kernel(name):
    return not name.startswith(("Memcpy", "Memset"))


def start_steady(size, command, folder, number):
    record, trace, kept = (os.path.join(folder, f"{size}{number}.{kind}") for kind in ("json", "trace", "profile"))
    ours = start(command + ["-q", "--json", record, "--trace", trace, "--trace-events", "262144", "--"], ["steady", size])
    theirs = start([], ["steady", size, kept])
    return ours, theirs, record, trace, kept


def go(child):
    child.stdin.write("go\n")
    child.stdin.close()
    child.stdout.read()
    child.wait()


def own_idle(record, trace):
    """The idle share of the whole run: by the record's sums, and by its trace."""
    events = [(e["name"], e["ts"] / 1e6, e["dur"] / 1e6) for e in trace if e.get("cat") in ("kernel", "copy")]
    begin, end = min(e[1] for e in events), max(e[1] + e[2] for e in events)
    busy, at = 0.0, begin
    for e in sorted((e for e in trace if e.get("cat") == "kernel"), key=lambda e: e["ts"]):
        start_s, stop = e["ts"] / 1e6, (e["ts"] + e["dur"]) / 1e6
        busy += max(0.0, stop - max(start_s, at))
        at = max(at, stop)
    return record["gpu"]["idle_seconds"] / record["gpu"]["span_seconds"], 1 - busy / (end - begin)


def figures(size, runs):
    ratios, worst, idles, own = [], [], [], []
    for ours, theirs, record, trace, kept in runs:
        for child in random.sample([ours, theirs], 2):
            go(child)
        with open(record) as a, open(trace) as b, open(kept) as c:
            record, trace, theirs_seen = json.load(a), json.load(b)["traceEvents"], json.load(c)
        ours_seen = [(e["name"], e["ts"] / 1e6, e["dur"] / 1e6) for e in trace if e.get("cat") == "kernel"]
        theirs_seen = [e for e in theirs_seen if is_kernel(e[0])]
        count = len(theirs_seen)
        ours_totals, ours_idle = summary(ours_seen, count)
        theirs_totals, theirs_idle = summary(theirs_seen, count)
        ratios.append(sum(ours_totals.values()) / sum(theirs_totals.values()))
        large = [name for name in theirs_totals if theirs_totals[name] > 0.02 * sum(theirs_totals.values())]
        worst += [abs(ours_totals.get(name, 0) / theirs_totals[name] - 1) for name in large]
        idles.append((ours_idle, theirs_idle))
        whole = own_idle(record, trace)
        own.append(abs(whole[0] - whole[1]))
        print(json.dumps(record["gpu"]["idle"]), record["gpu"].get("late_records"), record["gpu"].get("dropped_records"),
              len(ours_seen), count, file=sys.stderr)
    row(f"{size}: kernel seconds, against torch.profiler's", 100 * abs(statistics.mean(ratios) - 1), "%", 2)
    row(f"{size}: of the single kernels above 2 % of the time, the worst", 100 * max(worst), "%")
    row(f"{size}: share without a kernel", 100 * statistics.mean(i[0] for i in idles), "%")
    row(f"{size}: the same by torch.profiler", 100 * statistics.mean(i[1] for i in idles), "%")
    row(f"{size}: difference of the two shares", 100 * abs(statistics.mean(i[0] - i[1] for i in idles)), "points", 3)
    row(f"{size}: record against its own trace, share without a kernel", 100 * max(own), "points", 0.1)


def main(commands):
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        print("gpu_run: no PyTorch, or no GPU here", file=sys.stderr)
        sys.exit(77)
    budget = float(os.environ.get("ASSAY_BENCH_SECONDS", 40))
    runs = [[path, "run", "--gpu"] for path in commands or [os.path.join(os.environ["ASSAY_BUILD"], "assay")]]
    named = {"assay run --gpu" + (f" ({i + 1})" if i else ""): run for i, run in enumerate(runs)}
    with tempfile.TemporaryDirectory() as folder:
        steadies = {"small": [start_steady("small", runs[0], folder, i) for i in range(2)],
                    "large": [start_steady("large", runs[0], folder, 0)]}
        steps = int(os.environ.get("ASSAY_BENCH_STEPS", 60))
        small, report_small = cost("small", named, budget, max(3, steps // 6), steps, 1.10)
        large, report_large = cost("large", dict(list(named.items())[:1]), 0.6 * budget, 1, 1, 1.01)
        switched = start_switched("small", named)
        for ours, theirs, *_ in sum(steadies.values(), []):
            wait_ready(ours)
            wait_ready(theirs)
        report_small()
        report_switched("small", switched, budget, 3, max(6, steps // 5), 1.10)
        report_large()
        for size, those in steadies.items():
            figures(size, those)


if __name__ == "__main__":
    if sys.argv[1:2] == ["turns"]:
        take_turns(sys.argv[2], "profiled" in sys.argv)
    elif sys.argv[1:2] == ["switch"]:
        switch(sys.argv[2], "ours" in sys.argv)
    elif sys.argv[1:2] == ["steady"]:
        steady(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
    else:
        main(sys.argv[1:])
