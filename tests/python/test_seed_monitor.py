"""Seed C, performance monitoring: its examples, and what they promise."""
import asyncio
import csv
import math
import sys
import time
import unittest
import warnings

import seed_examples
from seed_examples import Examples

torch = seed_examples.optional("torch")
pandas = seed_examples.optional("pandas")


class Loss:
    """A tensor of one number."""

    def __init__(self, value=0.5):
        self.value = value

    def backward(self):
        time.sleep(0.0005)

    def __float__(self):
        return self.value


def work(*args):
    time.sleep(0.002)
    return args


STAND_INS = {"load_large_dataset": work, "load_data": work, "preprocess": work, "model": work, "post_process": work, "expensive_function": work,
             "dataloader": [1, 2, 3], "loss": Loss(), "epochs": 2, "data": 1, "result": 7}

SUMMARY = '''
    ==========================================================================================
    PERFORMANCE SUMMARY
    ==========================================================================================
    Operation                      Time (s)     CPU (MB)        GPU (MB)        GPU Peak
    ------------------------------------------------------------------------------------------
    data loading                        0.450         +523.1           n/a         n/a
    preprocessing                       0.120         +128.5           n/a         n/a
    model forward                       0.850          +45.2           n/a         n/a
    ------------------------------------------------------------------------------------------
    TOTAL                               1.420s
    ==========================================================================================
    '''


def has_gpu():
    return torch is not None and torch.cuda.is_available()


class Monitor(Examples):
    def test_summary(self):
        printed = self.run_example('''
            from src.utils.memory_monitor import PerformanceMonitor

            monitor = PerformanceMonitor()

            with monitor.track("data loading"):
                data = load_large_dataset()

            with monitor.track("preprocessing"):
                data = preprocess(data)

            with monitor.track("model forward"):
                output = model(data)

            monitor.print_summary()
            ''', **STAND_INS)
        self.assert_shows(printed, SUMMARY.replace("n/a", "0.0") if has_gpu() else SUMMARY)

    def test_aggregate(self):
        printed = self.run_example('''
            from src.utils.memory_monitor import PerformanceMonitor
            monitor = PerformanceMonitor()

            for epoch in range(10):
                for batch in dataloader:
                    with monitor.track("batch_forward", aggregate=True):
                        output = model(batch)

                    with monitor.track("batch_backward", aggregate=True):
                        loss.backward()

            monitor.print_summary(show_aggregate=True)
            ''', **STAND_INS)
        self.assert_shows(printed[printed.index("=" * 90 + "\nAGGREGATE"):], '''
            ==========================================================================================
            AGGREGATE STATISTICS (for repeated operations)
            ==========================================================================================
            Operation                      Count    Total (s)    Mean (s)     Min (s)      Max (s)
            ------------------------------------------------------------------------------------------
            batch_forward                  150      15.234       0.102        0.085        0.425
            batch_backward                 150       8.451       0.056        0.048        0.112
            ==========================================================================================
            ''')
        self.assertIn("batch_forward                  30 ", printed)
        metrics = self.names["monitor"].get_metrics()
        self.assertEqual([(metric.operation, metric.count) for metric in metrics], [("batch_forward", 30), ("batch_backward", 30)])

    def test_track_performance(self):
        printed = self.run_example('''
            from src.utils.memory_monitor import track_performance

            with track_performance("critical_operation"):
                result = expensive_function()
            ''', **STAND_INS)
        first = printed.splitlines()[0]
        self.assert_shows(first, "[Performance] critical_operation: 1.234s, CPU +250.5MB" + (", GPU +512.0MB" if has_gpu() else ""))

    def test_decorator(self):
        printed = self.run_example('''
            from src.utils.memory_monitor import monitor_performance

            @monitor_performance("data processing")
            def process_batch(batch):
                # ... processing code ...
                return result

            # Automatically prints timing when called
            result = process_batch(data)
            ''', **STAND_INS)
        self.assert_shows(printed.splitlines()[0], "[Performance] data processing: 1.234s, CPU +250.5MB" + (", GPU +0.0MB" if has_gpu() else ""))
        self.assertEqual((self.names["result"], self.names["process_batch"].__name__), (7, "process_batch"))

    def test_api_reference(self):
        self.run_example('''
            from src.utils.memory_monitor import PerformanceMonitor, track_performance, monitor_performance
            monitor = PerformanceMonitor(enabled=True, device=0)

            with monitor.track("operation_name", aggregate=False):
                # ... code to profile ...
                pass

            monitor.print_summary(show_aggregate=True)
            total = monitor.get_total_time()  # Total time across all operations
            one = monitor.get_operation_time("operation_name")  # Time for specific op
            monitor.clear()  # Reset all metrics

            # Context manager
            with track_performance("operation", print_result=True, device=0):
                # ... code ...
                pass

            # Decorator
            @monitor_performance("operation", device=0)
            def my_function():
                # ... code ...
                pass
            my_function()
            ''')
        self.assertEqual(self.names["total"], self.names["one"])
        self.assertEqual(self.names["monitor"].get_metrics(), [])
        self.assertEqual(self.names["monitor"].get_total_time(), 0.0)

    def test_memory_of_a_block(self):
        from assay.memory_monitor import PerformanceMonitor, track_performance
        monitor = PerformanceMonitor()
        with monitor.track("large"):
            kept = b"x" * 100_000_000
        with track_performance("freed", print_result=False) as metrics:
            del kept
        self.assertAlmostEqual(monitor.get_metrics()[0].cpu_delta_mb, 95.4, delta=5)
        self.assertAlmostEqual(metrics.cpu_delta_mb, -95.4, delta=5)
        if not has_gpu():
            self.assertTrue(math.isnan(metrics.gpu_delta_mb))
            self.assertEqual(metrics.unavailable["gpu_delta_mb"], "unsupported")

    def test_exceptions_go_on(self):
        from assay.memory_monitor import PerformanceMonitor, monitor_performance, track_performance
        monitor = PerformanceMonitor()
        with self.assertRaises(KeyError), monitor.track("fails"):
            raise KeyError
        with self.assertRaises(KeyError), track_performance("fails", print_result=False):
            raise KeyError
        self.assertEqual(len(monitor.get_metrics()), 1)
        with self.assertRaisesRegex(TypeError, "needs a name"):
            monitor_performance(lambda: None)
        with self.assertRaises(TypeError):
            monitor.track(5)

    def test_a_disabled_monitor_is_nothing(self):
        from assay.memory_monitor import PerformanceMonitor
        monitor = PerformanceMonitor(enabled=False)
        with monitor.track("x"), monitor.track("y", aggregate=True):
            pass
        self.assertEqual((self.run_example("monitor.print_summary()", monitor=monitor), monitor.get_metrics()), ("", []))
        self.assertTrue(math.isnan(monitor.get_total_time()))

    def test_coroutines(self):
        printed = self.run_example('''
            from assay.memory_monitor import monitor_performance
            import asyncio

            @monitor_performance("waiting")
            async def wait():
                await asyncio.sleep(0.01)
                return 3
            result = asyncio.run(wait())
            ''')
        self.assertRegex(printed, r"waiting: 0\.0[1-9]")
        self.assertEqual(self.names["result"], 3)


