"""Spans on streams of a GPU. The driver is tests/fake/cuda.c, and PyTorch's part is a stand-in."""
import asyncio
import contextlib
import ctypes
import os
import subprocess
import sys
import types
import unittest
from unittest import mock

import assay
import assay._torch

FAKE = os.environ.get("ASSAY_FAKE") or "build/tests/fake"
STREAM, OTHER = 0x1000, 0x2000


def load_driver():
    driver = ctypes.CDLL(os.path.join(FAKE, "libcuda.so.1"))
    driver.fake_work.argtypes = [ctypes.c_void_p, ctypes.c_double]
    driver.fake_advance.argtypes = [ctypes.c_double]
    driver.fake_live_events.restype = ctypes.c_size_t
    return driver


LATE = """
import ctypes
import sys
import assay
monitor = assay.Monitor(memory=False)
for _ in range(3):
    with monitor.track("early", stream=0x1000):
        pass
driver = ctypes.CDLL(sys.argv[1])
driver.fake_work.argtypes = [ctypes.c_void_p, ctypes.c_double]
driver.fake_advance.argtypes = [ctypes.c_double]
with monitor.track("late", stream=0x1000):
    driver.fake_work(0x1000, 0.25)
driver.fake_advance(1)
found = {it["name"]: it for it in monitor.record().to_dict()["operations"]}
assert found["early"]["unavailable"]["gpu_seconds"] == "unsupported", found
assert abs(found["late"]["gpu_seconds"] - 0.25) < 1e-6, found
"""


class Stream:
    """torch.cuda.Stream."""

    def __init__(self, address):
        self.cuda_stream = address


class Cupy:
    def __init__(self, address):
        self.ptr = address


class Protocol:
    def __init__(self, address):
        self.address = address

    def __cuda_stream__(self):
        return 0, self.address


class Torch:
    """What assay asks PyTorch for."""

    def __init__(self, initialized=True):
        self.streams = {None: STREAM, 0: STREAM, 1: OTHER, "cuda:1": OTHER}
        self.cuda = types.SimpleNamespace(is_initialized=lambda: initialized,
                                          current_stream=lambda device: Stream(self.streams[device]))

        self._C = types.SimpleNamespace(_cuda_getDevice=lambda: 0, _cuda_getCurrentRawStream=self.streams.get)

    def device(self, text):
        return types.SimpleNamespace(type=text.split(":")[0])


