"""Tasks of asyncio, forks and other processes: no span is lost, and none is at the wrong place of the call tree."""
import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import assay
from test_spans import tree


def counts(record):
    return {path: operation["count"] for path, operation in tree(record).items()}


def integrity(record):
    return {key: value for key, value in record.to_dict()["integrity"].items() if value}


class Tasks(unittest.TestCase):
    def setUp(self):
        self.monitor = assay.Monitor()
        self.addCleanup(self.monitor.close)
        self.outer, self.inner = self.monitor.operation("outer"), self.monitor.operation("inner")

    async def task(self, steps):
        with self.outer:
            for _ in range(steps):
                async with self.inner:
                    await asyncio.sleep(0)
                async with self.monitor.track("tracked") as span:
                    await asyncio.sleep(0)
                assert span.seconds is not None

    def test_each_task_is_a_lane(self):
        async def main():
            await asyncio.gather(*(self.task(20) for _ in range(30)))
        asyncio.run(main())
        record = self.monitor.record()
        self.assertEqual(counts(record), {("outer",): 30, ("outer", "inner"): 600, ("outer", "tracked"): 600})
        self.assertEqual(integrity(record), {})
        self.assertIn("task", {lane["kind"] for lane in record.to_dict()["lanes"]})

    def test_spans_of_the_thread_stay_with_it(self):
        async def main():
            with self.inner:
                await asyncio.gather(self.task(1), self.task(1))
        with self.monitor.track("thread"):
            asyncio.run(main())
            with self.inner:
                pass
        found = counts(self.monitor.record())
        self.assertEqual(found["thread",], 1)
        self.assertEqual(found["thread", "inner"], 1)
        self.assertEqual(found["outer",], 2)
        self.assertEqual(integrity(self.monitor.record()), {})

    def test_a_cancelled_task_ends_its_spans_as_failed(self):
        async def main():
            task = asyncio.create_task(self.task(1000000))
            await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        asyncio.run(main())
        record = self.monitor.record()
        self.assertEqual(tree(record)["outer",]["failed_spans"], 1)
        self.assertEqual(integrity(record), {})

    def test_loops_in_several_threads(self):
        def loop():
            async def main():
                await asyncio.gather(*(self.task(50) for _ in range(5)))
            asyncio.run(main())
        threads = [threading.Thread(target=loop) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2000):           # a thread without a loop, beside those that run tasks
            with self.inner:
                pass
        for thread in threads:
            thread.join()
        record = self.monitor.record()
        self.assertEqual(counts(record), {("outer",): 20, ("outer", "inner"): 1000, ("outer", "tracked"): 1000,
                                          ("inner",): 2000})
        self.assertEqual(integrity(record), {})

    def test_decorated_coroutines_and_async_generators(self):
        @self.monitor.tracked("coroutine")
        async def coroutine():
            await asyncio.sleep(0)
            return 3

        @self.monitor.tracked("items")
        async def items():
            for item in range(4):
                await asyncio.sleep(0)
                yield item

        async def main():
            self.assertEqual(await coroutine(), 3)
            return [item async for item in items()]
        self.assertEqual(asyncio.run(main()), [0, 1, 2, 3])
        found = tree(self.monitor.record())
        self.assertEqual(found["coroutine",]["count"], 1)
        self.assertEqual(found["items",]["count"], 5)
        self.assertNotIn("failed_spans", found["items",])

    def test_many_tasks_one_after_another_take_no_more_memory(self):
        async def short():
            with self.outer:
                pass

        async def main():
            for _ in range(5000):
                await asyncio.create_task(short())
        asyncio.run(main())
        record = self.monitor.record().to_dict()
        self.assertEqual(record["operations"][0]["count"], 5000)
        self.assertEqual(record["integrity"]["dropped_spans"], 0)
        self.assertLess(len(record["lanes"]), 100)

    def test_a_monitor_closed_within_a_task(self):
        async def main():
            with self.outer:
                self.monitor.close()
        asyncio.run(main())
        with self.assertRaisesRegex(ValueError, "closed"):
            self.outer.__enter__()


