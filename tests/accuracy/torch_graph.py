"""The graph transformer in PyTorch; the built-in one is compared with it.

    torch_graph.py ASSAY FOLDER        compares outputs and gradients; one line per case

Differences are relative to the largest absolute value of the tensor compared: outputs 1e-5, gradients 1e-4.
The modules' names are the state_dict that docs/models.md promises. bench/models/peers/graph.py times the
same module.
"""
import os
import subprocess
import sys

import numpy
import torch
from torch import nn


class GIN(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)

    def forward(self, h, edges):
        total = h.index_add(0, edges[1], h[edges[0]])
        return self.lin2(torch.relu(self.lin1(total)))


class GCN(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.lin = nn.Linear(hidden, hidden)

    def forward(self, h, edges):
        loops = torch.arange(len(h))
        between = edges[:, edges[0] != edges[1]]
        source, target = torch.cat([between, torch.stack([loops, loops])], 1)
        root = torch.zeros(len(h)).index_add(0, target, torch.ones(len(target))).rsqrt()
        message = (root[source] * root[target])[:, None] * h[source]
        return self.lin(torch.zeros_like(h).index_add(0, target, message))


class GatedGCN(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.A, self.B = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.D, self.E = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)

    def forward(self, h, edges):
        source, target = edges
        gate = torch.sigmoid(self.D(h)[target] + self.E(h)[source])
        zero = torch.zeros_like(h)
        total = zero.index_add(0, target, gate * self.B(h)[source])
        weight = zero.index_add(0, target, gate)
        return torch.relu(self.A(h) + total / (weight + 1e-6))


class Attention(nn.MultiheadAttention):
    """nn.MultiheadAttention, with the learned bias where there is one. An entry of `bucket` is the bias's row
    of that pair of nodes, or -1 where they do not look at each other."""

    def __init__(self, hidden, heads, buckets):
        super().__init__(hidden, heads, batch_first=True)
        if buckets:
            self.distance_bias = nn.Embedding(buckets, heads)
        self.buckets = buckets

    def forward(self, h, bucket):
        mask = None
        if bucket is not None:
            mask = torch.zeros(bucket.shape).masked_fill(bucket < 0, float("-inf"))
            if self.buckets:
                mask = mask + self.distance_bias(bucket.clamp(min=0)).permute(2, 0, 1)
        x = h[None]
        return super().forward(x, x, x, attn_mask=mask, need_weights=False)[0][0]


class Layer(nn.Module):
    def __init__(self, hidden, heads, ffn, mpnn, activation, buckets):
        super().__init__()
        self.mpnn = {"gin": GIN, "gcn": GCN, "gated-gcn": GatedGCN}[mpnn](hidden)
        self.attn = Attention(hidden, heads, buckets)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(hidden) for _ in range(3))
        middle = nn.GELU() if activation == "gelu" else nn.ReLU()
        self.ffn = nn.Sequential(nn.Linear(hidden, ffn), middle, nn.Linear(ffn, hidden))

    def forward(self, h, edges, bucket):
        s = self.norm1(h + self.mpnn(h, edges)) + self.norm2(h + self.attn(h, bucket))
        return self.norm3(s + self.ffn(s))


class GraphTransformer(nn.Module):
    def __init__(self, width, hidden, layers, heads, ffn, output, mpnn="gin", activation="relu", readout="node",
                 buckets=0):
        super().__init__()
        self.encoder = nn.Linear(width, hidden)
        self.layers = nn.ModuleList(Layer(hidden, heads, ffn, mpnn, activation, buckets) for _ in range(layers))
        self.head = nn.Linear(hidden, output)
        self.readout = readout

    def forward(self, x, edges, graphs=None, bucket=None):
        h = self.encoder(x)
        for layer in self.layers:
            h = layer(h, edges, bucket)
        if self.readout == "graph":
            count = int(graphs.max()) + 1
            size = torch.bincount(graphs, minlength=count)[:, None]
            h = torch.zeros(count, h.shape[1]).index_add(0, graphs, h) / size
        return self.head(h)


def distances(nodes, edges, limit):
    """Shortest paths along edges in either direction, by repeated products; limit + 1 where longer."""
    adjacent = torch.eye(nodes, dtype=torch.bool)
    adjacent[edges[0], edges[1]] = True
    adjacent = adjacent | adjacent.T
    reached, result = torch.eye(nodes, dtype=torch.bool), torch.full((nodes, nodes), limit + 1)
    result[reached] = 0
    for step in range(1, limit + 1):
        further = (reached.float() @ adjacent.float()) > 0
        result[further & ~reached] = step
        reached = further
    return result