class GpuStream(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = load_driver()

    def setUp(self):
        self.monitor = assay.Monitor(memory=False)
        self.addCleanup(self.monitor.close)

    def work(self, seconds, stream=STREAM):
        self.driver.fake_work(stream, seconds)

    def operations(self):
        return {operation["name"]: operation for operation in self.monitor.record().to_dict()["operations"]}

    def lanes(self):
        return [lane["name"] for lane in self.monitor.record().to_dict()["lanes"] if lane["kind"] == "gpu-stream"]

    def test_time_of_the_device(self):
        for stream in (STREAM, Stream(STREAM), Cupy(STREAM), Protocol(STREAM)):
            with self.monitor.track("forward", stream=stream) as span:
                self.work(0.25)
            self.assertLess(span.seconds, 0.2)
            self.assertEqual(span.name, "forward")
        self.assertNotIn("gpu_seconds", self.operations()["forward"])       # nothing has completed yet
        self.driver.fake_advance(1)
        forward = self.operations()["forward"]
        self.assertEqual((forward["count"], forward["gpu_spans"]), (4, 4))
        self.assertAlmostEqual(forward["gpu_seconds"], 1.0, places=6)
        self.assertEqual(len(self.lanes()), 1)

    def test_nested_and_default_monitor(self):
        before = assay._core.set_default_monitor(self.monitor)
        self.addCleanup(assay._core.set_default_monitor, before)
        with assay.track("step"):
            with assay.track("forward", stream=STREAM):
                self.work(0.5)
            with assay.track("backward", stream=OTHER):
                self.work(0.25, OTHER)
        self.driver.fake_advance(1)
        operations = self.operations()
        self.assertAlmostEqual(operations["forward"]["gpu_seconds"], 0.5, places=6)
        self.assertAlmostEqual(operations["backward"]["gpu_seconds"], 0.25, places=6)
        self.assertEqual(operations["forward"]["parent"], operations["backward"]["parent"])
        self.assertIsNotNone(operations["forward"]["parent"])
        self.assertEqual(len(self.lanes()), 2)

    def test_current_stream(self):
        with mock.patch.object(assay._torch, "torch", Torch):
            for keywords in ({"stream": "current"}, {"stream": True}, {"device": 0}, {"device": "cuda:1"}):
                with self.monitor.track("forward", **keywords):
                    self.work(0.25, OTHER if "cuda:1" in keywords.values() else STREAM)
            with self.monitor.track("forward", device="cpu"):
                pass
        self.driver.fake_advance(1)
        self.assertEqual(self.operations()["forward"]["gpu_spans"], 4)
        self.assertEqual(len(self.lanes()), 2)

    def test_without_a_gpu_the_thread_is_measured(self):
        for torch in (lambda: None, lambda: Torch(initialized=False)):
            with mock.patch.object(assay._torch, "torch", torch):
                with self.monitor.track("forward", stream="current"):
                    pass
        with self.monitor.track("forward", stream=None, device=None):
            pass
        with self.monitor.track("forward", stream=False):
            pass
        self.assertEqual(self.operations()["forward"]["count"], 4)
        self.assertEqual(self.lanes(), [])

    def test_a_driver_that_is_loaded_later(self):
        done = subprocess.run([sys.executable, "-c", LATE, os.path.join(FAKE, "libcuda.so.1")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_is_no_stream(self):
        for stream in ("curent", 1.5, object(), [STREAM]):
            with self.assertRaisesRegex(TypeError, "stream must be a CUDA stream"):
                self.monitor.track("forward", stream=stream)
        with self.assertRaisesRegex(ValueError, "not both"):
            self.monitor.track("forward", stream=STREAM, device=0)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'steam'"):
            self.monitor.track("forward", steam=STREAM)
        with self.assertRaises(TypeError):
            self.monitor.track()
        with self.assertRaises(TypeError):
            self.monitor.track("forward", STREAM)
        self.assertEqual(self.operations(), {})

    def test_a_failing_torch_leaves_nothing_open(self):
        class Failing(Torch):
            def device(self, text):
                raise RuntimeError("no such device")
        with mock.patch.object(assay._torch, "torch", Failing):
            with self.assertRaisesRegex(RuntimeError, "no such device"):
                with self.monitor.track("forward", device="cuda:9"):
                    pass
        self.assertEqual(self.monitor.record().to_dict()["open_spans"], [])

    def test_errors_are_counted_and_go_on(self):
        with self.assertRaises(ZeroDivisionError):
            with self.monitor.track("forward", stream=STREAM):
                1 / 0
        self.driver.fake_advance(1)
        forward = self.operations()["forward"]
        self.assertEqual((forward["failed_spans"], forward["gpu_spans"]), (1, 1))

    def test_a_monitor_closed_within_a_block(self):
        with self.monitor.track("forward", stream=STREAM):
            self.monitor.close()
        self.assertEqual(self.driver.fake_live_events(), 0)
        with self.assertRaises(ValueError):
            self.monitor.track("forward", stream=STREAM)

    def test_blocks_that_end_out_of_order(self):
        first, second = self.monitor.track("first", stream=STREAM), self.monitor.track("second", stream=STREAM)
        first.__enter__()
        with self.assertRaisesRegex(RuntimeError, "open already"):
            first.__enter__()
        second.__enter__()
        self.work(0.5)
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        second.__exit__(None, None, None)
        self.driver.fake_advance(1)
        operations = self.operations()
        self.assertEqual([operations[name]["gpu_spans"] for name in ("first", "second")], [1, 1])

    def test_tasks(self):
        async def step(name, stream):
            async with self.monitor.track(name, stream=stream):
                self.work(0.25, stream)
                await asyncio.sleep(0)

        async def both():
            await asyncio.gather(step("one", STREAM), step("two", OTHER))
        asyncio.run(both())
        self.driver.fake_advance(1)
        operations = self.operations()
        self.assertEqual([operations[name]["gpu_spans"] for name in ("one", "two")], [1, 1])

    def test_waiting(self):
        with self.monitor.track("forward", stream=STREAM):
            self.work(5)
        self.assertEqual(self.monitor.resolve_gpu(0), 1)
        self.assertEqual(self.monitor.resolve_gpu(seconds=0.005), 1)
        self.driver.fake_advance(6)
        self.assertEqual(self.monitor.resolve_gpu(), 0)
        self.assertEqual(self.operations()["forward"]["gpu_spans"], 1)

    def test_a_disabled_monitor(self):
        with contextlib.closing(assay.Monitor(enabled=False)) as monitor:
            with monitor.track("forward", stream=STREAM) as span:
                pass
            self.assertIsNone(span.seconds)


if __name__ == "__main__":
    unittest.main()
