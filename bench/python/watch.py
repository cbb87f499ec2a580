"""The time that assay.watch() adds to a training step, as a share of the step.

The same step of the same model runs with and without a watch, in blocks of some steps, in random order. The ratio is computed within a round, and the
figure is the median over the rounds. "all calls" means every=1: each call is measured with its parts.
"""
import json
import random
import statistics
import sys
import time

import assay

try:
    import torch
except ImportError:
    print("watch: skipped: no torch", file=sys.stderr)
    sys.exit(0)

torch.set_num_threads(1)
nn = torch.nn


def mlp():
    layers = [nn.Linear(64, 64)]
    for _ in range(5):
        layers += [nn.ReLU(), nn.Linear(64, 64)]
    return nn.Sequential(*layers)


class Layer(nn.Module):
    """Message passing and attention side by side, then an FFN: docs/models.md."""

    def __init__(self, hidden, ffn, heads=8):
        super().__init__()
        self.mpnn = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.attention = nn.MultiheadAttention(hidden, heads, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(hidden, ffn), nn.GELU(), nn.Linear(ffn, hidden))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(3))

    def forward(self, x, edges):
        gathered = x.index_add(0, edges[1], x[edges[0]])
        local = self.norms[0](x + self.mpnn(gathered))
        everywhere = self.norms[1](x + self.attention(x[None], x[None], x[None], need_weights=False)[0][0])
        merged = local + everywhere
        return self.norms[2](merged + self.ffn(merged))


class GraphTransformer(nn.Module):
    def __init__(self, hidden, ffn, layers=6):
        super().__init__()
        self.encoder, self.head = nn.Linear(48, hidden), nn.Linear(hidden, 1)
        self.layers = nn.ModuleList(Layer(hidden, ffn) for _ in range(layers))

    def forward(self, x, edges):
        x = self.encoder(x)
        for layer in self.layers:
            x = layer(x, edges)
        return self.head(x)


def step_of(make, data, optimizer_class, watch):
    torch.manual_seed(1)
    model = make()
    optimizer = optimizer_class(model.parameters(), lr=1e-4)
    if watch is not None:
        assay.watch(model, monitor=assay.Monitor(), **watch)

    def step():
        optimizer.zero_grad()
        model(*data).pow(2).mean().backward()
        optimizer.step()
    return step


def overheads(make, data, optimizer_class, steps, rounds, watches):
    """{name: median of the ratio to the bare step}"""
    subjects = {"bare": step_of(make, data, optimizer_class, None),
                **{name: step_of(make, data, optimizer_class, watch) for name, watch in watches.items()}}
    seconds = {name: [] for name in subjects}
    for round_number in range(-2, rounds):
        order = list(subjects)
        random.shuffle(order)
        for name in order:
            start = time.perf_counter()
            for _ in range(steps):
                subjects[name]()
            if round_number >= 0:
                seconds[name].append((time.perf_counter() - start) / steps)
    ratios = {name: statistics.median(ours / bare for ours, bare in zip(taken, seconds["bare"])) for name, taken in seconds.items()}
    return ratios, statistics.median(seconds["bare"])


def hooks_of_graph_transformer():
    """(seconds that the hooks add to a step, seconds of a step of 500 nodes). Steps of 500 nodes vary by more than a watch adds, so its cost is measured on a
    narrow model with the same modules; the cost of a hook does not depend on the size of a tensor."""
    edges = torch.randint(0, 500, (2, 2500))
    narrow = (torch.randn(10, 48), edges % 10)
    ratios, bare = overheads(lambda: GraphTransformer(16, 32), narrow, torch.optim.SGD, 4, 31, {"all calls": {"every": 1}})
    whole = step_of(lambda: GraphTransformer(256, 512), (torch.randn(500, 48), edges), torch.optim.Adam, None)
    seconds = []
    for _ in range(12):
        start = time.perf_counter()
        whole()
        seconds.append(time.perf_counter() - start)
    return (ratios["all calls"] - 1) * bare, statistics.median(seconds[1:])


def row(name, value, unit, bar=None):
    print(json.dumps({"name": name, "value": round(value, 4), "unit": unit, "bar": bar, "ok": bar is None or value <= bar}), flush=True)


def main():
    for optimizer in (torch.optim.Adam, torch.optim.SGD):
        data = (torch.randn(64, 64),)
        ratios, bare = overheads(mlp, data, optimizer, 64, 41, {"watch": {}, "all calls": {"every": 1}})
        name = f"6 layers of width 64, batch 64, {optimizer.__name__}"
        row(f"watch: added to a step, {name}", 100 * (ratios["watch"] - 1), "%", 5.0)
        row(f"watch: the same, all calls, {name}", 100 * (ratios["all calls"] - 1), "%")
        row(f"watch: the step itself, {name}", bare * 1e6, "us")
    added, bare = hooks_of_graph_transformer()
    row("watch: added to a step, graph transformer of 500 nodes, all calls", 100 * added / bare, "%", 1.0)
    row("watch: the step itself, graph transformer of 500 nodes", bare * 1e3, "ms")


main()
