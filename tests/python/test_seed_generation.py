"""Seed document E, generated trajectories: its examples, on a made-up city whose models were trained briefly."""
import contextlib
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest

import seed_examples
from seed_examples import Examples

PERFORMANCE = {"total_time_mean", "total_time_std", "total_time_min", "total_time_max", "total_time_median", "total_time_p95",
               "forward_time_mean", "forward_time_std", "forward_count_mean", "forward_count_std", "throughput_traj_per_sec",
               "total_generation_time", "forward_time_per_step_mean", "beam_search_enabled", "beam_width", "device"}


def study(folder, *options):
    return subprocess.run([sys.executable, os.path.join(seed_examples.COMPAT, "python_pipeline.py"), "--num-gene", "20", "--models", "distilled",
                           "--od-source", "test", "--roads", "100", "--drives", "300", "--epochs", "4", "--compare-time", "100ms", "--out",
                           folder, *options], capture_output=True, text=True)


def first_device():
    """The device on which searches with cuda_device=0 run on this machine."""
    from assay import _models
    try:
        _models.check_device("cuda:0")
    except RuntimeError:
        return "cpu"
    return "cuda:0"


class Generation(Examples):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.shared.cleanup)
        cls.study = study(os.path.join(cls.shared.name, "city"))

    def setUp(self):
        super().setUp()
        self.assertEqual(self.study.returncode, 0, self.study.stderr)
        city = os.path.join(self.shared.name, "city")
        os.makedirs("data")
        os.symlink(city, "data/Beijing")
        for path in ("save/Beijing/seed42_distill/best.pth", "models/distilled_25epoch_seed42.pth"):
            os.makedirs(os.path.dirname(path))
            shutil.copy(os.path.join(city, "distilled", "weights.safetensors"), path)

    def test_pipeline(self):
        self.assertIn("--- Generation Performance ---", self.study.stdout)
        with open(os.path.join(self.shared.name, "city", "distilled", "results.json")) as file:
            self.assertIn("generation_performance", json.load(file))

    def test_programmatic(self):
        printed = self.run_example('''
            from gene import generate_trajectories_programmatic
            from evaluation import evaluate_trajectories_programmatic

            # Generate trajectories with performance profiling
            result = generate_trajectories_programmatic(
                dataset='Beijing',
                model_path='./save/Beijing/seed42_distill/best.pth',
                od_source='test',
                seed=42,
                num_gene=100,
                cuda_device=0,
                beam_search=True,
                beam_width=4
            )

            # Extract results
            output_file = result['output_file']
            num_generated = result['num_generated']
            performance = result['performance']

            print(f"Generated {num_generated} trajectories")
            print(f"Throughput: {performance['throughput_traj_per_sec']:.2f} traj/s")
            print(f"Mean time: {performance['total_time_mean']:.3f}s")

            # Evaluate with performance metrics
            eval_results = evaluate_trajectories_programmatic(
                generated_file=output_file,
                dataset='Beijing',
                od_source='test',
                generation_performance=performance  # Include generation metrics
            )
            ''')
        lines = printed.splitlines()
        self.assert_shows("\n".join(lines[:3]), "Generated 100 trajectories\nThroughput: 1.91 traj/s\nMean time: 0.523s")
        labels = [line[:26].strip() for line in lines[3:]]
        self.assertEqual(labels[:13], ["--- Generation Performance", "Throughput", "Mean time/trajectory", "Min time", "Max time", "Std dev",
                                       "Median time", "95th percentile", "Forward passes/traj", "Forward time/step", "Beam width", "Device",
                                       "Total generation time"])
        performance, results = self.names["performance"], self.names["eval_results"]
        self.assertEqual(set(performance), PERFORMANCE)
        self.assertEqual((performance["device"], performance["beam_width"]), (first_device(), 4))
        self.assertTrue(os.path.isfile(self.names["output_file"]))
        self.assertTrue(0 <= results["Distance_JSD"] <= math.log(2))
        for key, value in performance.items():
            self.assertEqual(results["generation_performance"][key], value)
        with open(os.path.join(os.path.dirname(self.names["output_file"]), "results.json")) as file:
            self.assertEqual(json.load(file)["Distance_JSD"], results["Distance_JSD"])

    def test_small_batch(self):
        printed = self.run_example('''
            import sys
            sys.path.insert(0, '..')
            from gene import generate_trajectories_programmatic

            result = generate_trajectories_programmatic(
                dataset='Beijing',
                model_path='./models/distilled_25epoch_seed42.pth',
                od_source='test',
                seed=42,
                num_gene=10,  # Small batch for testing
                cuda_device=0,
                beam_search=True,
                beam_width=4
            )

            print(f\"Generated: {result['num_generated']} trajectories\")
            print(f\"Performance: {result['performance']['throughput_traj_per_sec']:.2f} traj/s\")
            ''')
        self.assert_shows(printed, "Generated: 10 trajectories\nPerformance: 1.91 traj/s")
        performance = self.names["result"]["performance"]
        self.assertTrue(math.isnan(performance["total_time_p95"]))      # of ten searches no 95th percentile is known
        self.assertIn("total_time_p95", performance["unavailable"])

    def test_on_a_device(self):
        """The emulated GPU of tests/fake/compute finds the same trajectories. A GPU that does not exist gives a warning."""
        from assay.generation import generate_trajectories_programmatic as generate
        script = """
            import logging
            logging.basicConfig(format="%(levelname)s %(message)s")
            from assay.generation import generate_trajectories_programmatic as generate
            for device in (0, 5):
                result = generate("Beijing", "models/distilled_25epoch_seed42.pth", num_gene=20, cuda_device=device, beam_search=True,
                                  output_file=f"{device}.csv")
                print(result["performance"]["device"])
            """
        fakes = os.path.join(os.environ["ASSAY_BUILD"], "tests", "fake", "compute")
        ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True,
                             env={**os.environ, "LD_LIBRARY_PATH": fakes})
        self.assertEqual((ran.returncode, ran.stdout), (0, "cuda:0\ncpu\n"), ran.stderr)
        self.assertRegex(ran.stderr, "WARNING cuda_device=5 is not used, .*there is no device cuda:5")
        generate("Beijing", "models/distilled_25epoch_seed42.pth", num_gene=20, beam_search=True, output_file="here.csv")
        texts = []
        for name in ("here.csv", "0.csv", "5.csv"):
            with open(name) as file:
                texts.append(file.read())
        self.assertEqual(texts[1:], texts[:1] * 2)

    def test_the_same_seed_gives_the_same(self):
        from assay.generation import generate_trajectories_programmatic as generate
        texts = []
        for seed in (1, 1, 2):
            generate("data/Beijing", "models/distilled_25epoch_seed42.pth", seed=seed, num_gene=20, output_file=f"{len(texts)}.csv")
            with open(f"{len(texts)}.csv") as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_pipeline_classes(self):
        from python_pipeline import TrajectoryEvaluator, TrajectoryGenerator
        path, performance = TrajectoryGenerator("Beijing", "models/distilled_25epoch_seed42.pth", num_gene=20).generate_trajectories()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            results = TrajectoryEvaluator("Beijing").evaluate_trajectories(path, generation_performance=performance)
            without = TrajectoryEvaluator("Beijing").evaluate_trajectories(path)
        self.assertIn("generation_performance", results)
        self.assertNotIn("generation_performance", without)
        self.assertEqual(printed.getvalue().count("--- Evaluation ---"), 2)

    def test_searcher(self):
        from gene import Searcher
        searcher = Searcher("Beijing", "models/distilled_25epoch_seed42.pth")
        for found, metrics in (searcher.search(), searcher.beam_search(beam_width=3)):
            self.assertLessEqual({"total_time", "forward_time_total", "forward_count", "forward_time_avg"}, set(metrics))
            self.assertGreater(metrics["total_time"], 0)
            if found is not None:
                self.assertEqual((found[0], found[-1]), (metrics["origin_road_id"], metrics["destination_road_id"]))
        self.assertEqual(metrics["beam_width"], 3)

    def test_searcher_goes_where_it_is_told(self):
        from gene import Searcher
        drawn, metrics = Searcher("Beijing", "models/distilled_25epoch_seed42.pth").beam_search()
        ends = metrics["origin_road_id"], metrics["destination_road_id"]
        searcher = Searcher("Beijing", "models/distilled_25epoch_seed42.pth", seed=7)
        told, metrics = searcher.beam_search(*ends)
        self.assertEqual((told, metrics["origin_road_id"], metrics["destination_road_id"]), (drawn, *ends))
        back, metrics = searcher.search(destination_road_id=ends[0], origin_road_id=ends[1])
        self.assertEqual((metrics["origin_road_id"], metrics["destination_road_id"]), ends[::-1])
        with self.assertRaisesRegex(ValueError, "give both ids"):
            searcher.search(ends[0])
        with self.assertRaisesRegex(ValueError, "no road -3"):
            searcher.search(-3, ends[0])
        with self.assertRaises(TypeError):
            searcher.search("a", "b")

    def test_weights_and_biases(self):
        from assay.generation import TrajectoryGenerator
        from assay.generation import generate_trajectories_programmatic as generate
        logged = {}
        sys.modules["wandb"] = types.SimpleNamespace(run=object(), log=logged.update)
        self.addCleanup(sys.modules.pop, "wandb")
        generate("Beijing", "models/distilled_25epoch_seed42.pth", num_gene=2)
        self.assertIn("generation/throughput_traj_per_sec", logged)
        self.assertNotIn("perf/throughput_traj_per_sec", logged)
        TrajectoryGenerator("Beijing", "models/distilled_25epoch_seed42.pth", num_gene=2).generate_trajectories()
        self.assertIn("perf/throughput_traj_per_sec", logged)

    def test_bad_input(self):
        from assay.generation import evaluate_trajectories_programmatic as evaluate
        from assay.generation import generate_trajectories_programmatic as generate
        with self.assertRaisesRegex(FileNotFoundError, "no dataset 'Peking'"):
            generate("Peking", "models/distilled_25epoch_seed42.pth")
        with self.assertRaisesRegex(ValueError, "od_source"):
            generate("Beijing", "models/distilled_25epoch_seed42.pth", od_source="dev")
        with self.assertRaisesRegex(ValueError, "num_gene"):
            generate("Beijing", "models/distilled_25epoch_seed42.pth", num_gene=0)
        with self.assertRaises(FileNotFoundError):
            generate("Beijing", "nowhere.pth")
        with self.assertRaisesRegex(RuntimeError, "is it a safetensors file"):
            generate("Beijing", "data/Beijing/city.geo")
        with self.assertRaises(FileNotFoundError):
            evaluate("nowhere.csv", "Beijing")


if __name__ == "__main__":
    unittest.main()
