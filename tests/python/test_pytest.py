"""The plugin of pytest: the fixture, records that are saved and compared, the gate and what it prints.

No test depends on a speed: where verdicts matter, the samples are made up (SAMPLER), and the times of baselines are multiplied.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
import xml.etree.ElementTree as ElementTree

try:
    import pytest
except ImportError:
    print("no pytest (Debian: python3-pytest)")
    sys.exit(77)

import assay

BENCHMARKS = """
    import time

    import pytest

    def work(n):
        return sum(range(n))

    def test_sum(assay_benchmark):
        assert assay_benchmark(work, 1000) == 499500

    @pytest.mark.parametrize("n", [10, 100])
    def test_sorted(assay_benchmark, n):
        assert assay_benchmark(sorted, list(range(n)), reverse=True)[0] == n - 1
    """
SAMPLER = """
    import os
    import random
    import types

    import assay
    from assay import pytest_plugin

    measure = pytest_plugin._core.bench
    noise = random.Random(os.getpid())
    # As if this process were slow from its start to its end, for a reason of its own.
    factor = float(os.environ.get("SLOW_SECOND" if "ASSAY_PYTEST_AGAIN" in os.environ else "SLOW_FIRST", "1"))

    def bench(functions, names, **options):
        record = measure(functions, names, runs=3).to_dict()
        samples = [factor * 1e-3 * (1 + 0.002 * noise.gauss(0, 1)) for _ in range(60)]
        record["subjects"][0].update(samples_seconds=samples, mean_seconds=1e-3, median_seconds=1e-3, low_seconds=0.99e-3, high_seconds=1.01e-3,
                                     min_seconds=min(samples), max_seconds=max(samples), std_seconds=2e-6,
                                     measures=[{"metric": "yardstick_seconds", "samples": [2e-5 * (1 + 0.002 * noise.gauss(0, 1)) for _ in samples]}])
        return assay.Record.from_dict(record)

    pytest_plugin._core = types.SimpleNamespace(bench=bench)
    """
BUDGET = ("--assay-budget", "100ms")


class Plugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text, name="test_it.py"):
        (self.folder / name).write_text(textwrap.dedent(text))

    def pytest(self, *options, **variables):
        return subprocess.run([sys.executable, "-m", "pytest", "-p", "assay.pytest_plugin", "-p", "no:cacheprovider", "--rootdir", ".", *options],
                              cwd=self.folder, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80", **variables})

    def assert_narrow(self, text):
        """No line beyond 80 columns. Lines of pytest itself may be: it does not cut them in all versions."""
        self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])

    def run_well(self, *options):
        done = self.pytest(*BUDGET, *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def save(self, name="before.json"):
        self.run_well("--assay-save", name)
        return json.loads((self.folder / name).read_text())

    def scale(self, record, factors, name="before.json"):
        """Save a record with the times of the tests multiplied."""
        for subject in record["subjects"]:
            factor = next(factor for part, factor in factors.items() if part in subject["name"])
            for key in ("samples_seconds", *(key for key in subject if re.fullmatch("(mean|low|high|median|std|min|max)_seconds", key))):
                subject[key] = [value * factor for value in subject[key]] if isinstance(subject[key], list) else subject[key] * factor
        (self.folder / name).write_text(json.dumps(record))


class Fixture(Plugin):
    def test_it_returns_what_the_function_returns_and_shows_a_table(self):
        self.write(BENCHMARKS)
        out = self.run_well()
        self.assertIn("assay benchmarks", out)
        for name in ("test_sum", "test_sorted[10]", "test_sorted[100]"):
            self.assertRegex(out, rf"(?m)^test_it.py::{re.escape(name)} +[\d.]+ [nµm]s +[\d.]+ [nµm]s … [\d.]+ [nµm]s +\d+$")
        self.assert_narrow(out[out.index("= assay benchmarks ="):])
        self.assertIn("3 passed", out)

    def test_a_long_name_has_a_line_of_its_own(self):
        self.write(f"def test_{'x' * 90}(assay_benchmark):\n    assay_benchmark(int)\n")
        lines = self.run_well().splitlines()
        name = lines.index(f"test_it.py::test_{'x' * 90}")
        self.assertRegex(lines[name + 1], r"^ {20,}[\d.]+ ns")

    def test_tests_without_benchmarks_are_left_alone(self):
        self.write("def test_plain():\n    pass\n")
        out = self.run_well("--assay-save", "a.json")
        self.assertNotIn("assay benchmarks", out)
        self.assertFalse((self.folder / "a.json").exists())

    def test_several_benchmarks_in_one_test(self):
        self.write("""
            def test_two(assay_benchmark):
                assay_benchmark(int)
                first = assay_benchmark.record
                assay_benchmark(float)
                assert first is not assay_benchmark.record
                assert assay_benchmark.record.to_dict()["subjects"][0]["mean_seconds"] > 0
            """)
        names = [subject["name"] for subject in self.save()["subjects"]]
        self.assertEqual(names, ["test_it.py::test_two", "test_it.py::test_two (2)"])

    def test_once_measures_nothing(self):
        self.write("""
            calls = []

            def test_it(assay_benchmark):
                assert assay_benchmark(calls.append, 1) is None
                assert calls == [1]
                assert assay_benchmark.record is None
            """)
        self.assertNotIn("assay benchmarks", self.run_well("--assay-once"))

    def test_what_goes_wrong_is_the_test_s_failure(self):
        self.write("""
            import pytest

            def fails():
                raise KeyError("mine")

            def test_raises(assay_benchmark):
                assay_benchmark(fails)

            def test_raises_later(assay_benchmark):
                calls = []
                def second():
                    calls.append(1)
                    assert len(calls) < 5
                assay_benchmark(second)

            async def coroutine():
                pass

            def test_coroutine(assay_benchmark):
                with pytest.raises(TypeError, match="coroutine function"):
                    assay_benchmark(coroutine)

            def test_no_function(assay_benchmark):
                with pytest.raises(TypeError, match="cannot be called"):
                    assay_benchmark(3)

            def test_fails_afterwards(assay_benchmark):
                assert assay_benchmark(int) == 1

            def test_good(assay_benchmark):
                assay_benchmark(int)
            """)
        done = self.pytest(*BUDGET, "--assay-save", "a.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("KeyError: 'mine'", done.stdout)
        self.assertIn("3 failed, 3 passed", done.stdout)
        saved = json.loads((self.folder / "a.json").read_text())
        self.assertEqual([subject["name"] for subject in saved["subjects"]], ["test_it.py::test_good"])


class Options(Plugin):
    def test_help(self):
        out = self.pytest("--help").stdout
        for option in ("--assay-save=FILE", "--assay-compare=FILE", "--assay-gate", "--assay-strict", "--assay-margin=SHARE",
                       "--assay-budget=SECONDS", "--assay-once"):
            self.assertIn(option, out)

    def test_wrong_options_are_named(self):
        self.write(BENCHMARKS)
        (self.folder / "broken.json").write_text("{}")
        for options, words in ((["--assay-gate"], "needs a record to compare with"),
                               (["--assay-strict"], "--assay-gate"),
                               (["--assay-compare", "nowhere.json"], "nowhere.json"),
                               (["--assay-compare", "broken.json"], "neither an assay record"),
                               (["--assay-save", "nowhere/a.json"], "no folder"),
                               (["--assay-save", "."], "is a folder"),
                               (["--assay-once", "--assay-save", "a.json"], "measures nothing"),
                               (["--assay-budget", "-1"], "--assay-budget: '-1' is not above 0"),
                               (["--assay-margin", "100%"], "--assay-margin: '100%' is not a share below 1"),
                               (["--assay-margin", "much"], "--assay-margin: 'much' is not a number")):
            done = self.pytest(*options)
            self.assertEqual(done.returncode, 4, options)
            self.assertIn(words, done.stderr, options)


    def test_beside_others_nothing_is_measured(self):
        self.write(BENCHMARKS)
        if importlib.util.find_spec("xdist") is None:
            self.write("def pytest_addoption(parser):\n    parser.addoption('--numprocesses', type=int)\n", "conftest.py")
        self.assertNotIn("assay benchmarks", self.run_well("--numprocesses", "2"))
        done = self.pytest("--numprocesses", "2", "--assay-save", "a.json")
        self.assertEqual(done.returncode, 4)
        self.assertIn("disturb each other", done.stderr)


class Gate(Plugin):
    def setUp(self):
        super().setUp()
        self.write(BENCHMARKS)
        self.write(SAMPLER, "conftest.py")
        self.saved = self.save()

    def test_the_record_is_an_ordinary_one(self):
        record = assay.load(self.folder / "before.json")
        self.assertEqual((record.to_dict()["kind"], record.to_dict()["study"]), ("study", "pytest"))
        self.assertIn("test_it.py::test_sorted[100]", str(record))

    def test_samples_have_a_yardstick(self):
        self.write("", "conftest.py")
        record = assay.Record.from_dict(self.save())
        self.assertIn("yardstick_seconds", [measure["metric"] for measure in record.to_dict()["subjects"][0]["measures"]])

    def test_slower_fails_and_says_what_to_do(self):
        self.scale(self.saved, {"test_sum": 0.2, "test_sorted": 5})
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        out = done.stdout
        failure = out[out.index("= FAILURES ="):out.index("= assay benchmarks =")]
        for shown in ("test_it.py::test_sum is slower than in before.json:", " times as long (95 % interval ", " before (", "counts as the same",
                      "--assay-save before.json", "assay doctor", "--assay-margin"):
            self.assertIn(shown, failure)
        self.assertRegex(out, r"FAILED test_it.py::test_sum - slower: \d+\.\d+ times as long")
        self.assertIn("gate: failed; 1 of 3 slower", out)
        self.assertIn("1 failed, 2 passed", out)
        self.assertRegex(out, r"test_sorted\[10\] .* faster")
        self.assert_narrow(failure)
        self.assert_narrow(out[out.index("= assay benchmarks ="):out.index("= short test summary")])

    def test_a_second_process_must_confirm(self):
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate", "-x", "test_it.py", SLOW_FIRST="2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(re.findall("  inconclusive$", done.stdout, re.M)), 3)
        self.assertRegex(" ".join(done.stdout.split()), r"test_sum: a second process does not confirm that it is slower: (1\.0|0\.9)")
        self.assertIn("gate: passed; 3 of 3 inconclusive", done.stdout)
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate", "test_it.py::test_sum", SLOW_FIRST="2", SLOW_SECOND="2")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("a second process, which measured it again, found it slower too", done.stdout)
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate", "--assay-single", SLOW_FIRST="2")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertNotIn("second process", done.stdout)

    def test_a_second_process_that_fails_changes_nothing(self):
        self.write(textwrap.dedent(SAMPLER) + "if 'ASSAY_PYTEST_AGAIN' in os.environ:\n    raise RuntimeError('not twice')\n", "conftest.py")
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate", SLOW_FIRST="2")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(" ".join(done.stdout.split()), "could not be measured again in a second process: it left no record; its last words: .*not twice")

    def test_options_of_the_second_process(self):
        from assay._confirm import _kept
        for given, named, kept in ((["--rootdir", ".", "."], ["."], ["--rootdir", "."]), (["-v", "."], ["."], ["-v"]),
                                   (["-p", "x", "a.py", "-x", "--maxfail", "2", "--assay-save=b", "--assay-margin", "5%"], ["a.py"], ["-p", "x"])):
            self.assertEqual(_kept(given, named), kept)

    def test_the_junit_file_has_the_failure(self):
        self.scale(self.saved, {"test_sum": 0.2, "test_sorted[100]": 0.2, "test_sorted": 1})
        for prefix, more in (("", ()), ("mine.", ("--junitprefix", "mine"))):
            done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate", "--junitxml", "out/junit.xml", *more)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            suite = ElementTree.parse(self.folder / "out" / "junit.xml").getroot().find("testsuite")
            self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("3", "2", "0"))
            cases = {(case.get("classname"), case.get("name")): case.find("failure") for case in suite.iter("testcase")}
            self.assertEqual(sorted(cases), [(prefix + "test_it", name) for name in ("test_sorted[100]", "test_sorted[10]", "test_sum")])
            self.assertIsNone(cases[prefix + "test_it", "test_sorted[10]"])
            for name in ("test_sum", "test_sorted[100]"):
                failure = cases[prefix + "test_it", name]
                self.assertRegex(failure.get("message"), r"^slower: [45]\.\d+ times as long")
                self.assertIn(f"test_it.py::{name} is slower than in before.json:", failure.text)

    def test_a_junit_file_without_failures_is_pytest_s_own(self):
        self.run_well("--assay-compare", "before.json", "--assay-gate", "--junitxml", "junit.xml")
        self.assertIn('failures="0"', (self.folder / "junit.xml").read_text())

    def test_faster_and_the_same_pass(self):
        self.scale(self.saved, {"test_sum": 5, "test_sorted": 1.05})
        out = self.run_well("--assay-compare", "before.json", "--assay-gate")
        self.assertEqual((len(re.findall("  faster$", out, re.M)), len(re.findall("  same$", out, re.M))), (1, 2))
        self.assertIn("gate: passed\n", out)

    def test_without_the_gate_slower_passes(self):
        self.scale(self.saved, {"": 0.2})
        out = self.run_well("--assay-compare", "before.json")
        self.assertEqual(len(re.findall(" slower$", out, re.M)), 3)
        self.assertNotIn("gate", out)

    def test_a_margin_that_allows_it(self):
        self.scale(self.saved, {"": 0.7})       # 1.43 times as long
        self.assertEqual(self.pytest("--assay-compare", "before.json", "--assay-gate").returncode, 1)
        for given in ("60%", "0.6"):
            self.assertIn("up to 1 ± 60 %", self.run_well("--assay-compare", "before.json", "--assay-gate", "--assay-margin", given))

    def test_the_command_gives_the_same_verdicts(self):
        self.scale(self.saved, {"test_sum": 0.2, "test_sorted": 5})
        out = self.run_well("--assay-compare", "before.json", "--assay-save", "after.json")
        done = subprocess.run([sys.executable, "-m", "assay", "compare", "--gate", "--json", "-", "before.json", "after.json"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        leading = [found for found in json.loads(done.stdout)["comparisons"] if not found.get("beside")]
        self.assertEqual(len(leading), 3)
        for found in leading:
            self.assertRegex(out, rf"{re.escape(found['candidate'])} .* {found['ratio']:.3f} .* {found['verdict']}\n")
            self.assertEqual(found["margin"], 0.15)

    def test_two_benchmarks_of_one_test_fail_together(self):
        self.write("def test_two(assay_benchmark):\n    assay_benchmark(int)\n    assay_benchmark(float)\n")
        self.scale(self.save(), {"": 0.2})
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate")
        self.assertIn("test_it.py::test_two (2) is slower", done.stdout)
        self.assertIn("1 failed in", done.stdout)

    def test_inconclusive_passes_unless_strict(self):
        self.write("", "conftest.py")           # real samples, and too few of them
        self.write("import time\n\ndef test_sleep(assay_benchmark):\n    assay_benchmark(time.sleep, 0.02)\n")
        options = ("--assay-budget", "50ms")
        self.assertEqual(self.pytest(*options, "--assay-save", "before.json").returncode, 0)
        lenient = self.pytest(*options, "--assay-compare", "before.json", "--assay-gate")
        self.assertEqual(lenient.returncode, 0, lenient.stdout)
        self.assertIn("gate: passed; 1 of 1 inconclusive, which is no proof", lenient.stdout)
        self.assertRegex(lenient.stdout, r"test_it.py::test_sleep: .* at least 20 are needed")
        strict = self.pytest(*options, "--assay-compare", "before.json", "--assay-gate", "--assay-strict")
        self.assertEqual(strict.returncode, 1)
        self.assertIn("test_it.py::test_sleep may be slower or faster than in before.json:", strict.stdout)
        self.assertIn("--assay-budget 0.2s", strict.stdout)

    def test_new_and_missing_benchmarks_are_named(self):
        self.scale(self.saved, {"": 5})
        self.write("def test_sum(assay_benchmark):\n    assay_benchmark(int)\n\n\ndef test_new(assay_benchmark):\n    assay_benchmark(int)\n")
        out = self.run_well("--assay-compare", "before.json", "--assay-gate")
        self.assertRegex(out, r"(?m)^test_it.py::test_new .* new$")
        self.assertIn("in before.json and not measured now: test_it.py::test_sorted[10]", out)
        self.assertNotIn("differs", out)

    def test_collecting_judges_nothing(self):
        out = self.run_well("--collect-only", "--assay-compare", "before.json", "--assay-gate", "--assay-save", "other.json")
        self.assertNotIn("assay", out)
        self.assertFalse((self.folder / "other.json").exists())

    def test_nothing_in_common_is_no_pass(self):
        self.write("def test_other(assay_benchmark):\n    assay_benchmark(int)\n")
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate")
        self.assertEqual(done.returncode, 1)
        self.assertIn("gate: failed, because nothing could be compared", done.stdout)
        self.write("def test_plain():\n    pass\n")
        done = self.pytest(*BUDGET, "--assay-compare", "before.json", "--assay-gate")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no benchmark was measured in this run", done.stdout)
        self.assertNotIn("95 % interval", done.stdout)

    def test_a_failed_gate_does_not_replace_its_baseline(self):
        self.scale(self.saved, {"": 0.2})
        before = (self.folder / "before.json").read_text()
        both = ("--assay-compare", "before.json", "--assay-save", "before.json")
        done = self.pytest(*BUDGET, *both, "--assay-gate")
        self.assertEqual(done.returncode, 1)
        self.assertIn("before.json stays as it was", done.stdout)
        self.assertEqual((self.folder / "before.json").read_text(), before)
        self.assertIn("saved to before.json", self.run_well(*both))
        self.assertNotEqual((self.folder / "before.json").read_text(), before)


if __name__ == "__main__":
    unittest.main()