def spawned(steps):
    op = assay.operation("worker")
    for _ in range(steps):
        with op:
            pass
    return os.getpid()


class Items:
    """A dataset whose items are measured in the worker that makes them."""

    def __len__(self):
        return 24

    def __getitem__(self, index):
        if index >= 24:
            raise IndexError
        with assay.track("item"):
            return index


class Processes(unittest.TestCase):
    def test_forked_children_lose_nothing(self):
        workers, steps = 64, 2000
        op = assay.operation("worker")
        with assay.run() as record:
            children = []
            with assay.track("parent"):
                for _ in range(workers):
                    child = os.fork()
                    if child == 0:
                        for _ in range(steps):
                            with op:
                                pass
                        os._exit(0)
                    children.append(child)
                for child in children:
                    self.assertEqual(os.waitpid(child, 0)[1], 0)
        found = counts(record)
        self.assertEqual(found, {("parent",): 1, ("worker",): workers * steps})
        self.assertEqual(integrity(record), {})

    def test_a_fork_within_open_spans(self):
        with assay.run() as record:
            with assay.operation("outer"), assay.track("inner") as span:
                child = os.fork()
                if child == 0:
                    try:
                        with assay.track("child"):
                            pass
                    finally:
                        span.__exit__(None, None, None)
                        assay.operation("outer").__exit__(None, None, None)
                        os._exit(0)
                os.waitpid(child, 0)
        self.assertEqual(counts(record), {("outer",): 1, ("outer", "inner"): 1, ("child",): 1})
        self.assertEqual(integrity(record), {})

    def test_pools(self):
        for method in ("fork", "spawn"):
            with self.subTest(method), assay.run() as record:
                with multiprocessing.get_context(method).Pool(2) as pool:
                    pool.map(spawned, [500] * 8, chunksize=1)
                    pool.close()
                    pool.join()
            self.assertEqual(counts(record), {("worker",): 4000})
            self.assertEqual(integrity(record), {})

    def test_workers_of_a_data_loader(self):
        try:
            import torch.utils.data
        except ImportError:
            self.skipTest("PyTorch is not installed")
        for method in ("fork", "spawn"):
            with self.subTest(method), assay.run() as record:
                loader = torch.utils.data.DataLoader(Items(), batch_size=4, num_workers=2, multiprocessing_context=method)
                steps = assay.steps(loader)
                self.assertEqual(sum(len(batch) for batch in steps), 24)
                self.assertEqual(steps.samples, 24)
                del loader, steps
            found = counts(record)
            self.assertEqual(found["item",], 24)
            self.assertEqual(found["epoch", "batch"], 6)
            self.assertEqual(integrity(record), {})

    def test_a_killed_interpreter(self):
        with tempfile.TemporaryDirectory() as folder:
            program = ("import assay, os, signal\n"
                       "op = assay.operation('step')\n"
                       "for _ in range(12345):\n"
                       "    with op: pass\n"
                       "op.__enter__()\n"
                       "os.kill(os.getpid(), signal.SIGKILL)\n")
            done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "ASSAY_JOURNAL_DIR": folder})
            self.assertEqual(done.returncode, -signal.SIGKILL)
            record = assay.snapshot(folder)
        self.assertEqual(counts(record), {("step",): 12345})
        self.assertEqual(len(record.to_dict()["open_spans"]), 1)

    def test_the_end_of_the_interpreter(self):
        program = ("import assay, atexit, threading\n"
                   "op = assay.operation('step')\n"
                   "span = assay.track('left open'); span.__enter__(); op.__enter__()\n"
                   "atexit.register(lambda: assay.track('late').__enter__())\n"
                   "class Late:\n"
                   "    def __del__(self):\n"
                   "        with op: pass\n"
                   "late = Late(); loop = [late]; loop.append(loop)\n"
                   "thread = threading.Thread(target=lambda: [op.__enter__() for _ in iter(int, 1)], daemon=True)\n"
                   "thread.start()\n")
        with tempfile.TemporaryDirectory() as folder:
            for environment in ({}, {"ASSAY_JOURNAL_DIR": folder}):
                done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                                      env={**os.environ, **environment})
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_runs(self):
        with assay.run("my run", samples=10) as record:
            with assay.track("work"):
                time.sleep(0.02)
            self.assertEqual(counts(record), {("work",): 1})        # so far
            with assay.track("more"):
                pass
        made = record.to_dict()
        self.assertEqual((made["kind"], made["name"]), ("run", "my run"))
        self.assertEqual(counts(record), {("work",): 1, ("more",): 1})
        self.assertGreater(made["wall_seconds"], 0.02)
        self.assertGreater(made["peak_rss_bytes"], 1e6)
        self.assertIsNotNone(made["operations"][0]["rss_peak_bytes"])
        self.assertNotIn("ASSAY_JOURNAL_DIR", os.environ)
        with assay.track("outside"):
            pass
        self.assertEqual(len(counts(record)), 2)
        self.assertIn("work", str(record))
        self.assertNotIn("not measured", str(record))       # nobody tried to measure the tree and stolen time
        with assay.run() as empty:
            pass
        self.assertEqual(empty.to_dict().get("operations", []), [])
        with self.assertRaisesRegex(RuntimeError, "nothing was measured"):
            assay.run().to_dict()

    def test_what_a_killed_run_leaves(self):
        """The next `assay run` removes it, and what living runs have stays."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "TMPDIR": folder}
            program = ("import assay, sys\n"
                       "with assay.run():\n"
                       "    with assay.track('inside'): pass\n"
                       "    print(flush=True)\n"
                       "    sys.stdin.read()\n")
            started = []
            for _ in range(2):
                started.append(subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment))
                started[-1].stdout.readline()
            killed, living = started
            killed.kill()
            killed.wait()
            self.assertEqual(len(os.listdir(folder)), 2)
            subprocess.run([sys.executable, "-m", "assay", "run", "-q", "--", "true"], check=True, env=environment)
            self.assertEqual(len(os.listdir(folder)), 1)
            living.communicate()
            self.assertEqual((living.returncode, os.listdir(folder)), (0, []))
            for process in started:
                process.stdin.close()
                process.stdout.close()

    def test_a_run_whose_descriptors_are_closed(self):
        program = ("import assay, os\n"
                   "with assay.run() as record:\n"
                   "    os.closerange(3, 100)\n"
                   "    mine = [os.open('/dev/null', os.O_RDONLY) for _ in range(10)]\n"
                   "    with assay.track('inside'): pass\n"
                   "for one in mine: os.close(one)\n"
                   "assert len(record.to_dict()['operations']) == 1\n")
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_where_the_record_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, error in ((os.path.join(folder, "no", "r.json"), FileNotFoundError), (folder, IsADirectoryError)):
                with self.assertRaisesRegex(error, "cannot be saved"), assay.run(save=path):
                    self.fail("the block ran, although its record cannot be saved")
            before = os.getcwd()
            self.addCleanup(os.chdir, before)
            os.chdir(folder)
            with assay.run(save="r.json"):
                os.chdir(before)
            self.assertEqual(assay.load(os.path.join(folder, "r.json")).to_dict()["kind"], "run")

    def test_a_run_within_assay_run(self):
        with tempfile.TemporaryDirectory() as folder:
            program = ("import assay\n"
                       "with assay.run():\n"
                       "    with assay.track('inside'): pass\n"
                       "with assay.track('outside'): pass\n")
            subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "ASSAY_JOURNAL_DIR": folder})
            self.assertEqual(counts(assay.snapshot(folder)), {("inside",): 1, ("outside",): 1})


if __name__ == "__main__":
    unittest.main()
