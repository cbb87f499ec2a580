"""Records, benchmarks, comparisons, fits, loops and profiles."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import assay
from test_spans import tree

BUILD = os.environ.get("ASSAY_BUILD")


def fast():
    return sum(range(200))


def slow():
    return sum(range(600))


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "assay", *arguments], capture_output=True, text=True)


class Records(unittest.TestCase):
    def setUp(self):
        monitor = assay.Monitor(samples=100)
        self.addCleanup(monitor.close)
        for _ in range(30):
            with monitor.track("step"), monitor.track("forward"):
                pass
        self.record = monitor.record()

    def test_plot(self):
        plot = self.record.plot("distribution", title="<steps>")
        self.assertTrue(plot._repr_svg_().startswith("<svg "))
        self.assertIn("&lt;steps&gt;", str(plot))
        self.assertEqual(str(plot).count('class="pale'), 2)
        with tempfile.TemporaryDirectory() as folder:
            plot.save(os.path.join(folder, "plot.svg"))
            with open(os.path.join(folder, "plot.svg"), encoding="utf-8") as file:
                self.assertEqual(file.read(), str(plot))
        with self.assertRaisesRegex(ValueError, "there is no plot 'pie'"):
            self.record.plot("pie")
        with self.assertRaisesRegex(ValueError, "no comparisons"):
            self.record.plot("ratios")
        with self.assertRaises(ValueError):
            self.record.plot("distribution", width=-1)

    def test_there_and_back(self):
        text = self.record.to_json()
        self.assertEqual(json.loads(text), self.record.to_dict())
        self.assertEqual(assay.Record.from_json(text).to_dict(), self.record.to_dict())
        self.assertEqual(assay.Record.from_dict(self.record.to_dict()).to_json(), text)
        self.assertNotIn("\n", self.record.to_json(compact=True).strip())

    def test_files_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            self.record.save(path)
            self.assertEqual(assay.load(path).to_dict(), self.record.to_dict())
            shown = command("report", "--format", "tree", str(path))
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("forward", shown.stdout)
            program = f"import assay\nwith assay.track('inside'): pass"
            made = command("run", "--quiet", "--json", str(path), "--", sys.executable, "-c", program)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(tree(assay.load(path))["inside",]["count"], 1)

    def test_reports(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.record.print("tree")
        self.assertEqual(out.getvalue(), self.record.text("tree"))
        with self.assertRaisesRegex(ValueError, "nonsense"):
            self.record.text("nonsense")
        with self.assertRaises(OSError):
            self.record.save("/nonexistent/record.json")
        with self.assertRaises(ValueError):
            assay.Record.from_json("{")
        with self.assertRaises(TypeError):
            assay.Record.from_dict({"kind": object()})

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = self.record.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame["path"]), [("step",), ("step", "forward")])
        self.assertEqual(list(frame["count"]), [30, 30])

    def test_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("jsonschema is not installed")
        schema = json.loads((pathlib.Path(os.environ["ASSAY_SOURCE"]) / "docs/record.schema.json").read_text())
        monitor = assay.Monitor()
        with contextlib.suppress(ValueError), monitor.track("fails"):
            raise ValueError
        jsonschema.validate(monitor.record().to_dict(), schema)


class Verdicts(unittest.TestCase):
    def test_metrics_have_names(self):
        for call in (lambda: assay.bench(fast, metric="cpu_time"), lambda: assay.compare("a.json", "b.json", metric="cpu_time")):
            with self.assertRaisesRegex(ValueError, "no metric 'cpu_time'; there are wall, cpu, memory"):
                call()
        self.assertEqual(assay.bench(fast, slow, runs=8, metric="cpu").comparisons[0]["metric"], "cpu_seconds")
        self.assertEqual(assay.bench(fast, slow, runs=8, metric="cpu_seconds").comparisons[0]["metric"], "cpu_seconds")

    def test_bench_tells_functions_apart(self):
        result = assay.bench(fast, slow, budget_seconds=2)
        self.assertEqual(result.verdict, "slower", str(result))
        first = result.comparisons[0]
        self.assertEqual((first["baseline"], first["candidate"]), ("fast", "slow"))
        self.assertGreater(first["low"], 1.5)
        self.assertTrue(first["paired"])
        self.assertIn("slower", str(result))

    def test_one_function(self):
        result = assay.bench(fast, runs=20, warmup=2)
        subject = result.to_dict()["subjects"][0]
        self.assertEqual((subject["name"], len(subject["samples_seconds"])), ("fast", 20))
        self.assertIsNone(result.verdict)

    def test_calls_are_counted(self):
        calls = []
        assay.bench(lambda: calls.append(1), runs=7, warmup=3)
        self.assertEqual(len(calls), 10)

    def test_samples_meet_many_layouts_of_the_heap(self):
        places = set()
        assay.bench(lambda: places.add(id(object())), runs=100)
        self.assertGreater(len(places), 10)         # two or three without it: the block that was freed last is given out next

    def test_names(self):
        result = assay.bench(fast, fast, runs=5)
        self.assertEqual([subject["name"] for subject in result.to_dict()["subjects"]], ["fast", "fast (2)"])
        with self.assertRaisesRegex(ValueError, "as many names"):
            assay.bench(fast, names=["a", "b"])

    def test_bad_functions(self):
        def fails():
            raise KeyError("mine")
        with self.assertRaisesRegex(KeyError, "mine"):
            assay.bench(fast, fails)
        with self.assertRaises(KeyboardInterrupt):
            assay.bench(lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
        for wrong in (3, "fast", None):
            with self.assertRaisesRegex(TypeError, "calls functions"):
                assay.bench(wrong)
        with self.assertRaises(TypeError):
            assay.bench()

        async def coroutine():
            pass
        with self.assertRaisesRegex(TypeError, "coroutine"):
            assay.bench(coroutine)
        with self.assertRaises(ValueError):
            assay.bench(fast, runs=-1)
        with self.assertRaises(ValueError):
            assay.bench(fast, budget_seconds=-1)

    def test_saved_records(self):
        first, second = assay.bench(fast, runs=40), assay.bench(slow, names=["fast"], runs=40)
        compared = assay.compare(first, second)
        self.assertEqual(compared.verdict, "slower", str(compared))
        self.assertEqual(compared.comparisons[0]["margin"], 0.15)
        measures = [measure["metric"] for measure in first.to_dict()["subjects"][0]["measures"]]
        self.assertIn("yardstick_seconds", measures)        # so that a slower machine is told from a slower function
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("before.json", "after.json")]
            first.save(paths[0])
            second.save(paths[1])
            self.assertEqual(assay.compare(*paths).verdict, "slower")
            self.assertEqual(assay.compare([paths[0]], second).verdict, "slower")
            gate = command("compare", "--gate", *paths)
            self.assertEqual(gate.returncode, 1, gate.stdout + gate.stderr)
        with self.assertRaises(TypeError):
            assay.compare(first)
        with self.assertRaises(TypeError):
            assay.compare(first, 3)
        with self.assertRaises(ValueError):
            assay.compare(first, [])

    def test_fits(self):
        sizes = [10, 20, 40, 80, 160, 320] * 3
        growth = assay.fit(sizes, [1e-6 * n * n for n in sizes])
        self.assertEqual(growth.growth_class, "n^2")
        self.assertAlmostEqual(growth.exponent, 2, places=2)
        self.assertLessEqual(growth.interval[0], growth.exponent)
        self.assertAlmostEqual(growth.predict(1000), 1.0, places=3)
        self.assertEqual(growth.to_dict()["class"], "n^2")
        self.assertIn("n^2", str(growth))
        unknown = assay.fit([1, 2], [1.0, 2.0])
        self.assertIsNone(unknown.growth_class)
        self.assertTrue(unknown.reason)
        for sizes, seconds, error in (([1, 2], [1.0], ValueError), ([1, -2, 3], [1.0] * 3, ValueError),
                                      (["a"], [1.0], TypeError), ([1], 3, TypeError)):
            with self.assertRaises(error):
                assay.fit(sizes, seconds)

    def test_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        sizes = numpy.array([10, 20, 40, 80, 160, 320])
        self.assertEqual(assay.fit(sizes, 1e-6 * sizes).growth_class, "n")


class Loops(unittest.TestCase):
    def setUp(self):
        self.monitor = assay.Monitor()
        self.addCleanup(self.monitor.close)

    def counts(self):
        return {path: operation["count"] for path, operation in tree(self.monitor.record()).items()}

    def test_epochs_and_batches(self):
        batches = [[1, 2, 3], [4, 5, 6], [7]]
        steps, seen = assay.steps(batches, epochs=2, monitor=self.monitor), []
        for batch in steps:
            with self.monitor.track("forward"):
                seen.extend(batch)
        self.assertEqual(seen, [1, 2, 3, 4, 5, 6, 7] * 2)
        self.assertEqual((steps.epochs, steps.batches, steps.samples), (2, 6, 14))
        self.assertGreater(steps.samples_per_second, steps.batches_per_second)
        self.assertEqual(self.counts(), {("epoch",): 2, ("epoch", "load"): 8, ("epoch", "batch"): 6,
                                         ("epoch", "batch", "forward"): 6})

    def test_a_loader_that_is_used_up(self):
        with self.assertWarnsRegex(RuntimeWarning, "no batch left for epoch 2"):
            self.assertEqual(list(assay.steps((n for n in range(3)), epochs=2, monitor=self.monitor)), [0, 1, 2])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(list(assay.steps([], epochs=2, monitor=self.monitor)), [])

    def test_break_and_exceptions(self):
        for _ in assay.steps(iter(range(10)), monitor=self.monitor):
            break
        with self.assertRaises(ZeroDivisionError):
            for _ in assay.steps(range(10), monitor=self.monitor):
                1 / 0
        with self.assertRaisesRegex(ValueError, "loader"):
            for _ in assay.steps(self.broken(), monitor=self.monitor):
                pass
        record = self.monitor.record()
        found = tree(record)
        self.assertEqual(found["epoch",]["count"], 3)
        self.assertEqual(found["epoch",]["failed_spans"], 1)            # a break is none
        self.assertEqual(found["epoch", "load"]["failed_spans"], 1)
        self.assertNotIn("failed_spans", found["epoch", "batch"])
        self.assertFalse(any(record.to_dict()["integrity"].values()))

    def broken(self):
        yield 1
        raise ValueError("the loader is broken")

    def test_progress(self):
        out = io.StringIO()
        for _ in assay.steps([[1, 2]] * 5, monitor=self.monitor, progress=True, file=out):
            pass
        last = out.getvalue().split("\r")[-1]
        self.assertRegex(last, r"^epoch 1  batch 5/5  [0-9.e+]+ batches/s, [0-9.e+]+ samples/s *\n$")
        quiet = io.StringIO()
        for _ in assay.steps([[1, 2]] * 5, monitor=self.monitor, file=quiet):
            pass
        self.assertEqual(quiet.getvalue(), "")

    def test_sizes_of_batches(self):
        from assay._loop import batch_size
        self.assertEqual(batch_size([1, 2, 3]), 3)
        self.assertEqual(batch_size({"a": None, "b": [1, 2]}), 2)
        self.assertEqual(batch_size(([1, 2, 3, 4], [0, 1, 0, 1])), 4)
        self.assertIsNone(batch_size("text"))
        self.assertIsNone(batch_size(3))
        with self.assertRaises(TypeError):
            assay.steps(3)


class Profiles(unittest.TestCase):
    def test_any_callable(self):
        record = assay.profile(lambda x, y: x + y, (1, 2), runs=10)
        made = record.to_dict()
        self.assertEqual(made["kind"], "profile")
        self.assertEqual([subject["name"] for subject in made["subjects"]], ["forward"])
        self.assertIsNone(made["models"][0]["parameters"])
        self.assertIn("forward", str(record))
        with self.assertRaises(ValueError):
            assay.profile(fast, (), backward=True)
        with self.assertRaises(TypeError):
            assay.profile(3, 4)

    def test_models_of_pytorch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed")
        torch.set_num_threads(1)

        class Pair(torch.nn.Linear):
            def forward(self, x):
                out = super().forward(x)
                return {"out": (out, out.detach()), "label": "text", "nan": out * float("nan")}
        model = Pair(4, 3)
        gradient = torch.ones(3, 4)
        model.weight.grad = gradient
        record = assay.profile(model, torch.ones(2, 4), runs=10)
        made = record.to_dict()
        self.assertEqual([subject["name"] for subject in made["subjects"]], ["forward", "forward and backward"])
        self.assertEqual((made["models"][0]["parameters"], made["models"][0]["parameter_bytes"]), (15, 60))
        self.assertIs(model.weight.grad, gradient)
        detached = Pair(4, 3)
        detached.forward = lambda x: [None, x.detach()]
        with self.assertRaisesRegex(ValueError, "no tensor"):
            assay.profile(detached, torch.ones(2, 4), runs=5)


class Command(unittest.TestCase):
    def test_the_command(self):
        shown = command("--version")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn(assay.__version__, shown.stdout)
        self.assertEqual(command("nonsense").returncode, 64)


if __name__ == "__main__":
    unittest.main()
