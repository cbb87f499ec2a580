"""Seed D, the profiling framework: its examples, and what they promise."""
import math
import subprocess
import sys
import time
import unittest
import unittest.mock

from assay.profiling.memory import get_peak_memory, reset_memory_stats

import seed_examples
from seed_examples import Examples

torch = seed_examples.optional("torch")
needs_torch = unittest.skipUnless(torch, "no torch")

if torch:
    nn = torch.nn
    torch.set_num_threads(1)        # threads wait for each other where other tests run

    class Net(nn.Module):
        """A stand-in for the user's graph transformer: takes a graph or its features."""

        def __init__(self, hidden_dim=256, num_layers=2, pe_type="none", pe_dim=0):
            super().__init__()
            self.first = nn.Linear(16, hidden_dim)
            self.layers = nn.ModuleList(nn.Linear(hidden_dim, hidden_dim) for _ in range(num_layers))
            self.dropout = nn.Dropout(0.5)
            self.last = nn.Linear(hidden_dim, 4)

        def forward(self, batch):
            x = self.first(getattr(batch, "x", batch))
            for layer in self.layers:
                x = self.dropout(torch.relu(layer(x)))
            return self.last(x)

    def stand_ins(**more):
        model = Net(hidden_dim=32)
        return {"model": model, "batch": torch.randn(8, 16), "device": torch.device("cpu"), "nn": nn, "get_model": Net,
                "optimizer": torch.optim.SGD(model.parameters(), lr=1e-3), "loss_fn": nn.MSELoss(), **more}


def plain_model(graph):
    """A model without PyTorch, that takes time by the nodes of a graph."""
    total = 0.0
    for row in graph.x:
        total += row[0] * row[1]
    return total


class Runtime(Examples):
    @needs_torch
    def test_quick_start(self):
        printed = self.run_example('''
            from src.profiling import RuntimeProfiler, profile_forward

            # Simple forward pass
            stats = profile_forward(model, batch, num_runs=100, warmup_runs=10)
            print(f"Forward: {stats.mean:.2f} ± {stats.std:.2f} ms")

            # Full profiling
            profiler = RuntimeProfiler(model, device, num_runs=100)
            results = profiler.profile_all(batch, optimizer=optimizer)
            print(f"Forward: {results['forward']}")
            print(f"Backward: {results['backward']}")
            print(f"Training step: {results['training_step']}")
            ''', **stand_ins())
        line = "10.50 ± 1.20 ms (min 9.00, max 12.00, 100 runs)"
        self.assert_shows(printed, f"Forward: 10.50 ± 1.20 ms\nForward: {line}\nBackward: {line}\nTraining step: {line}")
        self.assertEqual(self.names["stats"].num_runs, 100)

    @needs_torch
    def test_functions(self):
        self.run_example('''
            from src.profiling import benchmark_function, profile_forward, profile_backward, profile_training_step
            # Benchmark any function
            stats = benchmark_function(
                fn, *args,
                num_runs=100,
                warmup_runs=10,
                **kwargs
            )
            called = list(calls)

            # Forward pass
            stats = profile_forward(model, batch, num_runs=100)

            # Backward pass
            stats = profile_backward(model, batch, loss_fn=nn.MSELoss())

            # Training step
            stats = profile_training_step(model, batch, optimizer, loss_fn)
            ''', **stand_ins(fn=lambda *given, **named: calls.append((given, named)), args=(1, 2), kwargs={"key": 3}, calls=(calls := [])))
        self.assertEqual(self.names["called"], [((1, 2), {"key": 3})] * 110)

    def test_without_torch_too(self):
        from assay.profiling import RuntimeProfiler, benchmark_function, profile_forward
        stats = benchmark_function(time.sleep, 0.002, num_runs=5, warmup_runs=0)
        self.assertGreater(stats.min, 2)
        self.assertLessEqual(stats.low, stats.mean)
        self.assertEqual(profile_forward(lambda x, y: x + y, (1, 2), num_runs=3).num_runs, 3)
        self.assertEqual(list(RuntimeProfiler(sum, num_runs=3).profile_all([[1, 2]])), ["forward"])

    @needs_torch
    def test_backward_is_without_forward(self):
        from assay.profiling import profile_backward, profile_forward

        class Slow(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(1))

            def forward(self, x):
                time.sleep(0.01)
                return {"output": (self.weight * x, None)}
        model = Slow()
        model.weight.grad = kept = torch.ones(1)
        self.assertGreater(profile_forward(model, torch.ones(3), num_runs=3, warmup_runs=1).min, 10)
        self.assertLess(profile_backward(model, torch.ones(3), num_runs=3, warmup_runs=1).mean, 10)
        self.assertIs(model.weight.grad, kept)

    @needs_torch
    def test_batches_with_targets(self):
        from assay.profiling import profile_training_step
        seen = []

        def loss(output, target):
            seen.append(target)
            return (output.sum() - target).abs()
        model = Net(hidden_dim=8)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        x, y = torch.zeros(2, 16), torch.tensor(3.0)
        for batch in ((x, y), [x, y], {"batch": x, "y": y}):
            seen.clear()
            profile_training_step(model, batch, optimizer, loss, num_runs=1, warmup_runs=0)
            self.assertTrue(all(target is y for target in seen) and seen)

    @needs_torch
    def test_bad_models(self):
        from assay.profiling import benchmark_function, profile_backward, profile_forward
        with self.assertRaisesRegex(ValueError, "loss_fn"):
            profile_backward(lambda x: 3, 1)
        with self.assertRaises(TypeError):
            profile_forward("model", 1)
        with self.assertRaises(ZeroDivisionError):
            profile_forward(lambda x: 1 / 0, 1)
        with self.assertRaises(ValueError):
            benchmark_function(time.time, num_runs=0)

    def test_encodings(self):
        printed = self.run_example('''
            from src.profiling.runtime import profile_pe_computation

            stats = profile_pe_computation(pe_transform, data, num_runs=10)
            print(f"PE precomputation: {stats.mean:.2f} ms (one-time)")
            ''', pe_transform=sorted, data=[3, 1, 2])
        self.assert_shows(printed, "PE precomputation: 1.00 ms (one-time)")


