"""Seed B, the timing utilities: its examples, and what they promise."""
import csv
import json
import math
import time
import unittest

import seed_examples
from seed_examples import Examples

pandas = seed_examples.optional("pandas")
torch = seed_examples.optional("torch")


def work(*args):
    time.sleep(0.002)
    return args


STAND_INS = {"train_function": work, "train_fn": work, "args": 1, "arg1": 1, "arg2": 2, "run_mlp_tests": work, "run_siren_tests": work,
             "run_kan_grid_tests": lambda *args: (args, "models"), "datasets": [1, 2], "depths": [2], "activations": ["tanh"], "epochs": 3,
             "grids": [3], "device": "cpu", "func_that_returns_three_things": lambda args: (1, 2, 3)}


class Core(Examples):
    def test_quick_start(self):
        printed = self.run_example('''
            from utils import track_time, print_timing_summary

            timers = {}
            results = track_time(timers, "Model Training", train_function, arg1, arg2)
            print_timing_summary(timers, "My Experiment")
            ''', **STAND_INS)
        self.assert_shows(printed, '''
            Model Training complete: 0.00s total
            ============================================================
            TIMING SUMMARY - My Experiment
            ============================================================
            Model Training:              0.00s (100.0%)
            ------------------------------------------------------------
            Total time:                  0.00s
            ============================================================
            ''')
        self.assertEqual(self.names["results"], (1, 2))
        self.assertIsInstance(self.names["timers"]["Model Training"], float)

    def test_track_time_prints(self):
        printed = self.run_example('''
            from utils import track_time
            timers = {}
            result = track_time(timers, "MLP training", run_mlp_tests, datasets, depths, activations, epochs, device)
            ''', **STAND_INS)
        self.assert_shows(printed, "MLP training complete: 45.32s total")

    def test_summary(self):
        printed = self.run_example('''
            from utils import print_timing_summary
            timers = {"MLP training": 125.45, "SIREN training": 89.32, "KAN training": 102.67}
            print_timing_summary(timers, "Section 1.1", num_datasets=9)
            ''')
        self.assert_shows(printed, '''
            ============================================================
            TIMING SUMMARY - Section 1.1
            ============================================================
            MLP training:              125.45s ( 35.2%)
            SIREN training:             89.32s ( 25.1%)
            KAN training:              102.67s ( 28.8%)
            ------------------------------------------------------------
            Total time:                317.44s
            Average per dataset:        35.27s
            ============================================================
            ''')
        self.assertIn("Total time:                317.44s\nAverage per dataset:        35.27s\n", printed)

    def test_after(self):
        self.run_example('''
            from utils import track_time, print_timing_summary
            timers = {}
            mlp_results = track_time(timers, "MLP", run_mlp_tests, ...)
            siren_results = track_time(timers, "SIREN", run_siren_tests, ...)
            kan_results, models = track_time(timers, "KAN", run_kan_grid_tests, ...)
            print_timing_summary(timers, "Section 1.1", num_datasets=len(datasets))
            ''', **STAND_INS)
        self.assertEqual(list(self.names["timers"]), ["MLP", "SIREN", "KAN"])

    def test_several_results(self):
        self.run_example('''
            from utils import track_time
            timers = {}
            result1, result2, result3 = track_time(timers, "name", func_that_returns_three_things, args)
            ''', **STAND_INS)
        self.assertEqual(self.names["result3"], 3)

    def test_nested_calls_are_part_of_the_outer_one(self):
        printed = self.run_example('''
            from assay.timing import track_time, print_timing_summary
            timers = {}
            def outer():
                track_time(timers, "inner", train_fn)
            track_time(timers, "outer", outer)
            print_timing_summary(timers, "nested")
            ''', **STAND_INS)
        self.assertIn("\nouter:", printed)
        self.assertIn("\n  inner:", printed)
        timers = self.names["timers"]
        self.assertEqual(timers["inner"].inside, "outer")
        self.assertIsNone(timers["outer"].inside)
        self.assertGreaterEqual(timers["outer"], timers["inner"])

    def test_bad_input(self):
        from assay import timing
        failed = {}
        with self.assertRaises(ZeroDivisionError):
            timing.track_time(failed, "x", lambda: 1 / 0)
        self.assertEqual(failed, {})
        for timers in ({"a": "b"}, {"a": {"time": "b"}}, {3: 1.0}, [1.0]):
            with self.assertRaises(TypeError):
                timing.print_timing_summary(timers, "x")
        with self.assertRaisesRegex(ValueError, "finite and not negative"):
            timing.print_timing_summary({"a": -1.0}, "x")
        with self.assertRaisesRegex(TypeError, "pass the function and its arguments"):
            timing.track_time({}, "x", 5)
        with self.assertRaisesRegex(TypeError, "name of a timer"):
            timing.track_time({}, 5, work)
        with self.assertRaisesRegex(ValueError, "is inside itself"):
            timing.print_timing_summary({"a": {"time": 1.0, "inside": "b"}, "b": {"time": 1.0, "inside": "a"}}, "x")


