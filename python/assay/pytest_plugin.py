"""Benchmarks in tests: a plugin of pytest with the fixture `assay_benchmark`.

    def test_parse(assay_benchmark):
        assert assay_benchmark(parse, "some text") == ["some", "text"]

    pytest --assay-save before.json                     (a record, as `assay compare` and `assay report` read it)
    pytest --assay-compare before.json --assay-gate     (fails the tests that got slower)

An installed package registers the plugin. With build/python, use `pytest -p assay.pytest_plugin`.

All verdicts are given together, after the last test, because all comparisons share one risk of a false alarm. The record has the kind of a
study, with the name "pytest", because two runs of a program differ by more than the noise within one of them. So single runs are compared
with the margin of 15 %, relative to a yardstick that was timed beside the samples (docs/comparing.md). A test that seems
slower is measured again in a fresh process. It is called slower only if it is slower there too (_confirm.py).
"""
import argparse
import functools
import os
import platform
import shutil
import textwrap
import types
from typing import Any, Callable, Optional, TypeVar

import pytest

from . import _confirm, _core
from ._analysis import check_plain, compare
from ._format import interval, ratio, seconds
from ._junit import add_failures
from ._monitor import Record, load

BUDGET_SECONDS = 1.0
Result = TypeVar("Result")
_KEY = "assay-benchmarks"


# ---- options ----

def _budget(text):
    scale, number = (1e-3, text[:-2]) if text.endswith("ms") else (1.0, text[:-1] if text.endswith("s") else text)
    return _positive(number, scale, text)


def _share(text):
    share = _positive(text[:-1], 0.01, text) if text.endswith("%") else _positive(text, 1.0, text)
    if share >= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share below 1, such as 0.1 or 10%")
    return share


def _positive(number, scale, text):
    try:
        value = float(number) * scale
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0")
    return value


def pytest_addoption(parser):
    group = parser.getgroup("assay", "benchmarks with the fixture assay_benchmark")
    add = group.addoption
    add("--assay-save", metavar="FILE", help="save what was measured as a record, for --assay-compare, `assay compare` and `assay report`")
    add("--assay-compare", metavar="FILE", help="compare with a record that was saved before, by the rule of `assay compare`")
    add("--assay-gate", action="store_true", help="fail the tests that are slower than in the record of --assay-compare")
    add("--assay-strict", action="store_true", help="with --assay-gate: fail the tests too whose comparison is inconclusive")
    add("--assay-margin", metavar="SHARE", type=_share, help="differences up to this share are none (default 15%%: two runs of one program "
                                                             "differ by that much)")
    add("--assay-budget", metavar="SECONDS", type=_budget, default=BUDGET_SECONDS,
        help="how long to measure each benchmark at most (default 1s)")
    add("--assay-single", action="store_true", help="believe this process: do not measure tests that seem slower again in a second one")
    add("--assay-once", action="store_true", help="call each benchmarked function once and measure nothing")


def _be_the_second_process(option):
    """Measure and save, and leave the verdict to the process that started this one."""
    option.assay_save = os.environ[_confirm.SAVE]
    option.assay_compare = None
    option.assay_gate = option.assay_strict = option.assay_once = False


def pytest_configure(config):
    option = config.option
    if _confirm.SAVE in os.environ:
        _be_the_second_process(option)
    if option.assay_gate and not option.assay_compare:
        raise pytest.UsageError("--assay-gate needs a record to compare with: --assay-compare FILE")
    if option.assay_strict and not option.assay_gate:
        raise pytest.UsageError("--assay-strict is a way of --assay-gate, which is missing")
    wanted = option.assay_save or option.assay_compare
    parallel = hasattr(config, "workerinput") or bool(getattr(option, "numprocesses", None))
    if wanted and parallel:
        raise pytest.UsageError("benchmarks that run beside each other disturb each other: run them without -n of pytest-xdist (-n 0)")
    if wanted and option.assay_once:
        raise pytest.UsageError("--assay-once measures nothing, so there is nothing to save or to compare")
    if option.collectonly:              # no test runs, so there is nothing to measure, to save or to judge
        option.assay_gate = False
        option.assay_save = option.assay_compare = None
    session = Benchmarks(option, once=option.assay_once or parallel)
    if option.assay_compare:
        session.baseline = _load(option.assay_compare)
    if option.assay_save:
        folder = os.path.dirname(os.path.abspath(option.assay_save))
        if not os.path.isdir(folder):
            raise pytest.UsageError(f"--assay-save: there is no folder {folder!r}")
        if os.path.isdir(option.assay_save):
            raise pytest.UsageError(f"--assay-save: {option.assay_save!r} is a folder; name a file in it")
    config.pluginmanager.register(session, _KEY)