class Memory(Examples):
    @needs_torch
    def test_quick_start(self):
        printed = self.run_example('''
            from src.profiling import MemoryProfiler, get_memory_breakdown

            # Peak memory
            profiler = MemoryProfiler(model, device)
            stats = profiler.profile_forward(batch)
            print(f"Peak memory: {stats.peak_mb:.2f} MB")

            # Memory breakdown
            breakdown = get_memory_breakdown(model, batch, device)
            print(f"Parameters: {breakdown['parameters']:.2f} MB")
            print(f"Activations: {breakdown['forward_activations']:.2f} MB")
            ''', **stand_ins())
        self.assert_shows(printed, "Peak memory: 512.00 MB\nParameters: 50.00 MB\nActivations: 400.00 MB")
        stats = self.names["stats"]
        self.assertEqual(stats.device, "cpu")
        self.assertTrue(math.isnan(stats.reserved_mb))
        self.assertEqual(stats.unavailable, {"reserved_mb": "unsupported"})

    @needs_torch
    def test_breakdown_is_exact(self):
        from assay.profiling import get_memory_breakdown
        model = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))
        breakdown = get_memory_breakdown(model, torch.zeros(256, 1024))
        mb = 2**20
        self.assertEqual(breakdown["parameters"], 4 * (1024 * 512 + 512 + 512 + 1) / mb)
        # What is kept for the backward pass: the input, and what ReLU gives.
        self.assertEqual(breakdown["forward_activations"], 4 * 256 * (1024 + 512) / mb)

    def test_functions(self):
        self.run_example('''
            from src.profiling import reset_memory_stats, get_peak_memory, profile_memory_usage
            # Reset stats before measurement
            reset_memory_stats()

            # Get current peak
            peak_mb = get_peak_memory(device)

            # Profile function
            stats = profile_memory_usage(fn, *args, device=device)
            ''', fn=lambda size: len(b"x" * size), args=(200_000_000,), device="cpu")
        self.assertGreater(self.names["stats"].peak_mb, self.names["peak_mb"] + 150)
        self.assertLess(self.names["stats"].allocated_mb, self.names["stats"].peak_mb - 150)

    def test_on_a_gpu_without_a_device(self):
        """PyTorch with a GPU stands in: a device of None is the current one, for a function that has the default as for one that is given it."""
        gpu = unittest.mock.Mock(**{"device_count.return_value": 1, "max_memory_allocated.return_value": 3 << 20})
        with unittest.mock.patch("assay._torch.cuda", return_value=gpu):
            reset_memory_stats()
            self.assertEqual(get_peak_memory(), 3)
            with self.assertRaisesRegex(RuntimeError, "PyTorch sees 1 GPU"):
                get_peak_memory("cuda:1")
        gpu.reset_peak_memory_stats.assert_called_once_with(None)

    def test_estimates(self):
        printed = self.run_example('''
            from src.profiling import estimate_attention_memory
            from src.profiling.memory import estimate_pe_storage
            # Estimation without running model
            mem_mb = estimate_attention_memory(
                num_nodes=1000,
                num_heads=8,
                hidden_dim=256,
                batch_size=1,
            )

            storage = estimate_pe_storage(
                num_nodes=1000,
                node_pe_dim=32,
                relative_pe_buckets=16,
                sparse_ratio=0.1,
            )
            print(f"Node PE: {storage['node_pe']:.2f} MB")
            print(f"Relative PE (sparse): {storage['relative_pe_sparse']:.2f} MB")
            ''')
        self.assert_shows(printed, "Node PE: 0.12 MB\nRelative PE (sparse): 18.31 MB")
        self.assertAlmostEqual(self.names["mem_mb"], 4 * (8 * 1000 * 1000 + 4 * 1000 * 256) / 2**20)

    def test_bad_sizes(self):
        from assay.profiling import estimate_attention_memory, estimate_pe_storage
        with self.assertRaises(ValueError):
            estimate_attention_memory(-1, 8, 256)
        with self.assertRaises(ValueError):
            estimate_pe_storage(10, 3, 2, sparse_ratio=2)


