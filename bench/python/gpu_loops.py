"""What does it cost to track a training loop on a GPU from Python, and is the energy right? This needs a machine with an
NVIDIA GPU and PyTorch; elsewhere it exits with 77.

There are two loops, each with forward, backward and step tracked on PyTorch's current stream: one that is bound by launches
(about 5 ms a step) and one that is bound by the GPU (about 190 ms). A bare and a tracked step take turns in random order
within blocks, so that both have the same clock frequencies and the same heat. The ratio of a block is the ratio of the sums.
CUPTI counts the synchronising calls of the driver in a separate run, because a subscriber slows every call down.

Energy: during 20 s of steady load, the GPU's counter, as the meter reads it, is compared with the integral of the power that
NVML reports.

Prints one JSON object on each line, as every benchmark does.
"""
import bisect
import ctypes
import glob
import json
import math
import os
import random
import statistics
import sys
import threading
import time

try:
    import torch
except ImportError:
    torch = None

import assay
import assay._torch

if torch is None or not torch.cuda.is_available():
    print("gpu_loops: no PyTorch, or no GPU here", file=sys.stderr)
    sys.exit(77)


def row(name, value, unit, bar=None, ok=None):
    if ok is None:
        ok = bar is None or value <= bar
    print(json.dumps({"name": name, "value": round(value, 5), "unit": unit, "bar": bar, "ok": ok}), flush=True)


# ---- the loops ----


