"""The HTML for notebooks: tables are well-formed, every name is escaped, nothing is loaded from elsewhere, and the figures agree with the record."""
import html.parser
import re
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
        self.assertEqual(self.page(assay.compare(before, after)).row(f"{EVIL}: baseline → candidate 1")[1], "wall time")

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

    def test_bars_stay_in_their_cells(self):
        for share in (-1, 0, 0.5, 7, float("nan")):
            _, style = _html._bar("", share)
            self.assertLessEqual(float(re.search(r"([\d.]+)%", style).group(1)), 100)


if __name__ == "__main__":
    unittest.main()
