"""Seed A, the runtime analysis: its examples, and what they promise."""
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import unittest

import seed_examples
from seed_examples import Examples

numpy = seed_examples.optional("numpy")
torch = seed_examples.optional("torch")


def train(data):
    time.sleep(0.01)
    return "model"


def forecast(z0, n_steps):
    total = 0.0
    for _ in range(n_steps):
        total += sum(z0)
    return total


STAND_INS = {"train_model": train, "train_my_model": train, "data": None, "mvar_forecast": forecast, "my_forecast_function": forecast,
             "initial_state": [0.5] * 20, "count_parameters": lambda model: 2020, "np": numpy}

MANUAL = '''
    from rectsim.runtime_analyzer import RuntimeAnalyzer

    analyzer = RuntimeAnalyzer()

    # 1. Time training
    with analyzer.time_operation('model_training') as timer:
        model = train_my_model(data)

    # 2. Benchmark inference
    inference_times = analyzer.benchmark_inference(
        forecast_fn=my_forecast_function,
        z0=initial_state,
        n_steps=100,
        n_trials=50,
        warmup_trials=5
    )

    # 3. Measure memory
    memory = analyzer.measure_memory(
        model_params=count_parameters(model),
        param_dtype=np.float64
    )

    # 4. Build complete profile
    profile = analyzer.build_profile(
        model_name='MyModel',
        training_time=timer.elapsed,
        inference_times=inference_times,
        model_params=count_parameters(model),
        latent_dim=20,
        n_forecast_steps=100,
        lag=5  # Model-specific kwargs
    )

    # 5. Save
    analyzer.save_profile(profile, 'my_profile.json')
    '''


def shape_of(value):
    """Its keys, and the kinds of its values."""
    if isinstance(value, dict):
        return {key: shape_of(part) for key, part in value.items()}
    return "number" if isinstance(value, (int, float)) else type(value).__name__


PROFILE = {"model_name": "str", "training": {"total_seconds": "number"},
           "inference": {part: dict.fromkeys(("mean_seconds", "std_seconds", "min_seconds", "max_seconds", "samples"), "number")
                         for part in ("single_step", "full_trajectory")},
           "memory": dict.fromkeys(("peak_mb", "current_mb", "model_parameters", "parameter_memory_mb"), "number"),
           "throughput": dict.fromkeys(("steps_per_second", "predictions_per_second", "seconds_per_step", "microseconds_per_step"), "number"),
           "complexity": {**dict.fromkeys(("total_parameters", "latent_dimension", "lag_order", "expected_parameters", "parameters_per_lag",
                                           "inference_flops_per_step"), "number"), "training_complexity": "str", "inference_complexity": "str"}}