class Flops(Examples):
    def test_quick_estimate(self):
        printed = self.run_example('''
            from src.profiling import FLOPsEstimator, estimate_model_flops

            # Quick estimate
            estimate = estimate_model_flops(
                num_nodes=500,
                num_edges=2500,
                hidden_dim=256,
                num_layers=6,
                num_heads=8,
                ffn_dim=512,
            )
            print(f"Total: {estimate.total / 1e9:.2f} GFLOPs")
            print(f"Attention: {estimate.breakdown['attention'] / 1e9:.2f} GFLOPs")

            # From model
            estimator = FLOPsEstimator(model)
            same = estimator.estimate(num_nodes=500, num_edges=2500)
            params = estimator.count_parameters()
            ''', model=type("Model", (), {"hidden_dim": 256, "num_layers": 6, "num_heads": 8, "ffn_dim": 512,
                                          "parameters": lambda self: [type("Tensor", (), {"numel": lambda self: 7})()]})())
        self.assert_shows(printed, "Total: 12.50 GFLOPs\nAttention: 8.00 GFLOPs")
        estimate = self.names["estimate"]
        self.assertEqual(sum(estimate.breakdown.values()), estimate.total)
        self.assertEqual((self.names["same"], self.names["params"]), (estimate, 7))

    def test_components(self):
        self.run_example('''
            from src.profiling import *
            # Linear layer
            linear = estimate_linear_flops(in_features, out_features, batch_size, seq_len)

            # Attention
            flops = estimate_attention_flops(num_nodes, hidden_dim, num_heads, sparse_ratio=1.0)

            # MPNN
            flops = estimate_mpnn_flops(num_nodes, num_edges, in_features, out_features, mpnn_type="gin")

            # FFN
            ffn = estimate_ffn_flops(hidden_dim, ffn_dim, num_nodes)

            # PE computation
            flops = estimate_pe_flops(num_nodes, pe_dim, pe_type="lap")
            ''', in_features=16, out_features=32, batch_size=2, seq_len=3, num_nodes=10, hidden_dim=16, num_heads=2, num_edges=40, ffn_dim=32,
                 pe_dim=4)
        self.assertEqual(self.names["linear"], 2 * 6 * 16 * 32 + 6 * 32)
        self.assertEqual(self.names["ffn"], 2 * 2 * 10 * 16 * 32 + 10 * 32 + 4 * 10 * 32 + 10 * 16)

    @needs_torch
    def test_modules_of_torch(self):
        from assay.profiling import FLOPsEstimator
        model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4, bias=False), nn.Conv1d(4, 4, 1))
        estimate = FLOPsEstimator(model).estimate(num_nodes=10, num_edges=0)
        self.assertEqual(estimate.breakdown, {"Linear": 2 * 10 * 16 * 32 + 10 * 32 + 2 * 10 * 32 * 4})
        self.assertEqual(estimate.not_counted, ["Conv1d"])
        self.assertEqual(FLOPsEstimator(model).count_parameters(), 16 * 32 + 32 + 32 * 4 + 16 + 4)

    def test_bad_sizes(self):
        from assay.profiling import FLOPsEstimator, estimate_linear_flops, estimate_mpnn_flops
        with self.assertRaisesRegex(ValueError, "not be negative"):
            estimate_linear_flops(-1, 2)
        with self.assertRaisesRegex(ValueError, "mpnn_type"):
            estimate_mpnn_flops(1, 1, 1, 1, "gat")
        with self.assertRaisesRegex(TypeError, "hidden_dim"):
            FLOPsEstimator(3).estimate(10, 10)


