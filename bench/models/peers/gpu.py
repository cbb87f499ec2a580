"""PyTorch eager on the GPU, for bench/models/cuda.c: the same shapes, float32 without TF32 (PyTorch's default).

A call ends when the device has finished. The inputs are already on the device; our calls copy theirs every time.
"""
import os
import sys
import time

import peer

torch = peer.torch()
if not torch.cuda.is_available():
    peer.skip("PyTorch sees no CUDA device")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tests", "accuracy"))
from forecaster import Forecaster  # noqa: E402
from torch_graph import GraphTransformer  # noqa: E402

device = torch.device("cuda:0")
torch.manual_seed(1)


def waiting(run):
    def call():
        run()
        torch.cuda.synchronize()
    return call


def evaluate(model, *inputs):
    def run():
        with torch.no_grad():
            model(*inputs)
    return waiting(run)


def train(model, output, target, *inputs):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def run():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(output(model(*inputs)), target).backward()
        optimizer.step()
    return waiting(run)


def forecast(model, batch, steps):
    x = torch.randn(batch, 20, 20, device=device)

    def run():
        with torch.no_grad():
            y, state = model(x)
            for _ in range(steps - 1):
                y, state = model(y[:, None, :], state)
    return waiting(run)


graph = GraphTransformer(48, 256, 6, 8, 512, 1).to(device)
nodes = torch.randn(500, 48, device=device)
edges = torch.randint(500, (2, 2500), device=device)
lstm = Forecaster(20, 64, 1, 20).to(device)
large = Forecaster(64, 512, 2, 64).to(device)
sequences = torch.randn(32, 20, 20, device=device)
mlp = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(),
                          torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).to(device)
rows = torch.randn(1000, 2, device=device)

peer.serve({
    "graph-forward": evaluate(graph, nodes, edges),
    "graph-train": train(graph, lambda y: y, torch.randn(500, 1, device=device), nodes, edges),
    "lstm-forecast-1": forecast(lstm, 1, 100),
    "lstm-forecast-32": forecast(lstm, 32, 100),
    "lstm-forward": evaluate(lstm, sequences),
    "lstm-train": train(lstm, lambda y: y[0], torch.randn(32, 20, device=device), sequences),
    "lstm-large-forward": evaluate(large, torch.randn(32, 20, 64, device=device)),
    "mlp-forward": evaluate(mlp, rows),
    "mlp-train": train(mlp, lambda y: y, torch.randn(1000, 1, device=device), rows),
}, clock=time.perf_counter)
