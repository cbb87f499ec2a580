"""What assay.watch() adds to a training step, as a share of the step.

The same step of the same model runs with and without a watch, in blocks of some steps, in random order; the ratio is that of a round, and the figure is
the median over the rounds. "all calls" is with every=1: each call measured with its parts.
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

    def __init__(self, hidden=256, heads=8, ffn=512):
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
    def __init__(self, layers=6):
        super().__init__()
        self.encoder, self.layers, self.head = nn.Linear(48, 256), nn.ModuleList(Layer() for _ in range(layers)), nn.Linear(256, 1)

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


def on_and_off(model, data, rounds):
    """The same of one model, whose steps are long: two copies of it in memory differ by more than a watch adds."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    monitor = assay.Monitor()

    def step():
        start = time.perf_counter()
        optimizer.zero_grad()
        model(*data).pow(2).mean().backward()
        optimizer.step()
        return time.perf_counter() - start
    step()
    pairs = []
    for round_number in range(rounds):
        pair = [0.0, 0.0]
        for watched in random.sample((False, True), 2):
            if watched:
                with assay.watch(model, monitor=monitor, flops=False):
                    pair[1] = step()
            else:
                pair[0] = step()
        pairs.append(pair)
    return statistics.median(ours / bare for bare, ours in pairs), statistics.median(bare for bare, _ in pairs)


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
    ratio, bare = on_and_off(GraphTransformer(), (torch.randn(500, 48), torch.randint(0, 500, (2, 2500))), 41)
    row("watch: added to a step, graph transformer of 500 nodes", 100 * (ratio - 1), "%", 1.0)
    row("watch: the step itself, graph transformer of 500 nodes", bare * 1e3, "ms")


main()