class Scaling(Examples):
    @needs_torch
    def test_quick_start(self):
        printed = self.run_example('''
            from src.profiling import ScalingExperiment, run_node_scaling

            # Node scaling
            def model_factory(**kwargs):
                return get_model(hidden_dim=256, **kwargs)

            result = run_node_scaling(
                model_factory,
                num_nodes_list=[100, 500, 1000, 2000],
            )

            for i, n in enumerate(result.parameter_values):
                print(f"N={n}: {result.runtime_stats[i].mean:.2f} ms")

            # Full experiment
            experiment = ScalingExperiment(model_factory, device)
            experiment.run_node_scaling()
            experiment.run_layer_scaling()
            experiment.print_summary()
            ''', **self.quick(stand_ins()))
        self.assert_shows("\n".join(printed.splitlines()[:4]), "N=100: 1.00 ms\n" * 4)
        self.assertIn("num_nodes", printed)
        self.assertIn("num_layers", printed)
        self.assertEqual(printed.count("Growth: "), 2)

    def quick(self, names):
        """The defaults take half a minute, which a test need not."""
        from assay.profiling import scaling
        run, bench = scaling._run, scaling.bench
        scaling._run = lambda parameter, sizes, make, budget_seconds, seed: run(parameter, sizes, make, 0.3, seed)
        scaling.bench = lambda *functions, budget_seconds, **options: bench(*functions, budget_seconds=0.5, **options)
        self.addCleanup(setattr, scaling, "_run", run)
        self.addCleanup(setattr, scaling, "bench", bench)
        return names

    @needs_torch
    def test_nodes_layers_and_encodings(self):
        self.run_example('''
            from src.profiling import run_node_scaling, run_layer_scaling, run_pe_scaling
            nodes = run_node_scaling(
                model_factory,
                num_nodes_list=[100, 500, 1000, 2000, 5000],
                avg_degree=5,
                device=device,
            )
            layers = run_layer_scaling(
                model_factory,
                num_layers_list=[2, 4, 6, 8, 12, 16],
                num_nodes=500,
                device=device,
            )
            results = run_pe_scaling(
                model_factory,
                pe_configs=[
                    {"name": "lap", "dim": 16},
                    {"name": "rwse", "dim": 16},
                    {"name": "none", "dim": 0},
                ],
            )
            ''', **self.quick(stand_ins(model_factory=lambda **sizes: Net(hidden_dim=8, **sizes))))
        self.assertEqual(self.names["layers"].parameter_values, [2, 4, 6, 8, 12, 16])
        self.assertEqual(list(self.names["results"]), ["lap 16", "rwse 16", "none"])
        self.assertTrue(all(stats.mean > 0 and stats.num_runs > 0 for stats in self.names["results"].values()))
        self.assertEqual(len(self.names["nodes"].runtime_stats), 5)

    def test_growth_is_found_without_torch(self):
        from assay.profiling import run_node_scaling
        made = []
        result = run_node_scaling(lambda: made.append(1) or plain_model, [200, 400, 800, 1600], budget_seconds=0.5)
        self.assertEqual(len(made), 12)         # three passes of four sizes
        times = [stats.mean for stats in result.runtime_stats]
        self.assertGreater(times[3], 2 * times[0])
        self.assertEqual(len(result.record.to_dict()["subjects"]), 4)
        self.assertEqual(result.growth["parameter"], "num_nodes")

    def test_bad_factories(self):
        from assay.profiling import run_layer_scaling, run_node_scaling
        with self.assertRaisesRegex(TypeError, r"\*\*kwargs"):
            run_layer_scaling(lambda: plain_model, [1, 2], budget_seconds=0.1)
        with self.assertRaisesRegex(TypeError, "cannot be called"):
            run_node_scaling(lambda: 3, [10, 20], budget_seconds=0.1)
        with self.assertRaises(ZeroDivisionError):
            run_node_scaling(lambda: lambda graph: 1 / 0, [10, 20], budget_seconds=0.1)

    def test_graphs(self):
        self.run_example('''
            from src.profiling import generate_scaling_graphs
            graphs = generate_scaling_graphs(
                num_nodes_list=[100, 500, 1000],
                avg_degree=5,
                feature_dim=16,
                seed=42,
            )
            again = generate_scaling_graphs([100], 5, 16, 42)
            ''')
        graphs, again = self.names["graphs"], self.names["again"]
        self.assertEqual([(graph.num_nodes, graph.num_edges) for graph in graphs], [(100, 500), (500, 2500), (1000, 5000)])
        self.assertEqual([list(map(float, row)) for row in graphs[0].x], [list(map(float, row)) for row in again[0].x])
        sources, targets = (list(map(int, row)) for row in graphs[0].edge_index)
        self.assertEqual(set(zip(sources, targets)), set(zip(targets, sources)))
        self.assertLess(max(sources), 100)


