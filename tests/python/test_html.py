"""The HTML for notebooks: tables are well-formed, every name is escaped, nothing is loaded from elsewhere, and the figures agree with the record."""
import html.parser
import json
import os
import re
import tempfile
import time
import unittest

import assay
from assay import _html
from assay._format import digits, interval, ratio, seconds, size

EVIL = "<script>alert('1')</script> & \"more\""
VOID = {"br", "hr", "img"}


class Page(html.parser.HTMLParser):
    """Elements that close in order, and the cells of every table."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.rows, self.styles = [], set(), [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.styles.append(dict(attributes).get("style") or "")
        for name, value in attributes:
            assert name in ("style", "class"), (name, value)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if any(tag in ("td", "th") for tag in self.open):
            self.rows[-1][-1] += data

    def row(self, first):
        return next(row for row in self.rows if row and row[0] == first)


class Formats(unittest.TestCase):
    def test_figures(self):
        self.assertEqual([seconds(value) for value in (1.5, 0.0123, 4.5e-6, 3e-11, 0, None, float("nan"), 4321.0)],
                         ["1.500 s", "12.30 ms", "4.500 µs", "0.030 ns", "0 s", "n/a", "n/a", "4321 s"])
        self.assertEqual([size(value) for value in (0, 1023, 1536, -3 << 20, None)], ["0 B", "1023 B", "1.500 KiB", "-3.000 MiB", "n/a"])
        self.assertEqual([digits(value) for value in (36543.2, 0.5, 2, None)], ["36540", "0.5", "2", "n/a"])
        self.assertEqual((ratio(1.25), interval(1, 1.5), interval(None, 1)), ("1.250", "1.000 … 1.500", "n/a"))


class Shown(unittest.TestCase):
    def page(self, thing):
        text = thing._repr_html_()
        self.assertNotRegex(text, r"(?i)https?:|<script|<link|<img|url\(|@import")
        page = Page(text)
        self.assertLessEqual(page.tags, {"div", "table", "tr", "td", "th", "b"})
        for style in page.styles:       # on light pages and dark ones: no opaque colour
            self.assertNotRegex(style, r"(^|;)color:|#[0-9a-f]{3}|background:(white|black)")
        return page

    def monitor(self):
        monitor = assay.Monitor("m")
        self.addCleanup(monitor.close)
        return monitor

    def test_a_call_tree_with_evil_names(self):
        monitor = self.monitor()
        for _ in range(3):
            with monitor.track(EVIL), monitor.track("inner"):
                time.sleep(0.001)
        with monitor.metric("single"):
            pass
        page = self.page(monitor)
        self.assertEqual(page.row(EVIL)[1], "3")
        self.assertEqual(page.row("inner")[1], "3")
        self.assertIn(["single"], [row[:1] for row in page.rows])
        names = [row[0] for row in page.rows]
        self.assertLess(names.index(EVIL), names.index("inner"))        # below the one that it is part of
        inner = next(op for op in monitor.record().to_dict()["operations"] if op["name"] == "inner")
        self.assertEqual(page.row("inner")[2], seconds(inner["total_seconds"]))
        monitor.close()
        self.assertIsNone(monitor._repr_html_())

    def test_nothing_measured(self):
        self.assertIn("nothing was measured", self.monitor().record()._repr_html_())

    def test_many_operations_end_in_a_count(self):
        monitor = self.monitor()
        for number in range(_html._ROWS + 7):
            with monitor.track(f"operation {number}"):
                pass
        self.assertIn("… and 7 more", monitor._repr_html_())

    def test_a_comparison(self):
        record = assay.bench(lambda: sum(range(2000)), lambda: sum(range(10)), names=[EVIL, "short"], budget_seconds=0.5)
        page = self.page(record)
        row = page.row(f"{EVIL} → short")
        found = record.comparisons[0]
        self.assertEqual(row[1:4], ["wall time", ratio(found["ratio"]), interval(found["low"], found["high"])])
        self.assertIn(found["verdict"], row)
        self.assertEqual(page.row("short")[4], str(len(record.to_dict()["subjects"][1]["samples_seconds"])))

    def test_an_inconclusive_comparison_says_why(self):
        record = assay.bench(int, float, runs=3)
        page = self.page(record)
        self.assertIn(record.comparisons[0]["reason"], page.row("int → float"))

    def test_a_comparison_of_records(self):
        before, after = (assay.bench(int, names=[EVIL], budget_seconds=0.1) for _ in range(2))
        row = self.page(assay.compare(before, after)).row(f"{EVIL}: baseline → candidate 1")
        self.assertIn(row[1], ("wall time", "cpu time"))        # on a busy machine processor time decides

    def test_fits(self):
        sizes = [1, 10, 100, 1000, 10000] * 2
        page = self.page(assay.fit(sizes, [2e-6 * n for n in sizes]))
        self.assertEqual(page.row("100"), ["100", "200.0 µs", "200.0 µs", "2"])
        self.assertIn("at least 3", assay.fit([1, 2], [1, 2])._repr_html_())

    def test_a_profile(self):
        page = self.page(assay.profile(lambda x: x, 1, runs=5))
        self.assertEqual(page.row("forward")[4], "5")

    def test_a_run_during_and_after(self):
        run = assay.run(EVIL)
        self.assertIsNone(run._repr_html_())
        with run:
            with assay.track("in it"):
                pass
            self.page(run).row("in it")
        self.assertEqual(self.page(run).row("in it")[1], "1")
        self.assertRegex(run._repr_html_(), r"wall time")

    def test_steps_and_the_seeds_classes(self):
        steps = assay.steps([[1, 2], [3, 4]])
        self.assertEqual(self.page(steps).row("samples a second")[1], "n/a")
        for _ in steps:
            pass
        self.assertEqual(self.page(steps).row("samples")[1], "4")
        from assay.memory_monitor import PerformanceMonitor
        from assay.runtime_analyzer import RuntimeAnalyzer
        monitor = PerformanceMonitor()
        with monitor.track("forward"):
            pass
        self.page(monitor).row("forward")
        analyzer = RuntimeAnalyzer()
        times = analyzer.benchmark_inference(lambda z, n: z, [1.0], n_steps=10, n_trials=5)
        profile = analyzer.build_profile(EVIL, 0.5, times, 84, 4, 10, lag=5)
        self.assertEqual(self.page(profile).row("total seconds")[1], "500.0 ms")

    def loaded(self, **parts):
        """A record of a run with these parts, by the way of a file."""
        whole = {"schema": "assay-record", "version": 2, "kind": "run", "created": "2026-11-17T12:00:00Z", **parts}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(whole, file)
            return assay.load(path)

    def test_a_script(self):
        def code(line, own, waiting=0.0, **more):
            return {"name": EVIL, "file": "/somewhere/pack/__init__.py", "line": line, "self_seconds": own, "total_seconds": 2 * own,
                    "waiting_seconds": waiting, "native_seconds": own / 4, "samples": 10, **more}
        record = self.loaded(python={
            "processes": 1, "rate_hz": 100, "samples": 20, "busy_seconds": 4.0, "native_seconds": 1.0, "waiting_seconds": 2.0, "other_seconds": 0,
            "sampler_seconds": 0.01, "interval_bytes": 16384, "allocated_bytes": 4096, "peak_bytes": 2048,
            "functions": [code(1, 3.0)], "lines": [code(3, 3.0, source=f"x = {EVIL}"), code(4, 1.0), code(5, 0.0, 2.0)],
            "allocations": [{"name": "f", "file": "train.py", "line": 7, "bytes": 1024, "blocks": 2, "peak_bytes": 512, "live_bytes": 0, "samples": 1}]})
        page = self.page(record)
        self.assertEqual(page.row("pack/__init__.py:3"), ["pack/__init__.py:3", "75.0 %", "3.000 s", "25 %", f"x = {EVIL}"])
        self.assertEqual(page.row("pack/__init__.py:4")[1:3], ["25.0 %", "1.000 s"])
        self.assertEqual(page.row("pack/__init__.py:5")[1], "2.000 s")           # it only waited
        self.assertEqual(page.row(f"{EVIL} (pack/__init__.py:1)")[4], "6.000 s")
        self.assertEqual(page.row("train.py:7")[1:4], ["25.0 %", "1.000 KiB", "512 B"])

    def test_work_of_a_gpu(self):
        kernel = {"name": EVIL, "count": 3, "total_seconds": 0.3, "mean_seconds": 0.1, "min_seconds": 0.1, "max_seconds": 0.1, "std_seconds": 0.0, "share": 0.75}
        page = self.page(self.loaded(gpu={
            "processes": 1, "span_seconds": 1.0, "busy_seconds": 0.5, "kernel_seconds": 0.4, "idle_seconds": 0.6, "longest_gap_seconds": 0.2,
            "allocations": 1, "releases": 1, "allocated_bytes": 10, "peak_bytes": 10, "live_bytes": 0, "kernels": [kernel],
            "copies": [{"direction": "host to device", "memory": "pinned", "count": 2, "bytes": 2048, "seconds": 0.1, "bytes_per_second": 20480}],
            "idle": [{"cause": "launch", "count": 4, "seconds": 0.6, "share": 0.6}]}))
        self.assertEqual(page.row(EVIL)[1:], ["75.0 %", "3", "300.0 ms", "100.0 ms"])
        self.assertEqual(page.row("host to device pinned")[1:], ["2", "2.000 KiB", "100.0 ms"])
        self.assertEqual(page.row("launch")[1:], ["60.0 %", "600.0 ms", "4"])

    def test_bars_stay_in_their_cells(self):
        for share in (-1, 0, 0.5, 7, float("nan")):
            _, style = _html._bar("", share)
            self.assertLessEqual(float(re.search(r"([\d.]+)%", style).group(1)), 100)


if __name__ == "__main__":
    unittest.main()
