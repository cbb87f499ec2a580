"""The GPU's figures in the modules of the seed documents, with a fake GPU: which figures are read, and where they are shown."""
import contextlib
import io
import math
import types
import unittest
from unittest import mock

import assay
import assay._torch
from assay.memory_monitor import EpochPerformanceMonitor, PerformanceMonitor, track_performance
from assay.profiling import RuntimeProfiler, get_peak_memory, profile_forward, profile_memory_usage, reset_memory_stats
from assay.timing import benchmark_inference, get_gpu_memory_usage, print_timing_summary, track_time_and_gpu

MB = 2**20


class Cuda:
    """torch.cuda of a GPU on which allocate() allocates."""

    def __init__(self):
        self.allocated = self.peak = 100 * MB
        self.waits = 0
        self.waited_for = []

    def device_count(self):
        return 2

    def current_device(self):
        return 0

    def allocate(self, size):
        self.allocated += size
        self.peak = max(self.peak, self.allocated)

    def synchronize(self, device=None):
        self.waits += 1
        self.waited_for.append(device)

    def reset_peak_memory_stats(self, device=None):
        self.peak = self.allocated

    def memory_allocated(self, device=None):
        return self.allocated

    def max_memory_allocated(self, device=None):
        return self.peak

    def memory_reserved(self, device=None):
        return 512 * MB