def buckets_of(case, nodes, edges, graphs):
    """Which row of the bias each pair has; -1 for pairs that do not attend; None for plain full attention."""
    together = graphs[:, None] == graphs[None, :]
    limit = case.get("bias-distance", 0)
    bucket = distances(nodes, edges, limit) if limit else torch.zeros(nodes, nodes, dtype=torch.int64)
    if case.get("attention") == "sparse":
        seen = torch.eye(nodes, dtype=torch.bool)
        seen[edges[1], edges[0]] = True
        together = together & seen
    return bucket.masked_fill(~together, -1)


def random_graphs(sizes, edges_each, generator):
    """Batches of random directed edges: repeated ones, loops, isolated nodes and all."""
    parts, first = [], 0
    for size in sizes:
        parts.append(first + torch.randint(size, (2, edges_each if size > 0 else 0), generator=generator))
        first += size
    graphs = torch.cat([torch.full((size,), i) for i, size in enumerate(sizes)])
    return torch.cat(parts, 1), graphs


def npy(folder, name, tensor):
    path = os.path.join(folder, name + ".npy")
    numpy.save(path, tensor.detach().numpy())
    return path


def raw_folder(folder, x, edges, sizes, edges_each):
    """The same graphs as a folder of OGB's raw tables."""
    os.makedirs(folder, exist_ok=True)
    starts = numpy.repeat(numpy.cumsum([0] + sizes[:-1]), edges_each)
    tables = {"num-node-list": sizes, "num-edge-list": [edges_each] * len(sizes), "edge": (edges.numpy() - starts).T}
    for name, rows in tables.items():
        numpy.savetxt(os.path.join(folder, name + ".csv"), rows, fmt="%d", delimiter=",")
    numpy.savetxt(os.path.join(folder, "node-feat.csv"), x.numpy(), fmt="%.9g", delimiter=",")
    return folder


def difference(ours, theirs):
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    return float(numpy.abs(ours - theirs).max() / max(numpy.abs(theirs).max(), 1e-30))


def extra_width(case):
    return case.get("lap-dim", 0) + case.get("rw-steps", 0)


def walk_encoding(nodes, edges, steps):
    adjacency = numpy.zeros((nodes, nodes))
    numpy.add.at(adjacency, (edges[0].numpy(), edges[1].numpy()), 1)
    degree = adjacency.sum(1, keepdims=True)
    walk = numpy.divide(adjacency, degree, out=numpy.zeros_like(adjacency), where=degree > 0)
    power, columns = numpy.eye(nodes), []
    for _ in range(steps):
        power = power @ walk
        columns.append(numpy.diag(power))
    return torch.tensor(numpy.stack(columns, 1), dtype=torch.float32)


def laplacian_encoding(sizes, edges, count):
    """Eigenvectors of each graph's normalised Laplacian but the trivial ones; of the entries largest in size the
    first is positive. The graphs must have no repeated eigenvalues."""
    nodes = sum(sizes)
    adjacency = numpy.zeros((nodes, nodes))
    adjacency[edges[0].numpy(), edges[1].numpy()] = 1
    adjacency = numpy.maximum(adjacency, adjacency.T)
    numpy.fill_diagonal(adjacency, 0)
    result, first = numpy.zeros((nodes, count)), 0
    for size in sizes:
        block = adjacency[first:first + size, first:first + size]
        degree = block.sum(1)
        root = numpy.divide(1, numpy.sqrt(degree), out=numpy.zeros(size), where=degree > 0)
        values, vectors = numpy.linalg.eigh(numpy.diag(degree > 0) - root[:, None] * block * root)
        vectors = vectors[:, values > 1e-9][:, :count]
        sizes_of = numpy.abs(vectors)
        leading = (sizes_of >= sizes_of.max(0) * (1 - 1e-5)).argmax(0)
        vectors *= numpy.sign(vectors[leading, numpy.arange(vectors.shape[1])])
        result[first:first + size, :vectors.shape[1]] = vectors
        first += size
    return torch.tensor(result, dtype=torch.float32)