class Loop:
    def __init__(self, layers, width, batch):
        torch.manual_seed(1)
        parts = []
        for _ in range(layers):
            parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
        self.model = torch.nn.Sequential(*parts).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4, foreach=False)
        self.input = torch.randn(batch, width, device="cuda")
        self.target = torch.randn(batch, width, device="cuda")

    def bare(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(self.model(self.input), self.target)
        loss.backward()
        self.optimizer.step()

    def tracked(self):
        with assay.track("forward", stream="current"):
            self.optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.mse_loss(self.model(self.input), self.target)
        with assay.track("backward", stream="current"):
            loss.backward()
        with assay.track("step", stream="current"):
            self.optimizer.step()

    def synchronized(self):
        """The way of the seed documents: synchronise after each phase."""
        for phase in (self._forward, self._backward, self.optimizer.step):
            torch.cuda.synchronize()
            phase()
            torch.cuda.synchronize()

    def _forward(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = torch.nn.functional.mse_loss(self.model(self.input), self.target)

    def _backward(self):
        self.loss.backward()


def seconds_of(step, count):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def sized(make, target, size):
    """A loop whose step takes about the target time."""
    for _ in range(6):
        loop = make(size)
        seconds_of(loop.bare, 5)
        seconds = seconds_of(loop.bare, 10) / 10
        if 0.8 < seconds / target < 1.25:
            break
        size = max(2, round(size * target / seconds))
    return loop, seconds


def ratios(variants, rounds, steps):
    """The ratio of each variant to the first, round by round. A round is short, because the processor's speed changes by
    some per cent within a second."""
    found = {name: [] for name in variants}
    names = list(variants)
    for _ in range(rounds):
        random.shuffle(names)
        seconds = {name: seconds_of(variants[name], steps) for name in names}
        for name in names:
            found[name].append(seconds[name] / seconds["bare"])
    return found


def spread(values):
    """Half of the 95 % interval of the median, by ranks."""
    ordered, half = sorted(values), 0.98 * math.sqrt(len(values))
    low, high = (ordered[max(0, min(len(values) - 1, round(len(values) / 2 + side)))] for side in (-half, half))
    return (high - low) / 2


def loop_cost(title, loop, seconds, blocks, steps, bar):
    for _ in range(20):
        loop.tracked()
    found = ratios({"bare": loop.bare, "tracked": loop.tracked, "again": loop.bare, "synchronized": loop.synchronized}, blocks, steps)
    row(f"{title}: bare", seconds * 1e3, "ms")
    row(f"{title}: forward, backward and step tracked", statistics.median(found["tracked"]), "x bare", bar)
    row(f"{title}: tracked, half of the 95 % interval of that median", spread(found["tracked"]), "x bare")
    row(f"{title}: bare against itself", statistics.median(found["again"]), "x bare")
    row(f"{title}: synchronised around every phase, as the seeds do", statistics.median(found["synchronized"]), "x bare")
    return found


def span_cost():
    """The cost of a span around a block without work, and of its parts."""
    def empty():
        with assay.track("empty", stream="current"):
            pass

    def events():
        torch.cuda.Event(enable_timing=True).record()
        torch.cuda.Event(enable_timing=True).record()
    for name, call in (("track(stream=\"current\")", empty), ("current_stream()", assay._torch.current_stream), ("two events of PyTorch", events)):
        costs = []
        for _ in range(200):
            start = time.perf_counter()
            for _ in range(10):
                call()
            costs.append((time.perf_counter() - start) / 10)
            torch.cuda.synchronize()
        row(f"python: {name}", statistics.median(costs) * 1e6, "us")


# ---- synchronising calls, counted by CUPTI ----


def find_cupti():
    places = [os.path.join(path, "nvidia", "*", "lib", "libcupti.so*") for path in sys.path]
    places += ["/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*", "/usr/local/cuda*/lib64/libcupti.so*"]
    for place in places:
        for path in sorted(glob.glob(place)):
            try:
                return ctypes.CDLL(path)
            except OSError:
                pass
    return None


class Calls:
    """Counts the driver's calls by name while it is on."""

    def __init__(self, cupti):
        class Data(ctypes.Structure):
            _fields_ = [("site", ctypes.c_int), ("function", ctypes.c_char_p)]
        signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(Data))
        self.counts = {}
        self.on = False
        self.cupti = cupti
        self.callback = signature(self._called)
        self.subscriber = ctypes.c_void_p()
        if cupti.cuptiSubscribe(ctypes.byref(self.subscriber), self.callback, None) != 0:
            raise RuntimeError("CUPTI has another subscriber")
        driver_domain = 1
        cupti.cuptiEnableDomain(1, self.subscriber, driver_domain)

    def _called(self, user, domain, number, data):
        if self.on and data.contents.site == 0:
            name = data.contents.function
            self.counts[name] = self.counts.get(name, 0) + 1

    def of(self, step, count):
        self.counts = {}
        self.on = True
        for _ in range(count):
            step()
        self.on = False
        return self.counts


def synchronise_calls(loop):
    cupti = find_cupti()
    if cupti is None:
        print("gpu_loops: no CUPTI: synchronising calls are not counted", file=sys.stderr)
        return
    steps = 50
    calls = Calls(cupti)
    bare = calls.of(loop.bare, steps)
    tracked = calls.of(loop.tracked, steps)
    synchronised = calls.of(loop.synchronized, steps)
    calls.cupti.cuptiUnsubscribe(calls.subscriber)

    def waits(counts):
        return sum(count for name, count in counts.items() if b"Synchronize" in name)
    more = {name.decode(): tracked.get(name, 0) - bare.get(name, 0) for name in {*tracked, *bare}
            if tracked.get(name, 0) != bare.get(name, 0)}
    print("calls of the driver that tracking adds to 50 steps:", more, file=sys.stderr)
    row("synchronising calls that tracking adds to 50 steps", waits(tracked) - waits(bare), "calls", 0)
    row("the same of synchronising around every phase", waits(synchronised) - waits(bare), "calls")


# ---- energy ----


class Nvml:
    def __init__(self):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        if self.library.nvmlInit_v2() != 0 or self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) != 0:
            raise RuntimeError("NVML cannot be used")

    def watts(self):
        value = ctypes.c_uint()
        return value.value * 1e-3 if self.library.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(value)) == 0 else math.nan


class PowerIntegral(threading.Thread):
    """The integral of the power that NVML reports, read every 20 ms."""

    def __init__(self):
        super().__init__(daemon=True)
        self.nvml = Nvml()
        self.points = []
        self.ending = False

    def run(self):
        while not self.ending:
            self.points.append((time.monotonic(), self.nvml.watts()))
            time.sleep(0.02)

    def joules(self, begin, end):
        inside = [point for point in self.points if begin <= point[0] <= end]
        area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(inside, inside[1:]))
        return area * (end - begin) / (inside[-1][0] - inside[0][0])