def _load(path):
    try:
        return load(path)
    except (OSError, ValueError, RuntimeError) as error:
        raise pytest.UsageError(f"--assay-compare: {error}") from None


# ---- the fixture ----

class Benchmark:
    """The value of the fixture `assay_benchmark`. Call it with a function and its arguments."""

    record: Optional[Record]        # of the last call; None before the first call, and with --assay-once

    def __init__(self, session, nodeid):
        self._session = session
        self._nodeid = nodeid
        self.record = None

    def __call__(self, function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
        """Measure function(*args, **kwargs), and return its result. `record` then has the figures.

        The function is called once for its result, and then until the precision of 1 % is reached or --assay-budget is spent. So it must be
        possible to call it several times.
        """
        if not callable(function):
            raise TypeError(f"assay_benchmark(function, *args) calls a function, and {function!r} cannot be called")
        check_plain(function)
        result = function(*args, **kwargs)
        if not self._session.once:
            call = functools.partial(function, *args, **kwargs) if args or kwargs else function
            self.record = self._session.measure(self._nodeid, call)
        return result


@pytest.fixture
def assay_benchmark(request):
    """assay_benchmark(function, *args, **kwargs) measures the call and returns its result."""
    return Benchmark(request.config.pluginmanager.get_plugin(_KEY), request.node.nodeid)


# ---- the session ----

class Benchmarks:
    """All benchmarks of a session, with their comparisons and the verdict of the gate."""

    def __init__(self, option, once):
        self.option = option
        self.once = once
        self.baseline = None
        self.measured = {}          # name of a subject -> (nodeid, record)
        self.failed = set()         # nodeids of tests that failed for another reason than their times
        self.comparison = None
        self.problem = None         # the reason why there is no comparison
        self.unconfirmed = {}       # name -> the comparison in which a second process does not find it slower
        self.unasked = None         # the reason why there was no second process
        self.stopped = {}           # nodeid -> (headline, text), for the tests that the gate failed
        self.saved = None           # a sentence on the result of --assay-save

    def measure(self, nodeid, call):
        name, number = nodeid, 2
        while name in self.measured:
            name, number = f"{nodeid} ({number})", number + 1
        record = _core.bench((call,), (name,), budget_seconds=self.option.assay_budget, yardstick=True)
        self.measured[name] = nodeid, record
        return record

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid)

    def record(self):
        """All figures as one record. None if nothing was measured."""
        parts = [record.to_dict() for nodeid, record in self.measured.values() if nodeid not in self.failed]
        if not parts:
            return None
        whole = parts[0]
        whole.update(kind="study", study="pytest", name="pytest", comparisons=[],
                     settings={"python": platform.python_version(), "implementation": platform.python_implementation()})
        whole["subjects"] = [subject for part in parts for subject in part["subjects"]]
        return Record.from_dict(whole)

    # This hook runs before the terminal prints its summary. pytest writes the file of --junitxml at the `yield`.
    @pytest.hookimpl(hookwrapper=True)
    def pytest_sessionfinish(self, session):
        self.finish(session)
        yield
        path = getattr(self.option, "xmlpath", None)
        if path and self.stopped:
            add_failures(os.path.expanduser(os.path.expandvars(path)), self.stopped)

    def finish(self, session):
        record = self.record()
        if record is None and not self.option.assay_gate:
            return
        if self.baseline is not None:
            self.compare(record)
            self.confirm(session.config)
        slower = self.judge(session) if self.option.assay_gate else []
        if self.option.assay_save and record is not None:
            self.save(record, keep=bool(slower))

    def compare(self, record):
        if record is None:
            self.problem = "no benchmark was measured in this run"
            return
        try:
            self.comparison = compare(self.baseline, record, margin=self.option.assay_margin)
        except (ValueError, RuntimeError) as error:
            self.problem = str(error)

    def confirm(self, config):
        """Measure what seems slower again in a fresh process, and note where it is not slower there."""
        slower = [name for name, found in self.leading().items() if found["verdict"] == "slower"]
        if not slower or self.option.assay_single:
            return
        again, self.unasked = _confirm.measure_again(config, sorted({self.measured[name][0] for name in slower}), self.option.assay_budget)
        if again is None:
            return
        try:
            second = _leading_of(compare(self.baseline, again, margin=self.option.assay_margin))
        except (ValueError, RuntimeError) as error:
            self.unasked = str(error)
            return
        self.unconfirmed = {name: second[name] for name in slower if name in second and second[name]["verdict"] != "slower"}

    def leading(self):
        """{name: comparison} of the comparisons that the gate judges."""
        found = _leading_of(self.comparison) if self.comparison is not None else {}
        for name, second in self.unconfirmed.items():
            reason = (f"a second process does not confirm that it is slower: {ratio(second['ratio'])} times as long there "
                      f"({interval(second['low'], second['high'])})")
            found[name] = {**found[name], "verdict": "inconclusive", "reason": reason}
        return found

    def judge(self, session):
        """Fail the tests that do not pass the gate. Returns their nodeids."""
        bad = ("slower", "inconclusive") if self.option.assay_strict else ("slower",)
        stopped = {}
        for name, found in self.leading().items():
            if found["verdict"] in bad:
                stopped.setdefault(self.measured[name][0], []).append((name, found))
        for nodeid, findings in stopped.items():
            _, first = findings[0]
            headline = f"{first['verdict']}: {ratio(first['ratio'])} times as long ({interval(first['low'], first['high'])})"
            lines = [line for name, found in findings for line in self.explain(name, found)]
            self.stopped[nodeid] = headline, "\n".join(lines)
            _fail_test(session, nodeid, headline, lines)
        if stopped or self.comparison is None:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return list(stopped)

    def explain(self, name, found):
        path, slower = self.option.assay_compare, found["verdict"] == "slower"
        yield f"{name} is slower than in {path}:" if slower else f"{name} may be slower or faster than in {path}:"
        yield f"  {ratio(found['ratio'])} times as long (95 % interval {interval(found['low'], found['high'])})"
        yield f"  {self.times(name)}"
        yield f"  up to 1 ± {100 * found['margin']:.4g} % counts as the same"
        if slower and self.unasked is None and not self.option.assay_single:
            yield "  a second process, which measured it again, found it slower too"
        if found["reason"]:
            yield f"  {found['reason']}"
        yield "What to do:"
        if slower:
            yield f"  If the change is worth it, save a new baseline: --assay-save {path}"
            yield "  If in doubt, run again when less else runs; `assay doctor` says what disturbs."
            yield "  If this much does not matter, allow it: --assay-margin"
        else:
            yield f"  Measure for longer, the baseline too: --assay-budget {4 * self.option.assay_budget:.4g}s"
            yield "  Or run again when less else runs; `assay doctor` says what disturbs."

    def times(self, name):
        subjects = {(subject["origin"], subject["name"]): subject for subject in self.comparison.to_dict()["subjects"]}
        before, now = subjects.get(("baseline", name)), subjects.get(("candidate 1", name))
        if before is None or now is None:
            return None
        return (f"{seconds(before['mean_seconds'])} before ({len(before['samples_seconds'])} samples), "
                f"{seconds(now['mean_seconds'])} now ({len(now['samples_seconds'])} samples)")

    def save(self, record, keep):
        path = self.option.assay_save
        if keep and self.option.assay_compare and os.path.realpath(path) == os.path.realpath(self.option.assay_compare):
            self.saved = f"{path} stays as it was, because the gate failed; to accept the new times, save without --assay-gate"
            return
        try:
            record.save(path)
            self.saved = f"saved to {path}"
        except (OSError, ValueError, RuntimeError) as error:
            self.saved = f"not saved: {error}"

    # ---- the summary ----

    def pytest_terminal_summary(self, terminalreporter):
        shown = [(name, record) for name, (nodeid, record) in self.measured.items() if nodeid not in self.failed]
        if not shown and self.problem is None:
            return
        write = terminalreporter.write_line
        terminalreporter.write_sep("=", "assay benchmarks")
        rows, verdicts = self.rows(shown) if shown else ([], [])
        for row, verdict in zip(rows, verdicts):
            color = {"slower": {"red": True}, "faster": {"green": True}, "inconclusive": {"yellow": True}}.get(verdict, {})
            for line in _lines_of(row, _width()):
                write(line, **color)
        for line in _folded(self.remarks()):
            write(line)
        if self.option.assay_gate:
            result = self.gate()
            write(f"gate: {result}", red=result.startswith("failed"), green=result == "passed")

    def rows(self, shown):
        """(rows, verdicts). A row is the name of a benchmark and four figures; the first row has the headings."""
        leading = self.leading()
        heads = ("mean", "ratio", "95 % interval", "verdict") if self.comparison is not None else ("mean", "95 % interval", "samples", "")
        rows, verdicts = [("benchmark", *heads)], [None]
        for name, record in shown:
            subject = record.to_dict()["subjects"][0]
            found = leading.get(name)
            mean = seconds(subject["mean_seconds"])
            verdicts.append(found["verdict"] if found is not None else None)
            if found is not None:
                rows.append((name, mean, ratio(found["ratio"]), interval(found["low"], found["high"]), found["verdict"]))
            elif self.comparison is not None:
                rows.append((name, mean, "", "", "new"))
            else:
                between = interval(subject["low_seconds"], subject["high_seconds"], seconds)
                rows.append((name, mean, between, str(len(subject["samples_seconds"])), ""))
        return rows, verdicts

    def remarks(self):
        if self.problem is not None:
            yield f"nothing to compare with {self.option.assay_compare}: {self.problem}"
        if self.comparison is not None:
            yield from self.remarks_of_comparison()
        if self.saved is not None:
            yield self.saved

    def remarks_of_comparison(self):
        leading = self.leading()
        if self.unasked is not None:
            yield f"tests that seem slower could not be measured again in a second process: {self.unasked}"
        for name, found in leading.items():
            if found["verdict"] == "inconclusive" or found["reason"]:
                yield f"{name}: {found['reason']}"
        for different in self.comparison.to_dict().get("differences", []):
            if not different["what"].startswith(("benchmark ", "iterations")):     # the table and the next remark name lonely benchmarks
                yield f"{different['what']} differs: {different['baseline']} before, {different['candidate']} now"
        missing = [subject["name"] for subject in self.baseline.to_dict().get("subjects", []) if subject["name"] not in self.measured]
        if missing:
            yield f"in {self.option.assay_compare} and not measured now: {', '.join(missing)}"
        margin = next((found["margin"] for found in leading.values()), None)
        if margin is not None:
            yield (f"ratio: the time over that of {self.option.assay_compare}; up to 1 ± {100 * margin:.4g} % counts as the same "
                   "(--assay-margin)")

    def gate(self):
        verdicts = [found["verdict"] for found in self.leading().values()]
        if not verdicts:
            return "failed, because nothing could be compared"
        slower, unknown = verdicts.count("slower"), verdicts.count("inconclusive")
        if slower or (unknown and self.option.assay_strict):
            return f"failed; {slower} of {len(verdicts)} slower" + (f", {unknown} inconclusive" if unknown else "")
        return "passed" + (f"; {unknown} of {len(verdicts)} inconclusive, which is no proof" if unknown else "")


