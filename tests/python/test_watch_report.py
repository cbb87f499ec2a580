"""watch(): memory by use, the summary and the record; and watch() without PyTorch."""
import io
import subprocess
import sys
import unittest

from watched import Residual, Watched, nn, torch

import assay


class Memory(Watched):
    def test_by_use(self):
        model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 16))
        model[3].weight = nn.Parameter(model[0].weight.detach().new_zeros(16, 16))
        optimizer = torch.optim.Adam(model.parameters())
        watched = self.watch(model, flops=True, optimizer=optimizer)
        self.assertIsNone(watched.memory()["gradients"])
        data = torch.randn(4, 8)
        model(data).sum().backward()
        optimizer.step()
        parameters = 4 * (8 * 16 + 16 + 32 + 256 + 16)
        found = watched.memory()
        self.assertEqual(found["parameters"], parameters)
        self.assertEqual(found["gradients"], parameters)
        self.assertGreaterEqual(found["optimizer_state"], 2 * parameters)
        self.assertLessEqual(found["optimizer_state"], 2 * parameters + 8 * 8)
        self.assertEqual(found["buffers"], 4 * 32 + 8)
        # the data, the linear output that batch norm keeps with mean and deviation, tanh's output, kept once
        self.assertEqual(found["activations"], 4 * (4 * 8 + 4 * 16 + 2 * 16 + 4 * 16))

    def test_sparse_gradients(self):
        """A row of a sparse gradient has its values and its index."""
        model = nn.Embedding(1000, 8, sparse=True)
        watched = self.watch(model, flops=True)
        model(torch.tensor([1, 5])).sum().backward()
        self.assertEqual(watched.memory()["gradients"], 2 * (8 * 4 + 8))

    def test_shared_storage_counts_once(self):
        model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False))
        model[1].weight = model[0].weight
        self.assertEqual(self.watch(model).memory()["parameters"], 4 * 64)


class Report(Watched):
    def test_summary_fits_80_columns(self):
        model = nn.Sequential(Residual(), nn.LSTM(8, 8), )
        loader = [torch.randn(4, 8) for _ in range(5)]
        watched = self.watch(model, flops=True, name="net")
        for batch in assay.steps(loader, monitor=self.monitor, progress=False):
            model(batch)[0].sum().backward()
        file = io.StringIO()
        watched.print_summary(file)
        text = file.getvalue()
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        for expected in ("MODEL net", "first", "GFLOP/s", "optimizer state", "deepspeed", "loading data", "4 of 5 calls"):
            self.assertIn(expected, text)
        self.assertEqual(watched.loading().keys(), {"load_seconds", "compute_seconds"})

    def test_before_the_first_call(self):
        model = Residual()
        self.assertIn("n/a", self.watch(model, flops=True).summary())

    def test_record_is_one_that_the_command_reads(self):
        model = Residual()
        watched = self.watch(model, flops=True)
        model(torch.randn(2, 8))
        again = assay.Record.from_json(watched.record().to_json()).to_dict()["models"][0]
        self.assertEqual((again["name"], again["parameters"]), (watched.name, 2 * 72))


class WithoutTorch(unittest.TestCase):
    def test_says_what_is_missing_and_imports_nothing(self):
        program = ("import sys, assay\n"
                   "try:\n    assay.watch(print)\n"
                   "except TypeError as error:\n    print(error)\n"
                   "print('torch' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertIn("PyTorch, which this program has not imported", done.stdout)
        self.assertIn("False", done.stdout)


if __name__ == "__main__":
    unittest.main()
