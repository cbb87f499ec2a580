"""What the tests of watch() share: a monitor, the tree of its spans, and a model. `torch` is None where there is no PyTorch."""
import unittest

import assay

try:
    import torch
    from torch import nn
    torch.set_num_threads(1)
except ImportError:
    torch = nn = None


def tree(record):
    """{path of names: count} of a record's operations"""
    operations, paths = record.to_dict()["operations"], []
    for operation in operations:
        parent = operation["parent"]
        paths.append((paths[parent] if parent is not None else ()) + (operation["name"],))
    return {path: operation["count"] for path, operation in zip(paths, operations)}


@unittest.skipUnless(torch, "no torch")
class Watched(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.monitor = assay.Monitor(memory=False)
        self.addCleanup(self.monitor.close)

    def watch(self, model, **options):
        watched = assay.watch(model, monitor=self.monitor, **{"flops": False, "every": 1, **options})
        self.addCleanup(watched.remove)
        return watched

    def tree(self):
        return tree(self.monitor.record())


Residual = None
if torch:
    class Residual(nn.Module):
        def __init__(self, inplace=False):
            super().__init__()
            self.first, self.act, self.second = nn.Linear(8, 8), nn.ReLU(inplace=inplace), nn.Linear(8, 8)

        def forward(self, x):
            return x + self.second(self.act(self.first(x)))
