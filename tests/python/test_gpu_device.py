"""Behaviour of a real GPU that the fake driver of tests/fake cannot show. Without PyTorch or a GPU the tests are skipped."""
import contextlib
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    torch = None

import assay
import assay.profiling
from assay.memory_monitor import EpochPerformanceMonitor, PerformanceMonitor, track_performance

if torch is None or not torch.cuda.is_available():
    print("no PyTorch, or no GPU here")
    sys.exit(77)

MB = 2**20


def run(script, **environment):
    """A script in a process of its own, since most of these end, fork or break something."""
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout) if done.stdout else None


BEGIN = """
import ctypes, json, os, sys, time, torch, assay
work = torch.randn(2048, 2048, device="cuda")
torch.matmul(work, work)                            # cuBLAS cannot be made within a capture
torch.cuda.synchronize()
def load(count=20):
    for _ in range(count):
        torch.matmul(work, work)
def forward():
    record = assay.record().to_dict()
    found = [it for it in record["operations"] if it["name"] == "forward"]
    return [found[0]["count"], found[0].get("gpu_spans", 0), found[0].get("gpu_seconds"), record["integrity"]["dropped_spans"]]
"""

RANGES = """
import time, torch
work = torch.randn(512, 512, device="cuda")
def launch(count):
    for _ in range(count):
        torch.relu_(work)
    torch.cuda.synchronize()
launch(100)
for count in (3, 4):
    torch.cuda.profiler.start()
    launch(count)
    torch.cuda.profiler.stop()
    launch(50)
    time.sleep(0.2)
"""

DESTROYED = BEGIN + """
driver = ctypes.CDLL("libcuda.so.1")
stream = ctypes.c_void_p()
assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
with assay.track("forward", stream=stream.value):
    pass
assert driver.cuStreamDestroy_v2(stream) == 0       # after its span, before its events are asked for
torch.cuda.synchronize()
assay.default_monitor().resolve_gpu()
print(json.dumps(forward()))
"""

FORKED = BEGIN + """
with assay.track("forward", stream="current"):
    load()
pid = os.fork()
if pid == 0:
    with assay.track("forward"):
        pass
    assay.default_monitor().resolve_gpu()
    found = forward()
    os._exit(0 if found[0] == 1 and found[1] == 0 else 1)
status = os.waitpid(pid, 0)[1]
torch.cuda.synchronize()
assay.default_monitor().resolve_gpu()
print(json.dumps([status, *forward()]))
"""

ENDED = BEGIN + """
with assay.track("forward", stream="current"):
    load(2000)                                      # the program ends before the device does
"""

CAPTURED = BEGIN + """
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    with assay.track("forward", stream="current"):
        load(3)
for _ in range(5):
    graph.replay()
torch.cuda.synchronize()
with assay.track("forward", stream="current"):
    load(3)
assay.default_monitor().resolve_gpu()
print(json.dumps(forward()))
"""

CAPTURED_BESIDE = BEGIN + """
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(50):
        with assay.track("forward", stream="current"):
            load(1)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    load(3)
    assay.default_monitor().resolve_gpu(0)          # asks for the events of the other stream
    assay.record()
graph.replay()
torch.cuda.synchronize()
assay.default_monitor().resolve_gpu()
print(json.dumps(forward()))
"""

BY_UUID = """
from assay.energy import Meter
meter = Meter(cpu=False)                            # before CUDA is used
""" + BEGIN + """
time.sleep(0.3)
end = time.monotonic() + 2
while time.monotonic() < end:
    with assay.track("forward", stream="current"):
        load(200)
        torch.cuda.synchronize()
time.sleep(0.4)
assay.default_monitor().resolve_gpu()
record = assay.record().to_dict()
description = meter.description
meter.close()
found = [it for it in record["operations"] if it["name"] == "forward"][0]
print(json.dumps([sorted(it["name"] for it in record["counters"] if "power" in it["name"]), found.get("energy_joules"), description]))
"""


class Streams(unittest.TestCase):
    def test_a_destroyed_stream(self):
        count, spans, seconds, dropped = run(DESTROYED)
        self.assertEqual((count, spans, dropped), (1, 1, 0))
        self.assertGreaterEqual(seconds, 0)

    def test_a_fork(self):
        status, count, spans, seconds, dropped = run(FORKED)
        self.assertEqual((status, count, spans, dropped), (0, 1, 1, 0))
        self.assertGreater(seconds, 0)

    def test_exit(self):
        self.assertIsNone(run(ENDED))

    def test_capture(self):
        count, spans, seconds, dropped = run(CAPTURED)
        self.assertEqual((count, spans, dropped), (2, 1, 1))
        self.assertGreater(seconds, 0)

    def test_capture_of_another_stream(self):
        count, spans, seconds, dropped = run(CAPTURED_BESIDE)
        self.assertEqual((count, spans, dropped), (50, 50, 0))
        self.assertGreater(seconds, 0)

    def test_a_device_by_its_uuid(self):
        uuid = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True).stdout.split()[0]
        names, joules, description = run(BY_UUID, CUDA_VISIBLE_DEVICES=uuid)
        print(names, joules, description, file=sys.stderr)
        self.assertIn("cuda:0 power_watts", names)
        self.assertIn("board:0: ", description)     # CUDA was not used yet
        self.assertGreater(joules, 50)