class Features(Examples):
    def test_memory(self):
        printed = self.run_example('''
            from utils.timing import track_time_and_memory, enable_memory_tracking

            enable_memory_tracking()  # Start tracemalloc

            timers = {}
            result = track_time_and_memory(timers, "Model", train_fn, args)
            ''', **STAND_INS)
        self.assert_shows(printed, "Model complete: 45.32s, peak memory: 234.5 MB")
        self.assertEqual(list(self.names["timers"]["Model"]), ["time", "peak_memory_mb", "current_memory_mb"])

    def test_memory_is_that_of_the_call(self):
        from assay import timing
        timers = {}
        timing.track_time_and_memory(timers, "small", work)
        timing.track_time_and_memory(timers, "large", lambda: len(b"x" * 200_000_000))
        grown = timers["large"]["peak_memory_mb"] - timers["small"]["peak_memory_mb"]
        self.assertGreater(grown, 150)
        self.assertLess(timers["large"]["current_memory_mb"], timers["large"]["peak_memory_mb"] - 150)

    def test_gpu(self):
        printed = self.run_example('''
            from utils.timing import track_time_and_gpu, get_gpu_memory_usage

            timers = {}
            result = track_time_and_gpu(timers, "KAN training", train_fn, args)
            gpu_stats = get_gpu_memory_usage()
            ''', **STAND_INS)
        entry, stats = self.names["timers"]["KAN training"], self.names["gpu_stats"]
        keys = {"allocated_mb", "reserved_mb", "max_allocated_mb"}
        self.assertLessEqual({"time", *keys}, set(entry))
        self.assertLessEqual(keys, set(stats))
        if torch is not None and torch.cuda.is_available():
            self.assert_shows(printed, "KAN training complete: 12.45s, GPU peak: 1024.3 MB")
            self.assertNotIn("unavailable", entry)
        else:
            self.assert_shows(printed, "KAN training complete: 12.45s, GPU: not available")
            self.assertTrue(all(math.isnan(entry[key]) and entry["unavailable"][key] for key in keys))
            self.assertTrue(all(math.isnan(stats[key]) and stats["unavailable"][key] for key in keys))

    def test_convergence(self):
        self.run_example('''
            from utils.timing import calculate_convergence_metrics
            metrics = calculate_convergence_metrics(results, threshold=0.01)
            ''', results={"losses": [1.0, 0.1, 0.01, 0.001], "epoch_times": [2.0, 1.0, 1.0, 1.0]})
        metrics = self.names["metrics"]
        self.assertEqual((metrics["epochs_to_converge"], metrics["time_to_converge"]), (3, 4.0))

    def test_convergence_of_other_results(self):
        from assay.timing import calculate_convergence_metrics as metrics_of
        self.assertEqual(metrics_of([{"loss": 1, "time": 2}, {"loss": 0.001, "time": 3}])["time_to_converge"], 5.0)
        never = metrics_of([1.0, 0.5])
        self.assertTrue(math.isnan(never["epochs_to_converge"]))
        self.assertEqual(never["unavailable"]["epochs_to_converge"], "not enough data")
        self.assertEqual(metrics_of({"MLP": [0.001], "KAN": {"loss": [1, 0.0]}})["KAN"]["epochs_to_converge"], 2)
        with self.assertRaisesRegex(ValueError, "no losses"):
            metrics_of({"accuracy": 3})

    @unittest.skipUnless(pandas, "no pandas")
    def test_convergence_of_a_table(self):
        from assay.timing import calculate_convergence_metrics
        table = pandas.DataFrame({"epoch": [1, 2], "loss": [1.0, 0.001], "time": [2.0, 3.0]})
        self.assertEqual(calculate_convergence_metrics(table)["time_to_converge"], 5.0)

    def test_speedup(self):
        printed = self.run_example('''
            from utils.timing import calculate_speedup_ratios, print_speedup_analysis

            timers = {'MLP': 120.0, 'SIREN': 90.0, 'KAN': 150.0}

            # Get speedup ratios (relative to slowest = KAN)
            speedups = calculate_speedup_ratios(timers)
            # Returns: {'MLP': 1.25, 'SIREN': 1.67, 'KAN': 1.0}

            # Or print formatted analysis
            print_speedup_analysis(timers, baseline='KAN')
            ''')
        self.assertEqual(printed, '''\
============================================================
SPEEDUP ANALYSIS
============================================================
Baseline: KAN (150.00s)
------------------------------------------------------------
SIREN                :  1.67x faster
MLP                  :  1.25x faster
============================================================
''')
        self.assertEqual({name: round(ratio, 2) for name, ratio in self.names["speedups"].items()},
                         {"MLP": 1.25, "SIREN": 1.67, "KAN": 1.0})
        with self.assertRaisesRegex(ValueError, "no timer is called 'RNN'"):
            self.run_example("print_speedup_analysis(timers, baseline='RNN')", **self.names)

    def test_detailed_timer(self):
        printed = self.run_example('''
            from utils.timing import DetailedTimer

            timer = DetailedTimer("Training")

            timer.start_phase("data_loading")
            # ... load data ...
            timer.end_phase()

            timer.start_phase("forward_pass")
            sleep(0.005)
            timer.end_phase()

            timer.start_phase("backward_pass")
            sleep(0.02)
            timer.end_phase()

            timer.print_breakdown()
            ''', sleep=time.sleep)
        self.assert_shows(printed, '''
            Training - Detailed Breakdown:
            ----------------------------------------
              backward_pass       :    12.45s ( 55.2%)
              forward_pass        :     8.34s ( 37.0%)
              data_loading        :     1.76s (  7.8%)
            ----------------------------------------
            ''')
        with self.assertRaisesRegex(RuntimeError, "start_phase"):
            self.names["timer"].end_phase()

    def test_export(self):
        self.run_example('''
            from utils.timing import export_timing_csv, export_timing_json

            timers = {'MLP': 120.0, 'SIREN': 90.0, 'KAN': 150.0}

            # Export to CSV
            export_timing_csv(timers, 'sec1_timing.csv', section_name='Section 1.1')
            # Creates: sec1_timing.csv with columns [Section, Model, Time (s)]

            # Export to JSON (supports nested dictionaries for advanced metrics)
            export_timing_json(timers, 'sec1_timing.json', section_name='Section 1.1')
            ''')
        with open("sec1_timing.csv", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[:2], [["Section", "Model", "Time (s)"], ["Section 1.1", "MLP", "120"]])
        with open("sec1_timing.json") as file:
            saved = json.load(file)
        self.assertEqual(saved["timings"], self.names["timers"])
        self.assertIn("timestamp", saved)

    def test_nested_timers_are_exported_as_they_are(self):
        from assay.timing import export_timing_json
        timers = {"Model": {"time": 45.32, "peak_memory_mb": 234.5, "current_memory_mb": 123.4}, "KAN": 1.0}
        export_timing_json(timers, "timers.json")
        with open("timers.json") as file:
            self.assertEqual(json.load(file)["timings"], timers)

    def test_reasons_are_exported(self):
        from assay.timing import export_timing_json
        export_timing_json({"KAN": {"time": 1.0, "allocated_mb": math.nan, "unavailable": {"allocated_mb": "unsupported"}}}, "timers.json")
        with open("timers.json") as file:
            entry = json.load(file)["timings"]["KAN"]
        self.assertEqual((entry["allocated_mb"], entry["unavailable"]), (None, {"allocated_mb": "unsupported"}))

    def test_threads(self):
        from concurrent.futures import ThreadPoolExecutor
        from assay.timing import track_time_and_memory
        timers = {}
        with ThreadPoolExecutor(8) as pool:
            for number in range(64):
                pool.submit(track_time_and_memory, timers, f"job {number}", time.sleep, 0.001 * (number % 8))
        self.assertEqual(len(timers), 64)
        for number in range(64):
            self.assertGreaterEqual(timers[f"job {number}"]["time"], 0.001 * (number % 8))

    def check_inference(self, model, test_input):
        printed = self.run_example('''
            from utils.timing import benchmark_inference, print_inference_benchmark

            # Benchmark a trained model
            results = benchmark_inference(model, test_input, num_iterations=100, warmup=10)
            # {'mean_ms': 2.345, 'min_ms': 2.123, 'max_ms': 3.456, 'throughput_samples_per_sec': 426.3}

            # Or print formatted results
            print_inference_benchmark(model, test_input, model_name="KAN")
            ''', model=model, test_input=test_input)
        self.assert_shows(printed, '''
            KAN Inference Benchmark:
            ----------------------------------------
              Mean latency:        2.345 ms
              Min latency:         2.123 ms
              Max latency:         3.456 ms
              Throughput:          426.3 samples/sec
            ----------------------------------------
            ''')
        results = self.names["results"]
        self.assertEqual(list(results), ["mean_ms", "min_ms", "max_ms", "throughput_samples_per_sec"])
        self.assertLessEqual(results["min_ms"], results["mean_ms"])
        return results

    def test_inference(self):
        calls = []
        results = self.check_inference(lambda numbers: calls.append(sum(numbers)), [1, 2, 3, 4])
        self.assertEqual(len(calls), 220)
        self.assertAlmostEqual(results["throughput_samples_per_sec"], 4e3 / results["mean_ms"], delta=1e-6 * 4e3 / results["mean_ms"])

    def test_latencies_are_milliseconds(self):
        from assay.timing import benchmark_inference
        results = benchmark_inference(time.sleep, 0.002, num_iterations=5, warmup=0)
        self.assertGreaterEqual(results["min_ms"], 2)
        self.assertLess(results["min_ms"], 2000)
        self.assertGreaterEqual(results["max_ms"], results["mean_ms"])
        self.assertAlmostEqual(results["throughput_samples_per_sec"] * results["mean_ms"], 1000, delta=1)

    @unittest.skipUnless(torch, "no torch")
    def test_inference_of_torch(self):
        seen = []

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, 2)

            def forward(self, x):
                seen.append((self.training, torch.is_grad_enabled()))
                return self.layer(x)
        model = Model()
        self.check_inference(model, torch.zeros(5, 3))
        self.assertEqual(set(seen), {(False, False)})
        self.assertTrue(model.training and model.layer.training)

    def test_warmup(self):
        printed = self.run_example('''
            from utils.timing import track_warmup_timing, print_warmup_analysis

            # After training, analyze warmup overhead
            epoch_times = [5.2, 3.1, 3.0, 3.1, 3.0, 2.9]  # Per-epoch timings
            stats = track_warmup_timing(total_epochs=6, epoch_times=epoch_times)

            # Or print formatted analysis
            print_warmup_analysis(stats, model_name="MLP")
            ''')
        self.assertEqual(printed, '''\
MLP - Warmup Analysis:
----------------------------------------
  First epoch:           5.200s
  Steady state:          3.020s
  Warmup overhead:       2.180s ( 72.2%)
----------------------------------------
''')
        self.assertEqual({key: round(value, 2) for key, value in self.names["stats"].items()},
                         {"first_epoch_time": 5.2, "avg_steady_state_time": 3.02, "warmup_overhead": 2.18, "warmup_overhead_pct": 72.19})

    def test_one_epoch_has_no_steady_state(self):
        from assay.timing import print_warmup_analysis, track_warmup_timing
        stats = track_warmup_timing(1, [2.0])
        self.assertTrue(math.isnan(stats["warmup_overhead"]))
        self.assertIn("warmup_overhead", stats["unavailable"])
        print_warmup_analysis(stats)
        with self.assertRaisesRegex(ValueError, "only 1 epochs"):
            track_warmup_timing(1, [2.0, 3.0])

    def test_together(self):
        printed = self.run_example('''
            from utils import track_time, print_timing_summary
            from utils.timing import (
                track_time_and_gpu,
                print_speedup_analysis,
                export_timing_json
            )

            # Track with GPU metrics
            timers = {}
            mlp_results = track_time_and_gpu(timers, "MLP", run_mlp_tests, datasets, depths, activations, epochs, device)
            siren_results = track_time_and_gpu(timers, "SIREN", run_siren_tests, datasets, depths, epochs, device)
            kan_results, models = track_time_and_gpu(timers, "KAN", run_kan_grid_tests, datasets, grids, epochs, device)

            # Print summary
            print_timing_summary(timers, "Section 1.1", num_datasets=9)

            # Analyze speedups
            print_speedup_analysis(timers, baseline='KAN')

            # Export for later analysis
            export_timing_json(timers, 'sec1_1_timings.json', section_name='Section 1.1')
            ''', **STAND_INS)
        self.assertIn("TIMING SUMMARY - Section 1.1", printed)
        self.assertIn("Baseline: KAN", printed)
        with open("sec1_1_timings.json") as file:
            self.assertEqual(set(json.load(file)["timings"]), {"MLP", "SIREN", "KAN"})


if __name__ == "__main__":
    unittest.main()
