"""Spans, operations and decorated functions: what is counted, where it stands in the call tree, and bad input."""
import contextlib
import copy
import gc
import inspect
import io
import pickle
import threading
import time
import unittest

import assay


def tree(record):
    """{path of names: operation}"""
    operations = record.to_dict()["operations"]
    paths = []
    for operation in operations:
        parent = operation["parent"]
        paths.append((paths[parent] if parent is not None else ()) + (operation["name"],))
    return dict(zip(paths, operations))


class Measured(unittest.TestCase):
    def setUp(self):
        self.monitor = assay.Monitor()
        self.addCleanup(self.monitor.close)

    def tree(self):
        return tree(self.monitor.record())

    def counts(self):
        return {path: operation["count"] for path, operation in self.tree().items()}

    def clean(self):
        return not any(self.monitor.record().to_dict()["integrity"].values())


class Spans(Measured):
    def test_blocks_nest(self):
        outer, inner = self.monitor.operation("outer"), self.monitor.operation("inner")
        for _ in range(3):
            with outer:
                with inner:
                    pass
                with self.monitor.track("other"):
                    pass
        self.assertEqual(self.counts(), {("outer",): 3, ("outer", "inner"): 3, ("outer", "other"): 3})
        self.assertTrue(self.clean())

    def test_time_is_measured(self):
        with self.monitor.track("sleep") as span:
            self.assertIsNone(span.seconds)
            time.sleep(0.02)
        self.assertGreater(span.seconds, 0.02)
        self.assertLess(span.seconds, 2)
        total = self.tree()["sleep",]["total_seconds"]
        self.assertAlmostEqual(total, span.seconds, delta=0.01 * span.seconds)
        self.assertAlmostEqual(self.monitor.total_seconds(), total)
        self.assertAlmostEqual(self.monitor.operation_seconds("sleep"), total)
        self.assertIsNone(self.monitor.operation_seconds("never"))

    def test_one_name_is_one_operation(self):
        self.assertIs(self.monitor.operation("a"), self.monitor.operation("a"))
        self.assertIsNot(self.monitor.operation("a"), assay.operation("a"))

    def test_an_exception_closes_and_marks_the_span(self):
        op = self.monitor.operation("work")
        with self.assertRaisesRegex(ValueError, "inside"):
            with op, self.monitor.track("step"):
                raise ValueError("inside")
        with op:
            pass
        self.assertEqual(self.counts(), {("work",): 2, ("work", "step"): 1})
        self.assertEqual(self.tree()["work",]["failed_spans"], 1)
        self.assertEqual(self.tree()["work", "step"]["failed_spans"], 1)
        self.assertTrue(self.clean())

    def test_spans_that_are_kept_are_not_handed_out_again(self):
        spans = []
        for seconds in (0.002, 0, 0.001, 0):
            with self.monitor.track("x") as span:
                with self.monitor.track("x") as inner:
                    self.assertIsNot(inner, span)
                    time.sleep(seconds)
            spans.append((span, span.seconds))
        self.assertEqual(len({id(span) for span, _ in spans}), 4)
        for span, seconds in spans:
            self.assertEqual(span.seconds, seconds)
        leave = self.monitor.track("y").__exit__     # all that is left of a span that was never begun
        self.monitor.track("z").__enter__()          # and one that is open, which nobody refers to
        with self.monitor.track("z"):
            pass
        leave(None, None, None)
        self.assertEqual(self.counts()["z", "z"], 1)
        self.assertTrue(self.clean())

    def test_stacks_of_contexts(self):
        op = self.monitor.operation("op")
        with contextlib.ExitStack() as stack:
            self.assertIs(stack.enter_context(op), op)
            span = stack.enter_context(self.monitor.track("span"))
        with self.assertRaises(KeyError), contextlib.ExitStack() as stack:
            stack.enter_context(op)
            raise KeyError
        type(op).__enter__(op)
        type(op).__exit__(op, None, None, None)
        self.assertEqual(self.counts(), {("op",): 3, ("op", "span"): 1})
        self.assertEqual(self.tree()["op",]["failed_spans"], 1)
        self.assertIsNotNone(span.seconds)
        self.assertTrue(self.clean())

    def test_recursion(self):
        op = self.monitor.operation("f")

        def descend(depth):
            with op:
                if depth > 1:
                    descend(depth - 1)
        descend(5)
        self.assertEqual(self.counts(), {("f",) * depth: 1 for depth in range(1, 6)})

    def test_recursion_beyond_the_deepest_nesting_ends_in_order(self):
        op, outer = self.monitor.operation("f"), self.monitor.operation("outer")

        def descend(depth):
            with op:
                if depth > 1:
                    descend(depth - 1)
                time.sleep(0.0002 if depth in (1, 300) else 0)
        with outer:
            descend(300)
        with outer:
            pass
        found = self.tree()
        self.assertEqual(found["outer",]["count"], 2)
        self.assertGreater(found["outer", "f"]["total_seconds"], 0.0004)
        integrity = self.monitor.record().to_dict()["integrity"]
        self.assertEqual(integrity["dropped_spans"], 300 - 126)
        self.assertEqual(integrity["mismatched_ends"], 0)

    def test_threads_have_lanes_of_their_own(self):
        op = self.monitor.operation("work")
        begun = threading.Barrier(4)

        def work():
            with op:
                begun.wait()
                for _ in range(1000):
                    with op:
                        pass
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.counts(), {("work",): 4, ("work", "work"): 4000})
        self.assertTrue(self.clean())

    def test_generators_may_leave_blocks_out_of_order(self):
        load = self.monitor.operation("load")

        def items():
            for item in range(3):
                with load:
                    yield item
        source = items()
        with self.monitor.track("first"):
            next(source)                        # leaves "load" open
        with self.monitor.track("second"):      # begins in "load", which ends within it
            next(source)
        source.close()
        found = self.counts()
        self.assertEqual(found["first",], 1)
        self.assertEqual(found["first", "load"], 1)
        self.assertEqual(found["first", "load", "second"], 1)
        self.assertEqual(sum(count for path, count in found.items() if path[-1] == "load"), 2)
        self.assertTrue(self.clean())
        with self.monitor.track("after"):
            pass
        self.assertEqual(self.counts()["after",], 1)

    def test_interleaved_generators_keep_their_own_times(self):
        def items(seconds):
            with self.monitor.track("wait") as span:
                yield span
                time.sleep(seconds)
                yield span
        long, short = items(0.03), items(0)
        spans = next(long), next(short)
        next(long)
        long.close()                            # begun first, ended first
        time.sleep(0.03)
        short.close()
        self.assertGreater(spans[0].seconds, 0.03)
        self.assertGreater(spans[1].seconds, spans[0].seconds)
        self.assertTrue(self.clean())

    def test_many_names(self):
        for i in range(5000):
            with self.monitor.track(f"step {i}"):
                pass
        counts = self.counts()
        self.assertEqual(sum(counts.values()), 5000)
        self.assertGreater(len(counts), 1000)

    def test_counters_and_durations_from_elsewhere(self):
        self.monitor.add("kernel", 0.25)
        self.monitor.count("loss", 3.0)
        self.monitor.count("loss", 1.0)
        self.monitor.count("loss", float("nan"))
        record = self.monitor.record().to_dict()
        self.assertAlmostEqual(self.tree()["kernel",]["total_seconds"], 0.25, places=6)
        self.assertEqual((record["counters"][0]["count"], record["counters"][0]["last"]), (2, 1.0))
        for bad in (-1.0, float("nan"), float("inf")):
            with self.assertRaisesRegex(ValueError, "finite and not negative"):
                self.monitor.add("kernel", bad)

    def test_resident_memory(self):
        with self.monitor.track("sampled"):
            block = bytearray(64 << 20)
            time.sleep(0.02)
        self.assertGreater(self.tree()["sampled",]["rss_delta_bytes"], 32 << 20)
        del block
        with assay.Monitor(memory="rss") as every, assay.Monitor(memory=False) as none:
            for monitor in (every, none):
                for _ in range(50):
                    with monitor.track("x"):
                        pass
            self.assertEqual(tree(every.record())["x",]["rss_spans"], 50)
            self.assertNotIn("rss_spans", tree(none.record())["x",])

    def test_metrics_are_recorded_one_by_one(self):
        for _ in range(2):
            with self.monitor.metric("epoch"):
                block = bytearray(1 << 20)
        metrics = self.monitor.record().to_dict()["metrics"]
        self.assertEqual([metric["operation"] for metric in metrics], ["epoch", "epoch"])
        self.assertIsInstance(metrics[0]["cpu_delta_bytes"], (int, float))
        del block