class Devices(unittest.TestCase):
    def setUp(self):
        redirect = contextlib.redirect_stdout(io.StringIO())
        redirect.__enter__()
        self.addCleanup(redirect.__exit__, None, None, None)

    def test_memory(self):
        for device in (0, "cuda", "cuda:0", torch.device("cuda", 0)):
            kept = []
            with track_performance("block", device=device) as metrics:
                kept.append(torch.empty(64 * MB, dtype=torch.uint8, device="cuda"))
            self.assertAlmostEqual(metrics.gpu_delta_mb, 64, delta=2)
            monitor = PerformanceMonitor(device=device)
            with monitor.track("block"):
                kept.append(torch.empty(64 * MB, dtype=torch.uint8, device="cuda"))
            self.assertAlmostEqual(monitor.get_metrics()[0].gpu_delta_mb, 64, delta=2)

    def test_no_such_device(self):
        for device in ("cpu", torch.cuda.device_count(), "cuda:64"):
            with track_performance("block", device=device) as metrics:
                pass
            self.assertTrue(math.isnan(metrics.gpu_delta_mb))
            epochs = EpochPerformanceMonitor(device=device)
            epochs.on_epoch_start()
            epochs.on_epoch_end()
        with self.assertRaisesRegex(RuntimeError, "there is no device 'cuda:64'"):
            assay.profiling.RuntimeProfiler(torch.nn.Linear(4, 4), device="cuda:64")

    def test_profilers(self):
        from assay.profiling import MemoryProfiler, RuntimeProfiler, get_memory_breakdown, run_node_scaling
        model, batch = torch.nn.Linear(1024, 1024), torch.randn(256, 1024)
        found = RuntimeProfiler(model, "cuda", num_runs=20).profile_all(batch, torch.optim.SGD(model.parameters(), lr=0.1))
        self.assertEqual(set(found), {"forward", "backward", "training_step"})
        stats = MemoryProfiler(model, "cuda").profile_forward(batch)
        self.assertGreater(stats.peak_mb, 4)
        self.assertGreater(stats.reserved_mb, 0)
        self.assertEqual(stats.device, "cuda")
        self.assertAlmostEqual(get_memory_breakdown(model, batch, "cuda")["parameters"], (1024 + 1) * 1024 * 4 / MB)

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(16, 16)

            def forward(self, graph):
                assert graph.x.is_cuda and self.layer.weight.is_cuda
                return self.layer(graph.x)
        run_node_scaling(lambda **kwargs: Net(), [100, 200, 400], device="cuda", budget_seconds=1)


class FromOutside(unittest.TestCase):
    def test_ranges(self):
        """Only what runs between cudaProfilerStart and cudaProfilerStop is recorded, and the time between is not idle."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            command = [os.path.join(os.environ["ASSAY_BUILD"], "assay"), "run", "--gpu-range", "-q", "--json", path, "--"]
            subprocess.run([*command, sys.executable, "-c", RANGES], check=True, timeout=120)
            with open(path) as stream:
                gpu = json.load(stream)["gpu"]
        self.assertEqual([kernel["count"] for kernel in gpu["kernels"]], [7])
        self.assertEqual(gpu["ranges"], 2)
        self.assertLess(gpu["span_seconds"], 0.2)
        self.assertGreaterEqual(gpu["peak_bytes"], 512 * 512 * 4)


class Energy(unittest.TestCase):
    def test_bench(self):
        """Twice the work takes twice the energy, and more than a processor that waits."""
        left = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)

        def once():
            for _ in range(400):
                torch.matmul(left, left)

        def twice():
            once()
            once()
        result = assay.bench(once, twice, metric="energy", device="cuda", budget_seconds=15)
        print(result, file=sys.stderr)
        first = result.to_dict()["comparisons"][0]
        self.assertEqual((first["metric"], first["verdict"]), ("energy_joules", "slower"))
        self.assertTrue(1.6 < first["ratio"] < 2.4, first)

    def test_processor_and_gpu(self):
        net, batch = torch.nn.Linear(1024, 1024), torch.randn(1024, 1024)
        other, there = torch.nn.Linear(1024, 1024).cuda(), batch.cuda()
        with torch.no_grad():
            result = assay.bench(lambda: net(batch), lambda: other(there), names=["cpu", "cuda"], device="cuda", budget_seconds=3)
        print(result, file=sys.stderr)
        self.assertEqual(result.verdict, "faster")


if __name__ == "__main__":
    unittest.main(verbosity=2)