class Context(Examples):
    @needs_torch
    def test_context(self):
        self.run_example('''
            from src.profiling import ProfilingContext, profile_forward, set_seed
            with ProfilingContext(model, disable_dropout=True, eval_mode=True, seed=42):
                # Profiling here
                inside = (model.training, model.dropout.p, float(torch.rand(1)))
                stats = profile_forward(model, batch)

            set_seed(42)
            with ProfilingContext(model, seed=42):
                # Reproducible results
                again = float(torch.rand(1))
            ''', **stand_ins(torch=torch))
        training, dropout, drawn = self.names["inside"]
        self.assertEqual((training, dropout, drawn), (False, 0.0, self.names["again"]))
        self.assertTrue(self.names["model"].training)
        self.assertEqual(self.names["model"].dropout.p, 0.5)

    def test_torch_is_not_imported(self):
        script = ("import sys, assay.profiling, assay.timing, assay.memory_monitor, assay.runtime_analyzer\n"
                  "from assay.profiling import *\n"
                  "set_seed(1)\n"
                  "with ProfilingContext(None): profile_forward(sum, ([1],), num_runs=2)\n"
                  "graph = generate_scaling_graphs([10])[0]\n"
                  "assert isinstance(graph.x, list) and len(graph.edge_index[0]) == graph.num_edges, graph\n"
                  "print(sorted({'torch', 'numpy', 'pandas'} & set(sys.modules)))")
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
