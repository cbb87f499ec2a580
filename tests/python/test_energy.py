"""assay.energy, with a fake powercap tree (and the fake NVML, in a process of its own)."""
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import assay
from assay.energy import Meter

FAKE = os.environ.get("ASSAY_FAKE") or "build/tests/fake"

GPU = """
import time
import assay
from assay.energy import Meter
with Meter(cpu=False) as meter:
    assert "Fake GPU" in meter.description, meter.description
    time.sleep(0.25)
    with assay.track("train"):
        time.sleep(0.5)
assert 100 < meter.energy["joules"] < 400, meter.energy
assert meter.energy["joules_low"] <= meter.energy["joules"] <= meter.energy["joules_high"]
assert meter.energy["throttled"] == "heat", meter.energy
record = assay.record().to_dict()
train = record["operations"][0]
assert train["energy_joules_low"] <= 150.5 <= train["energy_joules_high"], train
assert {"cuda:0 power_watts", "cuda:0 utilisation", "cuda:0 throttle"} <= {counter["name"] for counter in record["counters"]}
open_at_exit = Meter(cpu=False)
"""

BENCH = """
import time
import assay
result = assay.bench(lambda: time.sleep(0.1), lambda: time.sleep(0.2), names=["a", "b"], metric="energy", budget_seconds=12)
first, wall = (next(it for it in result.to_dict()["comparisons"] if it["metric"] == metric) for metric in ("energy_joules", "wall_seconds"))
assert result.to_dict()["comparisons"][0] == first and result.verdict == first["verdict"], result
assert 0.9 < first["ratio"] / wall["ratio"] < 1.1, (first, wall)     # the power is the same
for subject in result.to_dict()["subjects"]:
    joules = 300 * subject["mean_seconds"]
    assert subject["energy_joules_low"] <= joules <= subject["energy_joules_high"], subject
    assert subject["throttle"] == "heat" and subject["throttled_samples"] > 0, subject
assert "throttled" in str(result) and " J (" in str(result), result
"""


class Energy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.zone = pathlib.Path(folder.name) / "intel-rapl:0"
        self.zone.mkdir()
        (self.zone / "name").write_text("package-0\n")
        (self.zone / "max_energy_range_uj").write_text("262143328850\n")
        self.consume(0)
        self.root = folder.name
        self.monitor = assay.Monitor()
        self.addCleanup(self.monitor.close)

    def consume(self, joules):
        (self.zone / "energy_uj").write_text(f"{int(joules * 1e6)}\n")

    def meter(self, **options):
        return Meter(**{"monitor": self.monitor, "gpu": False, "powercap": self.root, "period": 0.01, **options})

    def test_a_block_and_its_operations(self):
        with self.meter() as meter:
            time.sleep(0.03)
            with self.monitor.track("train"):
                for step in range(1, 6):
                    time.sleep(0.02)
                    self.consume(step)
        self.assertAlmostEqual(meter.energy["joules"], 5, delta=1)
        self.assertEqual(meter.energy["cpu_joules"], meter.energy["joules"])
        self.assertTrue(math.isnan(meter.energy["gpu_joules"]))
        self.assertEqual(meter.energy["unavailable"]["gpu_joules"], "unsupported")
        self.assertIsNone(meter.energy["throttled"])
        train = self.monitor.record().to_dict()["operations"][0]
        self.assertLessEqual(train["energy_joules_low"], 5)
        self.assertGreaterEqual(train["energy_joules_high"], 4)
        if "energy_joules" in train:            # not where the machine was too busy to look at the counter in time
            self.assertAlmostEqual(train["energy_joules"], 5, delta=1.5)
        with self.assertRaisesRegex(ValueError, "closed"):
            meter.read(0, 1)

    def test_windows(self):
        meter = self.meter(monitor=False)
        self.assertIn("processor: RAPL, 1 counter", meter.description)
        self.assertIsNone(meter.energy)
        begin = time.monotonic()
        time.sleep(0.05)
        energy = meter.read(begin, time.monotonic())
        self.assertTrue(math.isnan(energy["joules"]) and math.isnan(energy["joules_high"]), energy)     # the counter stands still
        self.assertEqual(energy["joules_low"], 0)
        self.consume(1)
        energy = meter.read(begin, time.monotonic())
        self.assertTrue(0 <= energy["joules"] <= energy["joules_high"] <= 1, energy)
        short = meter.read(begin, begin + 1e-5)
        self.assertTrue(math.isnan(short["joules"]))
        self.assertEqual(short["unavailable"]["joules"], "not enough data")
        for window in ((begin + 1, begin), (-1, 0), (0, math.nan)):
            with self.assertRaises(ValueError):
                meter.read(*window)
        meter.close()
        meter.close()

    def test_what_cannot_be(self):
        with self.assertRaisesRegex(RuntimeError, "nothing to meter: processor: no counter of energy"):
            self.meter(powercap=self.zone)
        with self.assertRaisesRegex(ValueError, "too short"):
            self.meter(period=0.001)
        with self.assertRaisesRegex(TypeError, "monitor must be"):
            self.meter(monitor=7)
        meter = self.meter()
        self.monitor.close()
        with self.assertRaises(RuntimeError):
            self.meter()
        meter.close()

    def test_a_gpu(self):
        self.run_beside_a_gpu(GPU)

    def test_bench(self):
        self.run_beside_a_gpu(BENCH)

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "there is a GPU, which counts its energy")
    def test_bench_without_a_counter(self):
        with mock.patch.dict(os.environ, ASSAY_POWERCAP="/nonexistent"):
            with self.assertWarnsRegex(RuntimeWarning, "energy is unavailable: nothing to meter"):
                result = assay.bench(lambda: None, runs=3, energy=True)
        subject = result.to_dict()["subjects"][0]
        self.assertIsNone(subject["energy_joules"])
        self.assertEqual(subject["unavailable"]["energy_joules"], "unsupported")

    def run_beside_a_gpu(self, script):
        environment = {**os.environ, "LD_LIBRARY_PATH": FAKE, "FAKE_NVML": "watts=300,boards=1,reasons=64", "ASSAY_POWERCAP": "/nonexistent"}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
