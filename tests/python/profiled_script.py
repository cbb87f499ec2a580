"""Runs scripts by `python3 -m assay run` in an empty folder, and reads their records. Tests of the profiler of scripts import this module."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

if not (3, 11) <= sys.version_info[:2] <= (3, 15):
    print("profiles of scripts need Python 3.11 to 3.15")
    sys.exit(77)

try:
    from assay import _sampler  # noqa: F401
except ImportError as error:
    print(f"the sampler is not built for this Python: {error}")
    sys.exit(77)

# Three functions that take 60, 30 and 10 % of the time. The work of a function is counted in the processor time of its own
# thread, so the shares hold on any machine.
THREE = """
    import time
    def until(ns):
        return time.thread_time_ns() + ns
    def first(end):
        while time.thread_time_ns() < end:
            pass
    def second(end):
        while time.thread_time_ns() < end:
            pass
    def third(end):
        while time.thread_time_ns() < end:
            pass
    for _ in range(100):
        first(until(18_000_000))
        second(until(9_000_000))
        third(until(3_000_000))
    """


class Folder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.path = self._folder.name

    def tearDown(self):
        self._folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return path

    def command(self, *arguments):
        return [sys.executable, "-m", "assay", "run", "-j", os.path.join(self.path, "record.json"), *arguments]

    def run_it(self, *arguments, status=0, environment=None):
        ran = subprocess.run(self.command(*arguments), cwd=self.path, capture_output=True, text=True, timeout=120,
                             env=environment)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran

    def record(self):
        with open(os.path.join(self.path, "record.json"), encoding="utf-8") as file:
            return json.load(file)

    def shares(self, what="functions", key="name"):
        python = self.record()["python"]
        shares = {}
        for item in python[what]:
            shares[item[key]] = shares.get(item[key], 0) + item["self_seconds"] / python["busy_seconds"]
        return shares

    def assert_share(self, found, share, delta):
        """Within delta; on a machine that gave the sampler little time, within five standard errors of as many samples."""
        error = (share * (1 - share) / self.record()["python"]["samples"]) ** 0.5
        self.assertAlmostEqual(found, share, delta=max(delta, 5 * error))