class Profiles(Examples):
    def test_standalone(self):
        self.run_example('''
            from rectsim.runtime_analyzer import RuntimeAnalyzer, quick_benchmark

            # Create analyzer
            analyzer = RuntimeAnalyzer()

            # Time training
            with analyzer.time_operation('training') as timer:
                model = train_model(data)

            training_time = timer.elapsed

            # Benchmark inference
            profile = quick_benchmark(
                model_name='MVAR',
                forecast_fn=mvar_forecast,
                z0=initial_state,
                training_time=training_time,
                model_params=2020,
                latent_dim=20,
                n_steps=100,
                n_trials=50,
                lag=5
            )

            # Save results
            analyzer.save_profile(profile, output_dir / 'runtime_profile.json')
            ''', **STAND_INS, output_dir=pathlib.Path("."))
        with open("runtime_profile.json") as file:
            saved = json.load(file)
        self.assertEqual(shape_of(saved), PROFILE)
        self.assertEqual(saved, self.names["profile"].to_dict())
        self.assertEqual(saved["complexity"]["expected_parameters"], 2020)
        self.assertEqual(saved["complexity"]["inference_flops_per_step"], 4000)
        self.assertEqual(saved["memory"]["parameter_memory_mb"], 0.01616)
        self.assertGreater(saved["training"]["total_seconds"], 0.0099)
        steps = saved["throughput"]["seconds_per_step"] * 100
        self.assertAlmostEqual(steps, saved["inference"]["full_trajectory"]["mean_seconds"])

    def test_throughput(self):
        from assay.runtime_analyzer import RuntimeAnalyzer
        analyzer = RuntimeAnalyzer()
        times = analyzer.benchmark_inference(forecast, [0.5] * 20, n_steps=10, n_trials=2, warmup_trials=0)
        throughput = analyzer.compute_throughput(times, 10, 20)
        self.assertEqual(throughput, analyzer.compute_throughput(times["full_trajectory"], 10, 20))
        self.assertAlmostEqual(throughput["seconds_per_step"] * 10, times["full_trajectory"].mean_seconds)
        with self.assertRaisesRegex(TypeError, "benchmark_inference"):
            analyzer.compute_throughput(0.5, 10, 20)

    @unittest.skipUnless(numpy, "no numpy")
    def test_manual(self):
        self.run_example(MANUAL, **STAND_INS)
        with open("my_profile.json") as file:
            self.assertEqual(shape_of(json.load(file)), PROFILE)
        memory = self.names["memory"]
        self.assertEqual((memory.model_parameters, memory.parameter_memory_mb), (2020, 0.01616))
        self.assertGreaterEqual(memory.peak_mb, memory.current_mb)

    def test_compare(self):
        from assay.runtime_analyzer import TimingResult
        times = {"inference_times_a": TimingResult(1.0, 0.02, 0.001, 0.01, 0.03, 50), "inference_times_b": TimingResult(2.0, 0.04, 0.0, 0.04, 0.04, 50)}
        printed = self.run_example('''
            from rectsim.runtime_analyzer import RuntimeAnalyzer

            analyzer = RuntimeAnalyzer()

            # Profile model A
            profile_a = analyzer.build_profile(
                model_name='ModelA',
                training_time=train_time_a,
                inference_times=inference_times_a,
                model_params=params_a,
                latent_dim=20,
                n_forecast_steps=100
            )

            # Profile model B
            profile_b = analyzer.build_profile(
                model_name='ModelB',
                training_time=train_time_b,
                inference_times=inference_times_b,
                model_params=params_b,
                latent_dim=20,
                n_forecast_steps=100
            )

            # Compare
            comparison = analyzer.compare_models([profile_a, profile_b])
            analyzer.save_comparison(comparison, 'comparison.json')

            print(f"Training speedup: {comparison['training_time_ratio']['ModelB_vs_ModelA']:.2f}x")
            print(f"Inference speedup: {comparison['inference_speedup']['ModelB_vs_ModelA']:.2f}x")
            print(f"Winner (training): {comparison['winners']['fastest_training']}")
            ''', **times, train_time_a=12.5, train_time_b=25.0, params_a=2020, params_b=4040)
        self.assertEqual(printed, "Training speedup: 2.00x\nInference speedup: 0.50x\nWinner (training): ModelA\n")
        with open("comparison.json") as file:
            comparison = json.load(file)
        self.assertEqual(list(comparison), ["models", "training_time_ratio", "inference_speedup", "memory_ratio", "parameter_ratio", "winners"])
        self.assertEqual(comparison["memory_ratio"], {"ModelB_vs_ModelA": 2.0})
        self.assertEqual(comparison["winners"], {"fastest_training": "ModelA", "fastest_inference": "ModelA", "smallest_memory": "ModelA"})

    def test_statistics_are_numpys(self):
        from assay.runtime_analyzer import TimingResult
        result = TimingResult(6.0, 2.0, math.sqrt(2 / 3), 1.0, 3.0, 3)
        again = TimingResult._of(result._timing())
        self.assertAlmostEqual(again.std_seconds, result.std_seconds)
        self.assertEqual((again.mean_seconds, again.samples), (2.0, 3))

    def test_kinds_of_models(self):
        from assay.runtime_analyzer import RuntimeAnalyzer
        analyze = RuntimeAnalyzer().analyze_complexity
        self.assertEqual(analyze("MVAR", 2020, 20)["lag_order"], 5)                 # from the number of parameters
        self.assertNotIn("lag_order", analyze("MVAR", 2021, 20))
        lstm = analyze("LSTM", 1000, 20, hidden_size=16, num_layers=2)
        self.assertEqual((lstm["hidden_size"], lstm["num_layers"]), (16, 2))
        other = analyze("MyNet", 7, 3)
        self.assertIsNone(other["inference_flops_per_step"])
        self.assertIn("inference_flops_per_step", other["unavailable"])

    def test_missing_training_time(self):
        from assay.runtime_analyzer import RuntimeAnalyzer, TimingResult
        analyzer = RuntimeAnalyzer()
        timing = TimingResult(1.0, 0.02, 0.001, 0.01, 0.03, 50)
        profiles = [analyzer.build_profile(name, time, timing, 10, 2, 100) for name, time in (("A", float("nan")), ("B", 3.0))]
        comparison = analyzer.compare_models(profiles)
        self.assertIsNone(comparison["training_time_ratio"]["B_vs_A"])
        self.assertEqual(comparison["winners"]["fastest_training"], "B")
        analyzer.save_profile(profiles[0], "nan.json")
        with open("nan.json") as file:
            self.assertIsNone(json.load(file)["training"]["total_seconds"])

    def test_bad_input(self):
        from assay.runtime_analyzer import RuntimeAnalyzer, quick_benchmark
        analyzer = RuntimeAnalyzer()
        with self.assertRaises(ZeroDivisionError):
            analyzer.benchmark_inference(lambda z0, n: 1 / 0, None)
        for wrong in ({"n_steps": 0}, {"n_trials": 0}, {"warmup_trials": -1}):
            with self.assertRaises(ValueError):
                analyzer.benchmark_inference(forecast, [1.0], **wrong)
        with self.assertRaisesRegex(TypeError, "param_dtype"):
            analyzer.measure_memory(10, "flot32")
        with self.assertRaisesRegex(TypeError, "benchmark_inference"):
            analyzer.build_profile("A", 1.0, [1, 2], 10, 2)
        with self.assertRaisesRegex(ValueError, "two profiles"):
            analyzer.compare_models([])
        with self.assertRaisesRegex(RuntimeError, "has not begun"):
            analyzer.time_operation("x").elapsed
        with self.assertRaisesRegex(ValueError, "latent_dim"):
            quick_benchmark("A", forecast, [1.0], 1.0, 10, 0)