def energy(seconds):
    from assay.energy import Meter
    left = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def load():
        for _ in range(20):
            torch.matmul(left, left)
        torch.cuda.synchronize()
    monitor = assay.Monitor()
    integral = PowerIntegral()
    meter = Meter(monitor=monitor)
    print(meter.description, file=sys.stderr)
    integral.start()
    warm = time.monotonic()
    while time.monotonic() - warm < 3:          # the power rises at first
        load()
    begin = time.monotonic()
    with monitor.track("load"):
        while time.monotonic() - begin < seconds:
            with monitor.track("products", stream="current"):
                load()
    end = time.monotonic()
    time.sleep(0.5)
    found = meter.read(begin, end)
    integral.ending = True
    integral.join()
    truth = integral.joules(begin, end)
    record = monitor.record().to_dict()
    meter.close()
    row(f"energy of {seconds:.0f} s of load", found["joules"], "J")
    row("the same, by the integral of NVML's power", truth, "J")
    difference = abs(found["joules"] / truth - 1)
    row("energy against the integral of power", difference, "", 0.05)
    row("the bounds hold the integral", float(found["joules_low"] <= truth <= found["joules_high"]), "",
        None, found["joules_low"] <= truth <= found["joules_high"])
    for operation in record["operations"]:
        name, figures = operation["name"], [operation.get(key) for key in ("energy_joules", "energy_joules_low", "energy_joules_high")]
        print(name, operation["count"], operation["total_seconds"], operation.get("gpu_seconds"), figures, file=sys.stderr)
        if None not in figures:
            row(f"energy of the operation {name}, against the integral of power", abs(figures[0] / truth - 1), "", 0.05)
            row(f"energy of the operation {name}: width of its bounds", (figures[2] - figures[1]) / figures[0], "")
    for counter in record["counters"]:
        print(counter, file=sys.stderr)
    monitor.close()


def meter_cost(title, loop, seconds):
    """The cost that a meter at 10 Hz adds to a loop. Steps during a reading are compared with the steps 50 ms before, because
    the speed of the machine changes too much to compare a loop with a meter and a later loop without one."""
    from assay.energy import Meter
    monitor = assay.Monitor(trace_events=65536, memory=False)
    meter = Meter(monitor=monitor)
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        with monitor.track("step"):
            loop.bare()
            torch.cuda.synchronize()
    meter.close()
    record = monitor.record().to_dict(events=True)
    monitor.close()
    steps, readings = [], []
    names = {"span": [operation["name"] for operation in record["operations"]],
             "counter": [counter["name"] for counter in record["counters"]]}
    for kind, name, _, start, last in record["events"]:
        if names[kind][name] == "step":
            steps.append((start, last))
        elif names[kind][name] == "cuda:0 power_watts":
            readings.append(start)
    starts = [start for start, _ in steps]
    longest = 0.006                              # the longest reading; it is entered when it has ended

    def touched(at):
        """The time of the steps during a reading that ended at this time."""
        first, last = bisect.bisect_right(starts, at - longest) - 1, bisect.bisect_right(starts, at) - 1
        return sum(steps[i][1] for i in range(max(0, first), last + 1)) / (last - first + 1)
    more = [touched(at) - touched(at - 0.05) for at in readings[1:]]         # halfway between two readings there is none
    middle = sorted(more)[len(more) // 20:len(more) - len(more) // 20]       # without a twentieth at each end, which is disturbed otherwise
    scale = 2 * len(more) / sum(duration for _, duration in steps)           # a reading touches two steps
    row(f"{title}: with a meter at 10 Hz", 1 + statistics.mean(middle) * scale, "x bare", 1.005)
    row(f"{title}: with a meter, half of the 95 % interval", 2 * statistics.stdev(middle) / math.sqrt(len(middle)) * scale, "x bare")
    print(len(steps), "steps,", len(readings), "readings", file=sys.stderr)


def main():
    scale = float(os.environ.get("ASSAY_BENCH_SCALE", "1"))
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, file=sys.stderr)
    span_cost()
    small, small_seconds = sized(lambda layers: Loop(layers, 256, 64), 0.0053, 40)
    large, large_seconds = sized(lambda layers: Loop(layers, 8192, 8192), 0.189, 8)
    loop_cost("launch-bound step", small, small_seconds, max(20, round(2000 * scale)), 2, 1.02)
    loop_cost("GPU-bound step", large, large_seconds, max(5, round(60 * scale)), 1, 1.002)
    meter_cost("launch-bound step", small, max(3, 30 * scale))
    energy(20 if scale >= 1 else max(4, 20 * scale))
    left = assay.default_monitor().resolve_gpu()
    record = assay.record().to_dict()
    row("spans on the device that were not recorded", left + record["integrity"]["dropped_spans"], "", 0)
    for operation in record["operations"]:
        print(operation["name"], operation["count"], "spans,", operation.get("gpu_spans"), "on the device,",
              operation.get("gpu_seconds"), "s there", file=sys.stderr)
    synchronise_calls(small)


main()
