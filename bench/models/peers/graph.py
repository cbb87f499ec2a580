"""The graph transformer in PyTorch, encodings in SciPy and NumPy: what bench/models/graph.c runs beside ours."""
import os
import sys

import peer

torch = peer.torch()
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tests", "accuracy"))
from torch_graph import GraphTransformer  # noqa: E402

torch.manual_seed(1)
model = GraphTransformer(48, 256, 6, 8, 512, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, edges, target = torch.randn(500, 48), torch.randint(500, (2, 2500)), torch.randn(500, 1)


def forward():
    with torch.no_grad():
        model(x, edges)


def train():
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x, edges), target).backward()
    optimizer.step()


peer.serve({"forward": forward, "train": train})