class Parameters(Examples):
    def test_mvar(self):
        from rectsim.runtime_analyzer import compute_mvar_params
        self.assertEqual(compute_mvar_params({"A_0": [0.0] * 3, "A_j": [[[0.0] * 3] * 3] * 2}), 21)
        with self.assertRaisesRegex(ValueError, "no 'A_j'"):
            compute_mvar_params({"A_0": []})

    @unittest.skipUnless(numpy, "no numpy")
    def test_mvar_of_numpy(self):
        from rectsim.runtime_analyzer import RuntimeAnalyzer, compute_mvar_params
        self.assertEqual(compute_mvar_params({"A_0": numpy.zeros(20), "A_j": numpy.zeros((5, 20, 20))}), 2020)
        self.assertEqual(RuntimeAnalyzer().measure_memory(10, numpy.float32).parameter_memory_mb, 4e-5)

    @unittest.skipUnless(torch, "no torch")
    def test_lstm(self):
        from rectsim.runtime_analyzer import RuntimeAnalyzer, compute_lstm_params
        lstm = torch.nn.LSTM(20, 16, num_layers=2)
        expected = sum(parameter.numel() for parameter in lstm.parameters())
        self.assertEqual(compute_lstm_params(lstm), expected)
        self.assertEqual(RuntimeAnalyzer().measure_memory(10, torch.float16).parameter_memory_mb, 2e-5)

    def test_no_lstm(self):
        from rectsim.runtime_analyzer import compute_lstm_params
        with self.assertRaisesRegex(TypeError, "model of PyTorch"):
            compute_lstm_params({})


class Script(Examples):
    def test_self_check(self):
        subprocess.run([sys.executable, os.path.join(seed_examples.COMPAT, "test_runtime_analyzer.py")], check=True, capture_output=True)
        with open("test_outputs/test_runtime_profile.json") as file:
            self.assertEqual(shape_of(json.load(file)), PROFILE)


if __name__ == "__main__":
    unittest.main()