def _leading_of(comparison):
    return {found["candidate"]: found for found in comparison.comparisons if not found.get("beside")}


def _lines_of(row, width):
    """The lines of a row. The name has a line of its own if the figures leave no room for it."""
    name, *figures = row
    text = f"{figures[0]:>10}  {figures[1]:>21}  {figures[2]:>8}" if not figures[3] else \
        f"{figures[0]:>10}  {figures[1]:>7}  {figures[2]:>15}  {figures[3]}"
    room = max(width - 51, 10)
    return [f"{name:<{room}} {text}"] if len(name) <= room else [name, f"{'':<{room}} {text}"]


class _Finding:
    """A failure as pytest shows it: the lines, and the headline in the short summary."""

    def __init__(self, headline, lines):
        self.lines = lines
        self.reprcrash = types.SimpleNamespace(message=headline)

    def toterminal(self, out):
        for line in _folded(self.lines):
            out.line(line)

    def __str__(self):
        return "\n".join(self.lines)


def _folded(lines):
    """The lines, wrapped to the width of the terminal. A continued line has the indentation of its beginning."""
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        yield from textwrap.wrap(line, _width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def _width():
    return max(shutil.get_terminal_size((80, 24)).columns, 40)


def _fail_test(session, nodeid, headline, lines):
    """Turn the report of a test that passed into the report of a failure, because verdicts are known only after the last test."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = terminal.stats.get("passed", []) if terminal is not None else []
    report = next((report for report in reports if report.nodeid == nodeid and report.when == "call"), None)
    if report is not None:
        reports.remove(report)
        if not reports:
            del terminal.stats["passed"]
        report.outcome, report.longrepr = "failed", _Finding(headline, lines)
        terminal.stats.setdefault("failed", []).append(report)
        session.testsfailed += 1