class Decorated(Measured):
    def test_functions_keep_their_nature(self):
        @self.monitor.tracked
        def add(left, right=1):
            "Adds."
            return left + right
        self.assertEqual(add(1, right=2), 3)
        self.assertEqual((add.__name__, add.__doc__), ("add", "Adds."))
        self.assertEqual(list(self.counts().values()), [1])

    def test_parameters_of_every_kind(self):
        marker = object()

        def positional(a, b, /, c=3, *, d, e=marker):
            return a, b, c, d, e

        def gathered(a, *args, b=2, **kwargs):
            return a, args, b, kwargs

        def none():
            return "none"

        def collides(_assay_function_, _assay_operation_=1):
            return _assay_function_, _assay_operation_
        for function, calls in ((positional, [((1, 2), {"d": 4}), ((1, 2, 5), {"d": 4, "e": 5}), ((1,), {"d": 4}),
                                              ((1, 2), {}), ((1,), {"b": 2, "d": 4}), ((1, 2), {"d": 4, "x": 1})]),
                                (gathered, [((1, 2, 3), {"b": 4, "c": 5}), ((), {})]),
                                (none, [((), {}), ((1,), {})]), (collides, [((1,), {}), ((1, 2), {})]),
                                (max, [((1, 2), {}), ((), {})])):
            measured = self.monitor.tracked("f")(function)
            self.assertEqual(str(inspect.signature(measured)) if function is not max else "",
                             str(inspect.signature(function)) if function is not max else "")
            for args, kwargs in calls:
                try:
                    expected = function(*args, **kwargs)
                except TypeError:
                    with self.assertRaises(TypeError):
                        measured(*args, **kwargs)
                else:
                    self.assertEqual(measured(*args, **kwargs), expected)

    def test_names_and_methods(self):
        monitor = self.monitor

        class Model:
            @monitor.tracked("forward")
            def forward(self, x):
                return 2 * x

            @monitor.tracked
            @staticmethod
            def loss(x):
                return -x

            @classmethod
            @monitor.tracked(name="make")
            def make(cls):
                return cls()
        model = Model.make()
        self.assertEqual((model.forward(3), model.loss(3)), (6, -3))
        names = {path[0] for path in self.counts()}
        self.assertEqual(names, {"forward", "make", "Decorated.test_names_and_methods.<locals>.Model.loss"})

    def test_generators_are_measured_while_they_run(self):
        @self.monitor.tracked("items")
        def items():
            got = yield 1
            try:
                yield got
            except KeyError:
                yield "caught"
            return "end"

        def drive():
            source = items()
            out = [next(source), source.send("sent"), source.throw(KeyError())]
            time.sleep(0.05)
            try:
                next(source)
            except StopIteration as stop:
                out.append(stop.value)
            return out
        self.assertEqual(drive(), [1, "sent", "caught", "end"])
        items_found = self.tree()["items",]
        self.assertEqual(items_found["count"], 4)
        self.assertLess(items_found["total_seconds"], 0.04)
        self.assertNotIn("failed_spans", items_found)

    def test_only_functions(self):
        with self.assertRaisesRegex(TypeError, "decorates functions"):
            self.monitor.tracked(3)