class Bottlenecks(Examples):
    def test_compare_operations(self):
        printed = self.run_example('''
            from src.utils.memory_monitor import PerformanceMonitor
            monitor = PerformanceMonitor()

            with monitor.track("data_loading"):
                data = load_data()

            with monitor.track("preprocessing"):
                data = preprocess(data)

            with monitor.track("model_forward"):
                output = model(data)

            with monitor.track("post_processing"):
                result = post_process(output)

            monitor.print_summary()

            # Analyze
            total_time = monitor.get_total_time()
            for metric in monitor.get_metrics():
                percentage = (metric.duration_seconds / total_time) * 100
                if percentage > 50:
                    print(f"⚠️  BOTTLENECK: {metric.operation} ({percentage:.1f}%)")
                elif percentage > 20:
                    print(f"⚡ Consider optimizing: {metric.operation} ({percentage:.1f}%)")
            ''', **{**STAND_INS, "model": lambda data: time.sleep(0.03)})
        self.assertIn("BOTTLENECK: model_forward", printed)

    def test_variance(self):
        printed = self.run_example('''
            from src.utils.memory_monitor import EpochPerformanceMonitor
            monitor = EpochPerformanceMonitor(enabled=True)

            monitor.on_epoch_start()
            for batch_idx in range(4):
                monitor.on_batch_start(batch_idx)
                sleep(0.02 if batch_idx == 0 else 0.001)
                monitor.on_batch_end(batch_idx)
            monitor.on_epoch_end()

            # After training
            stats = monitor.get_statistics()

            print(f"Average batch time: {stats['avg_batch_time']:.3f}s")
            print(f"Min batch time: {stats['min_batch_time']:.3f}s")
            print(f"Max batch time: {stats['max_batch_time']:.3f}s")

            # High variance = inconsistent performance
            variance_ratio = stats['max_batch_time'] / stats['min_batch_time']
            if variance_ratio > 2.0:
                print(f"⚠️  High variance ({variance_ratio:.1f}x) - investigate outliers!")
            ''', sleep=time.sleep)
        self.assertIn("High variance", printed)

    def test_configurations(self):
        printed = self.run_example('''
            from src.utils.memory_monitor import PerformanceMonitor
            results = {}

            for batch_size in [8, 16, 32, 64]:
                monitor = PerformanceMonitor()

                with monitor.track(f"batch_size_{batch_size}"):
                    train_with_batch_size(batch_size)

                results[batch_size] = monitor.get_total_time()

            # Find optimal batch size
            optimal = min(results, key=results.get)
            print(f"Optimal batch size: {optimal} ({results[optimal]:.3f}s)")
            ''', train_with_batch_size=lambda size: time.sleep(0.001 if size == 32 else 0.02))
        self.assert_shows(printed, "Optimal batch size: 32 (1.234s)")
        self.assertIn("size: 32 ", printed)

    @unittest.skipUnless(pandas, "no pandas")
    def test_pandas(self):
        self.run_example('''
            from src.utils.memory_monitor import PerformanceMonitor
            monitor = PerformanceMonitor()

            with monitor.track("experiment"):
                pass

            # Export to pandas for analysis
            import pandas as pd
            metrics_df = pd.DataFrame([
                {
                    'operation': m.operation,
                    'time': m.duration_seconds,
                    'cpu_mb': m.cpu_delta_mb,
                    'gpu_mb': m.gpu_delta_mb
                }
                for m in monitor.get_metrics()
            ])

            metrics_df.to_csv('performance_metrics.csv')
            ''')
        with open("performance_metrics.csv", newline="") as file:
            self.assertEqual(next(csv.reader(file)), ["", "operation", "time", "cpu_mb", "gpu_mb"])


