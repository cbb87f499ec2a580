"""The GPU's figures in the seeds' modules, with a GPU that is made up: what is asked for, and where it is shown."""
import contextlib
import io
import unittest
from unittest import mock

import assay._torch
from assay.memory_monitor import EpochPerformanceMonitor, PerformanceMonitor, track_performance
from assay.profiling import get_peak_memory, profile_memory_usage
from assay.timing import get_gpu_memory_usage, print_timing_summary, track_time_and_gpu

MB = 2**20


class Cuda:
    """torch.cuda of a GPU on which allocate() allocates."""

    def __init__(self):
        self.allocated = self.peak = 100 * MB
        self.waits = 0

    def allocate(self, size):
        self.allocated += size
        self.peak = max(self.peak, self.allocated)

    def synchronize(self, device=None):
        self.waits += 1

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


if __name__ == "__main__":
    unittest.main()