class BadInput(unittest.TestCase):
    def test_names(self):
        for call in (assay.track, assay.operation, assay.Monitor().track, assay.Monitor().metric):
            for bad in (None, 3, b"bytes", ["list"]):
                with self.assertRaisesRegex(TypeError, "the name of an operation must be a string, not"):
                    call(bad)
            with self.assertRaisesRegex(ValueError, "null character"):
                call("a\0b")
        monitor = assay.Monitor()
        for odd in ("", "größe", "\udcff", "a\nb", "x" * 100000, type("Name", (str,), {})("subclass")):
            with monitor.track(odd):
                pass
        self.assertEqual(len(monitor.record().to_dict()["operations"]), 6)

    def test_monitors_after_close(self):
        monitor = assay.Monitor()
        op, span = monitor.operation("op"), monitor.track("span")
        with op:
            monitor.close()             # the block goes on and ends
        monitor.close()
        self.assertTrue(monitor.closed)
        for use in (monitor.record, monitor.print_summary, monitor.clear, monitor.total_seconds,
                    lambda: monitor.track("x"), lambda: monitor.operation("x"), lambda: monitor.count("x", 1.0),
                    op.__enter__, span.__enter__, monitor.__enter__):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()

    def test_ends_without_a_begin_are_counted(self):
        monitor = assay.Monitor()
        op = monitor.operation("op")
        op.__exit__(None, None, None)
        with op:
            pass
        op.__exit__()
        record = monitor.record().to_dict()
        self.assertEqual(record["operations"][0]["count"], 1)
        self.assertEqual(record["integrity"]["mismatched_ends"], 2)

    def test_a_span_cannot_contain_itself(self):
        span = assay.Monitor().track("x")
        with span, self.assertRaisesRegex(RuntimeError, "open already"):
            with span:
                pass
        with span:
            pass                        # but it can be used again

    def test_types_cannot_be_made_from_nothing(self):
        for kind in (assay._core.Operation, assay._core.Span, assay._core.Record):
            with self.assertRaises(TypeError):
                kind()
        with self.assertRaises(TypeError):
            type("Mine", (assay._core.Operation,), {})()
        with self.assertRaises(TypeError):
            type(assay.operation("x"))()
        self.assertIsInstance(assay.operation("x"), assay._core.Operation)
        for wrong in ({"memory": "rom"}, {"samples": -1}, {"memory": 3}, {"name": 3}, {"nonsense": 1}):
            with self.assertRaises((TypeError, ValueError)):
                assay.Monitor(**wrong)

    def test_copies(self):
        monitor = assay.Monitor()
        shared, own = assay.operation("shared"), monitor.operation("own")
        self.assertIs(pickle.loads(pickle.dumps(shared)), shared)
        self.assertIs(copy.copy(own), own)
        self.assertIs(copy.deepcopy({"op": own})["op"], own)
        for unpicklable in (own, monitor, assay.track("x"), monitor.record()):
            with self.assertRaisesRegex(TypeError, "pickle"):
                pickle.dumps(unpicklable)

    def test_journals_that_cannot_be(self):
        with self.assertRaisesRegex(OSError, "nonexistent"):
            assay.Monitor(journal="/nonexistent/journal.assay")
        with self.assertRaises(FileNotFoundError):
            assay.snapshot("/nonexistent")
        with self.assertRaises(FileNotFoundError):
            assay.load("/nonexistent")