class Epochs(Examples):
    LOOP = '''
        from src.utils.memory_monitor import EpochPerformanceMonitor

        monitor = EpochPerformanceMonitor(enabled=True, verbose_batches=5)

        for epoch in range(epochs):
            monitor.on_epoch_start()

            for batch_idx, batch in enumerate(dataloader):
                monitor.on_batch_start(batch_idx)

                # ... training code ...

                monitor.on_batch_end(batch_idx, loss)

            monitor.on_epoch_end()
        '''

    def test_training_loop(self):
        printed = self.run_example(self.LOOP, **{**STAND_INS, "epochs": 1, "dataloader": range(6)})
        # Where PyTorch has a GPU, the lines show its memory as the seed's do.
        torch = sys.modules.get("torch")
        gpu = torch is not None and torch.cuda.is_available()
        memory = "GPU 23.1MB, CPU 1648.9MB" if gpu else "CPU 1648.9MB"
        batches = "".join(f"Batch {i}: 0.5s, {memory}, loss=0.009458\n" for i in range(5))
        self.assert_shows(printed, batches + f'''\
Epoch end: 4.774s total, {"GPU 14.4MB, 3236MB reserved" if gpu else "CPU 14.4MB"}, peak 2880MB
Batch timing: avg=0.201s, min=0.082s, max=0.538s
''')
        self.assertIn("  Batch 4: ", printed)
        self.assertIn("loss=0.500000", printed)

    def test_statistics(self):
        self.run_example(self.LOOP + '''
        stats = monitor.get_statistics()
        ''', **STAND_INS)
        stats = self.names["stats"]
        self.assertEqual(list(stats), ["total_epoch_time", "avg_epoch_time", "total_batch_time", "avg_batch_time", "min_batch_time",
                                       "max_batch_time", "num_batches", "num_epochs"])
        self.assertEqual((stats["num_batches"], stats["num_epochs"]), (6, 2))
        self.assertAlmostEqual(stats["avg_epoch_time"] * 2, stats["total_epoch_time"])

    def test_api_reference(self):
        self.run_example('''
            from src.utils.memory_monitor import EpochPerformanceMonitor
            monitor = EpochPerformanceMonitor(
                enabled=True,
                verbose_batches=5,
                device=0
            )

            monitor.on_epoch_start()
            monitor.on_batch_start(batch_idx)
            monitor.on_batch_end(batch_idx, loss=None)
            monitor.on_epoch_end()

            stats = monitor.get_statistics()
            ''', batch_idx=0)
        self.assertEqual(self.names["stats"]["num_batches"], 1)

    def test_nothing_yet(self):
        from assay.memory_monitor import EpochPerformanceMonitor
        stats = EpochPerformanceMonitor().get_statistics()
        self.assertTrue(math.isnan(stats["avg_batch_time"]))
        self.assertEqual(stats["unavailable"]["avg_batch_time"], "not enough data")

    def test_calls_out_of_order_warn_once(self):
        from assay.memory_monitor import EpochPerformanceMonitor
        monitor = EpochPerformanceMonitor()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            monitor.on_batch_end(0)
            monitor.on_epoch_end()
        self.assertEqual([warning.category for warning in caught], [RuntimeWarning])

    def test_losses(self):
        from assay.memory_monitor import EpochPerformanceMonitor
        monitor = EpochPerformanceMonitor(verbose_batches=0)
        for loss in (float("nan"), float("inf"), 3, Loss(), None):
            monitor.on_batch_start(0)
            monitor.on_batch_end(0, loss)
        with self.assertRaisesRegex(TypeError, "loss must be one number"):
            monitor.on_batch_end(0, "high")
        if torch:
            monitor.on_batch_start(0)
            monitor.on_batch_end(0, torch.ones((), requires_grad=True))

    def test_a_disabled_monitor_prints_nothing(self):
        printed = self.run_example(self.LOOP.replace("enabled=True", "enabled=False"), **STAND_INS)
        self.assertEqual((printed, self.names["monitor"].get_statistics()["num_batches"]), ("", 0))


if __name__ == "__main__":
    unittest.main()