def run(assay, folder, case, seed):
    import safetensors
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    sizes = case["sizes"]
    edges, graphs = random_graphs(sizes, case["edges"], generator)
    nodes, limit = sum(sizes), case.get("bias-distance", 0)
    x = torch.randn(nodes, case["input"], generator=generator)
    model = GraphTransformer(case["input"] + extra_width(case), case["hidden"], case["layers"], case["heads"],
                             case["ffn"], case["output"], case.get("mpnn", "gin"), case.get("activation", "relu"),
                             case.get("readout", "node"), limit + 2 if limit else 0)
    for parameter in model.parameters():  # zeros and ones would hide mistakes
        parameter.data += 0.05 * torch.randn(parameter.shape, generator=generator)
    inputs = x
    if case.get("lap-dim"):
        inputs = torch.cat([x, laplacian_encoding(sizes, edges, case["lap-dim"])], 1)
    if case.get("rw-steps"):
        inputs = torch.cat([inputs, walk_encoding(nodes, edges, case["rw-steps"])], 1)
    output = model(inputs, edges, graphs, buckets_of(case, nodes, edges, graphs))
    target = torch.randn(output.shape, generator=generator)
    nn.functional.mse_loss(output, target).backward()

    weights, result, gradients = (os.path.join(folder, name) for name in ("w.safetensors", "y.npy", "g.safetensors"))
    safetensors.save(weights, {name: value.detach().numpy() for name, value in model.state_dict().items()})
    common = ["--model", "graph_transformer", "--weights", weights, "--num-heads", str(case["heads"])]
    if case.get("raw"):
        common += ["--graph", raw_folder(os.path.join(folder, "raw"), x, edges, sizes, case["edges"])]
    else:
        common += ["--nodes", npy(folder, "nodes", x), "--edges", npy(folder, "edges", edges), "--graphs",
                   npy(folder, "graphs", graphs)]
    for option in ("attention", "activation", "readout", "lap-dim", "rw-steps"):
        if option in case:
            common += ["--" + option, str(case[option])]
    subprocess.run([assay, "model", "eval", *common, "--output", result], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([assay, "model", "grad", *common, "--target", npy(folder, "target", target), "--output",
                    gradients], check=True, stdout=subprocess.DEVNULL)
    worst_output = difference(numpy.load(result), output.detach().numpy())
    ours = safetensors.load(gradients)
    expected = {name: value.grad.numpy() for name, value in model.named_parameters()}
    assert set(ours) == set(expected), set(ours) ^ set(expected)
    scale = max(numpy.abs(value).max() for value in expected.values())
    differences = {name: numpy.abs(ours[name] - value).max() / max(numpy.abs(value).max(), 1e-4 * scale)
                   for name, value in expected.items()}
    worst = max(differences, key=differences.get)
    return worst_output, differences[worst], worst


CASES = [
    dict(sizes=[60], edges=300, input=12, hidden=32, layers=2, heads=4, ffn=64, output=3),
    dict(sizes=[1], edges=0, input=3, hidden=8, layers=1, heads=1, ffn=5, output=1),
    dict(sizes=[7], edges=0, input=1, hidden=6, layers=3, heads=2, ffn=9, output=2, activation="gelu"),
    dict(sizes=[30, 1, 17], edges=40, input=5, hidden=20, layers=2, heads=5, ffn=33, output=2, readout="graph",
         activation="gelu", raw=True),
    dict(sizes=[300], edges=900, input=7, hidden=24, layers=2, heads=3, ffn=20, output=1),
    dict(sizes=[1300], edges=2600, input=4, hidden=16, layers=1, heads=2, ffn=16, output=1),
    dict(sizes=[50, 40], edges=200, input=9, hidden=28, layers=2, heads=4, ffn=31, output=3, mpnn="gcn"),
    dict(sizes=[50, 40], edges=200, input=9, hidden=28, layers=2, heads=4, ffn=31, output=3, mpnn="gated-gcn"),
    dict(sizes=[33, 21], edges=70, input=9, hidden=30, layers=2, heads=3, ffn=31, output=3, attention="sparse"),
    {"sizes": [40, 25], "edges": 60, "input": 6, "hidden": 16, "layers": 2, "heads": 4, "ffn": 24, "output": 2,
     "bias-distance": 3, "readout": "graph"},
    {"sizes": [40, 25], "edges": 60, "input": 6, "hidden": 16, "layers": 2, "heads": 4, "ffn": 24, "output": 2,
     "bias-distance": 2, "attention": "sparse", "mpnn": "gcn", "activation": "gelu"},
    {"sizes": [45], "edges": 120, "input": 6, "hidden": 16, "layers": 2, "heads": 4, "ffn": 24, "output": 2,
     "rw-steps": 7},
    {"sizes": [45, 150], "edges": 400, "input": 6, "hidden": 16, "layers": 2, "heads": 4, "ffn": 24, "output": 2,
     "rw-steps": 3, "lap-dim": 5},
]


def main(assay, folder):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    torch.set_num_threads(1)
    reference = GraphTransformer(48, 256, 6, 8, 512, 1)
    count = sum(parameter.numel() for parameter in reference.parameters())
    assert count == 3968001, count
    failed = 0
    for index, case in enumerate(CASES):
        output, gradient, name = run(assay, folder, case, 100 + index)
        ok = output <= 1e-5 and gradient <= 1e-4
        failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: output {output:.1e}, gradients {gradient:.1e} ({name}): {case}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