class Summary(unittest.TestCase):
    def test_goes_through_sys_stdout(self):
        monitor = assay.Monitor()
        with monitor.track("forward"):
            pass
        out, other = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out):
            monitor.print_summary()
        monitor.print_summary(show_aggregate=False, file=other)
        self.assertIn("PERFORMANCE SUMMARY", out.getvalue())
        self.assertIn("AGGREGATE STATISTICS", out.getvalue())
        self.assertIn("forward", other.getvalue())
        self.assertNotIn("AGGREGATE", other.getvalue())
        with contextlib.redirect_stdout(None):
            monitor.print_summary()

    def test_the_default_monitor(self):
        before = assay._core.set_default_monitor(None)
        self.addCleanup(assay._core.set_default_monitor, before)
        op = assay.operation("of the default monitor")
        with op:
            pass
        self.assertIsInstance(assay.default_monitor(), assay.Monitor)
        self.assertEqual(assay.record().to_dict()["operations"][0]["name"], "of the default monitor")
        out = io.StringIO()
        assay.print_summary(file=out)
        self.assertIn("of the default monitor", out.getvalue())

    def test_a_disabled_monitor_records_nothing(self):
        monitor = assay.Monitor(enabled=False)
        with monitor.track("x") as span, monitor.operation("y"):
            pass
        self.assertIsNone(span.seconds)
        self.assertEqual(monitor.record().to_dict().get("operations", []), [])

    def test_monitors_are_collected(self):
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(100):
            monitor = assay.Monitor()
            with monitor.operation("x"), monitor.track("y"):
                pass
        del monitor
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before, 50)


if __name__ == "__main__":
    unittest.main()