class Gpu(unittest.TestCase):
    def setUp(self):
        self.cuda = Cuda()
        patch = mock.patch.object(assay._torch, "cuda", lambda: self.cuda)
        patch.start()
        self.addCleanup(patch.stop)
        self.printed = io.StringIO()
        redirect = contextlib.redirect_stdout(self.printed)
        redirect.__enter__()
        self.addCleanup(redirect.__exit__, None, None, None)

    def work(self):
        self.cuda.allocate(300 * MB)
        self.cuda.allocate(-250 * MB)
        return 7

    def test_timers(self):
        timers = {}
        self.assertEqual(track_time_and_gpu(timers, "KAN", self.work), 7)
        entry = timers["KAN"]
        self.assertEqual((entry["allocated_mb"], entry["reserved_mb"], entry["max_allocated_mb"]), (150, 512, 400))
        self.assertNotIn("unavailable", entry)
        self.assertEqual(self.cuda.waits, 2)            # before and after the function
        self.assertRegex(self.printed.getvalue(), r"^KAN complete: .*s, GPU peak: 400\.0 MB\n$")
        self.assertEqual(get_gpu_memory_usage()["allocated_mb"], 150)
        print_timing_summary(timers, "section")

    def test_nested_timers(self):
        timers = {}
        track_time_and_gpu(timers, "outer", lambda: track_time_and_gpu(timers, "inner", self.work))
        self.assertEqual(timers["inner"]["inside"], "outer")

    def test_monitor(self):
        monitor = PerformanceMonitor()
        with monitor.track("forward"):
            self.work()
        with monitor.track("backward"):
            self.cuda.allocate(-50 * MB)
        with monitor.track("batch", aggregate=True):
            pass
        monitor.print_summary()
        metrics = monitor.get_metrics()
        self.assertEqual([(metric.gpu_delta_mb, metric.gpu_peak_mb) for metric in metrics[:2]], [(50, 400), (-50, 150)])
        self.assertRegex(self.printed.getvalue(), r"forward .* \+50\.0 +400\.0\n")
        self.assertRegex(self.printed.getvalue(), r"backward .* -50\.0 +150\.0\n")
        self.assertIn("AGGREGATE STATISTICS", self.printed.getvalue())

    def test_peaks_of_blocks_within_blocks(self):
        """Each block resets the allocator's only peak. The blocks around it keep what they have seen."""
        monitor, epochs, timers = PerformanceMonitor(), EpochPerformanceMonitor(device="cuda"), {}
        epochs.on_epoch_start()
        with monitor.track("step"):
            with monitor.track("forward"):
                self.work()
            with monitor.track("backward"):
                pass
        self.assertEqual({metric.operation: metric.gpu_peak_mb for metric in monitor.get_metrics()}, {"forward": 400, "backward": 150, "step": 400})
        with track_performance("validation", device="cuda:1"):      # another GPU
            pass

        def outer():
            self.work()
            track_time_and_gpu(timers, "inner", lambda: profile_memory_usage(lambda: None))
        track_time_and_gpu(timers, "outer", outer)
        self.assertEqual({name: entry["max_allocated_mb"] for name, entry in timers.items()}, {"inner": 200, "outer": 450})
        epochs.on_epoch_end()
        self.assertRegex(self.printed.getvalue(), r"Epoch end: .* peak 450MB\n")
        self.assertEqual(get_peak_memory(), 200)
        reset_memory_stats()
        with track_performance("block"):
            self.work()
        with track_performance("next"):
            pass
        self.assertEqual(get_peak_memory(), 500)

    def test_a_wait_that_fails_leaves_nothing_open(self):
        monitor = PerformanceMonitor()
        with self.assertRaisesRegex(RuntimeError, "device-side assert"):
            with monitor.track("forward"):
                self.cuda.synchronize = mock.Mock(side_effect=RuntimeError("device-side assert"))
        self.assertEqual(monitor.monitor.record().to_dict()["open_spans"], [])

    def test_one_block(self):
        with track_performance("critical_operation") as metrics:
            self.work()
        self.assertEqual((metrics.gpu_delta_mb, metrics.gpu_peak_mb, metrics.unavailable), (50, 400, {}))
        self.assertRegex(self.printed.getvalue(),
                         r"^\[Performance\] critical_operation: .*s, CPU .*MB, GPU \+50\.0MB\n +GPU peak: 400\.0MB\n$")

    def test_epochs(self):
        monitor = EpochPerformanceMonitor(verbose_batches=1)
        monitor.on_epoch_start()
        for batch in range(2):
            monitor.on_batch_start(batch)
            self.work()
            monitor.on_batch_end(batch, 0.5)
        monitor.on_epoch_end()
        self.assertRegex(self.printed.getvalue(), r"  Batch 0: .*s, GPU 150\.0MB, CPU .*MB, loss=0\.500000\n"
                                                  r"  Epoch end: .*s total, GPU 200\.0MB, 512MB reserved, peak 450MB\n")

    def test_other_devices(self):
        """What is no GPU has no figures of one; nor has a GPU that is not there, which gets one warning."""
        for device in ("cpu", "cuda:2", 7, -1):
            with self.subTest(device=device):
                with track_performance("block", print_result=False, device=device) as metrics:
                    self.work()
                self.assertTrue(math.isnan(metrics.gpu_delta_mb))
                self.assertIn("no GPU" if device == "cpu" else "PyTorch sees 2 GPUs", metrics.unavailable["gpu_delta_mb"])
                monitor = PerformanceMonitor(device=device)
                with monitor.track("forward"):
                    self.work()
                self.assertTrue(math.isnan(monitor.get_metrics()[0].gpu_delta_mb))
                epochs = EpochPerformanceMonitor(device=device)
                epochs.on_epoch_start()
                epochs.on_epoch_end()
        self.assertEqual(self.cuda.waits, 0)
        with self.assertRaisesRegex(ValueError, "cuda:one"):
            PerformanceMonitor(device="cuda:one").track("forward")

    def test_what_is_no_device(self):
        """A misspelt device is not taken for a processor: nobody would wait for the GPU, and the times would be too short."""
        nonsense = ("gpu", "CUDA:0", "", "cuda:", "cuda:-1", "cuda:1.5", "tpu", "cpu:x", 1.5, math.nan, b"cuda:0", [], {}, object())
        for gpu in (self.cuda, None):
            with mock.patch.object(assay._torch, "cuda", lambda gpu=gpu: gpu):
                for device in nonsense:
                    for call in (lambda: assay.bench(self.work, device=device), lambda: profile_memory_usage(self.work, device=device),
                                 lambda: PerformanceMonitor(device=device).track("forward"), lambda: EpochPerformanceMonitor(device=device),
                                 lambda: track_performance("block", device=device).__enter__(),
                                 lambda: assay.track("forward", device=device).__enter__()):
                        with self.subTest(device=device), self.assertRaisesRegex(ValueError, "a device is a number, .* not "):
                            call()
        self.assertEqual(assay.record().to_dict()["open_spans"], [])

        class Other:                                # torch.device of a further backend
            type = "custom"

            def __str__(self):
                return "custom:1"
        self.assertIsNone(assay._torch.index_of(Other()))
        self.assertIsNone(assay._torch.index_of("mps"))

    def test_warning(self):
        assay._torch._say_once.cache_clear()
        with self.assertLogs("assay", "WARNING") as logs:
            for _ in range(3):
                with track_performance("block", print_result=False, device=5):
                    pass
        self.assertEqual(len(logs.output), 1)
        self.assertIn("there is no device 5", logs.output[0])

    def test_the_device_is_waited_for(self):
        """Not the current one, but that of the model or of the argument."""
        for device in ("cuda:1", 1, "cuda"):
            monitor = PerformanceMonitor(device=device)
            with monitor.track("forward"):
                self.work()
            with track_performance("block", print_result=False, device=device):
                pass
            profile_memory_usage(self.work, device=device)
            assay.bench(self.work, runs=2, device=device)
            self.assertEqual(set(self.cuda.waited_for), {device})
            self.cuda.waited_for = []
        parameter = types.SimpleNamespace(is_cuda=True, device="cuda:1", requires_grad=False)

        class Model:
            def parameters(self):
                return [parameter]

            def __call__(self, batch):
                return batch
        profile_forward(Model(), 1, num_runs=2, warmup_runs=0)
        benchmark_inference(Model(), [1.0], num_iterations=2, warmup=0)
        self.assertIn("cuda:1", self.cuda.waited_for)

    def test_what_is_to_run_there_fails(self):
        for call in (lambda: assay.bench(self.work, device="cuda:2"), lambda: profile_memory_usage(self.work, device="cuda:2"),
                     lambda: get_peak_memory(9)):
            with self.assertRaisesRegex(RuntimeError, "there is no device .*: PyTorch sees 2 GPUs; use device=\"cpu\""):
                call()

    def test_a_gpu_that_fails(self):
        self.cuda.memory_reserved = lambda device=None: 1 / 0
        monitor = EpochPerformanceMonitor()
        monitor.on_epoch_start()
        with self.assertRaises(ZeroDivisionError):
            monitor.on_epoch_end()

    def test_memory_of_a_call(self):
        stats = profile_memory_usage(self.work, device="cuda:0")
        self.assertEqual((stats.peak_mb, stats.allocated_mb, stats.reserved_mb, stats.device), (400, 150, 512, "cuda:0"))
        self.assertEqual(get_peak_memory("cuda:0"), 400)
        self.assertEqual(profile_memory_usage(self.work, device="cpu").device, "cpu")


class NoGpu(unittest.TestCase):
    def test_everything_works_without(self):
        monitor = PerformanceMonitor(device=0)
        with monitor.track("forward"):
            pass
        self.assertTrue(math.isnan(monitor.get_metrics()[0].gpu_delta_mb))
        with self.assertRaisesRegex(RuntimeError, "there is no device 'cuda': "):
            assay.bench(lambda: None, device="cuda")
        with self.assertRaisesRegex(RuntimeError, "there is no device 'cuda': PyTorch finds no GPU here"):
            with mock.patch.object(assay._torch, "torch", lambda: mock.Mock(**{"cuda.is_available.return_value": False})):
                RuntimeProfiler(lambda batch: batch, device="cuda")


if __name__ == "__main__":
    unittest.main()
