"""next_road compared with the same model in PyTorch: probabilities, loss and gradients, through `assay model`.

    torch_road.py ASSAY FOLDER

Differences are relative to the largest magnitude of the tensor: outputs 1e-5, gradients 1e-4. A gradient that
is only rounding error on both sides (such as score.0.bias with a single candidate) is compared with the largest
gradient of all.
"""
import json
import subprocess
import sys

import numpy
import torch

import safetensors

FEATURES = 6


class NextRoad(torch.nn.Module):
    def __init__(self, roads, embedding, hidden, scorer):
        super().__init__()
        self.road_embedding = torch.nn.Embedding(roads, embedding)
        self.destination_embedding = torch.nn.Embedding(roads, embedding)
        self.gru = torch.nn.GRU(embedding, hidden, batch_first=True)
        self.score = torch.nn.Sequential(torch.nn.Linear(hidden + 2 * embedding + FEATURES, scorer), torch.nn.ReLU(),
                                         torch.nn.Linear(scorer, 1, bias=False))

    def forward(self, trajectories, destinations, candidates, features):
        """Log-probabilities (batch, time, choices), -inf where there is no candidate."""
        states, _ = self.gru(self.road_embedding(trajectories.clamp(min=0)))
        batch, time, choices = candidates.shape
        parts = (states.unsqueeze(2).expand(-1, -1, choices, -1), self.road_embedding(candidates.clamp(min=0)),
                 self.destination_embedding(destinations)[:, None, None].expand(-1, time, choices, -1), features)
        logits = self.score(torch.cat(parts, dim=-1)).squeeze(-1)
        return torch.log_softmax(logits.masked_fill(candidates < 0, float("-inf")), dim=-1)


def make_inputs(random, roads, batch, time, choices):
    """Trajectories of various lengths, positions with none to `choices` candidates, and targets at most of them,
    some of them shares."""
    lengths = random.integers(1, time + 1, batch)
    lengths[random.integers(batch)] = time
    driven = numpy.where(numpy.arange(time) < lengths[:, None], random.integers(0, roads, (batch, time)), -1)
    counts = numpy.where(driven >= 0, random.integers(0, choices + 1, (batch, time)), 0)
    counts[random.integers(batch), 0] = choices
    there = numpy.arange(choices) < counts[..., None]
    candidates = numpy.where(there, random.integers(0, roads, (batch, time, choices)), -1)
    features = random.standard_normal((batch, time, choices, FEATURES)).astype(numpy.float32) * there[..., None]
    shares = random.random((batch, time, choices)) * there
    hard = (numpy.arange(choices) == (random.random((batch, time, 1)) * counts[..., None]).astype(int)) * 1.0
    target = numpy.where(random.random((batch, time, 1)) < 0.3, shares, hard) * there
    total = target.sum(-1, keepdims=True)
    target = numpy.divide(target, total, out=numpy.zeros_like(target), where=total > 0)
    target *= random.random((batch, time, 1)) < 0.8
    if target.sum() == 0:
        b, t = numpy.argwhere(counts > 0)[0]
        target[b, t, 0] = 1
    return {"trajectories": driven.astype(numpy.int64), "destinations": random.integers(0, roads, batch),
            "candidates": candidates.astype(numpy.int64), "features": features}, target.astype(numpy.float32)


def compare(what, ours, theirs, bar, scale=None):
    scale = numpy.abs(theirs).max() if scale is None else scale
    worst = numpy.abs(ours - theirs).max() / max(scale, 1e-30)
    assert ours.shape == theirs.shape and worst <= bar, f"{what}: {worst:.2e} > {bar}"
    return worst


def check(assay, folder, shape, batch, time, choices, seed):
    torch.manual_seed(seed)
    model = NextRoad(*shape)
    inputs, target = make_inputs(numpy.random.default_rng(seed), shape[0], batch, time, choices)
    safetensors.save(f"{folder}/w.safetensors", {k: v.detach().numpy() for k, v in model.state_dict().items()})
    options = ["--model", "next_road", "--weights", f"{folder}/w.safetensors"]
    for name, array in inputs.items():
        numpy.save(f"{folder}/{name}.npy", array)
        options += [f"--{'input' if name == 'trajectories' else name}", f"{folder}/{name}.npy"]
    numpy.save(f"{folder}/target.npy", target)

    logs = model(*(torch.from_numpy(inputs[k]) for k in ("trajectories", "destinations", "candidates", "features")))
    goal = torch.from_numpy(target)
    decisions = (target.sum(-1) > 0).sum()
    loss = -(goal * torch.where(goal > 0, logs, torch.zeros_like(logs))).sum() / decisions
    loss.backward()

    subprocess.run([assay, "model", "eval", *options, "--output", f"{folder}/y.npy"], check=True, stdout=subprocess.DEVNULL)
    expected = numpy.where(inputs["candidates"] >= 0, torch.nan_to_num(logs.exp()).detach().numpy(), 0)
    worst = compare("probabilities", numpy.load(f"{folder}/y.npy"), expected, 1e-5, 1)

    subprocess.run([assay, "model", "grad", *options, "--target", f"{folder}/target.npy", "--output",
                    f"{folder}/g.safetensors", "--json", f"{folder}/g.json"], check=True, stdout=subprocess.DEVNULL)
    ours = safetensors.load(f"{folder}/g.safetensors")
    theirs = {name: value.grad.numpy() for name, value in model.named_parameters()}
    assert list(ours) == list(theirs), (list(ours), list(theirs))
    largest = max(numpy.abs(value).max() for value in theirs.values())
    for name, value in theirs.items():
        scale = max(numpy.abs(value).max(), 1e-3 * largest)
        worst_gradient = compare(f"{shape} gradient of {name}", ours[name], value, 1e-4, scale)
    reported = json.load(open(f"{folder}/g.json"))["loss"]
    assert abs(reported - loss.item()) <= 1e-5 * abs(loss.item()) + 1e-7, (reported, loss.item())
    print(f"{shape} batch {batch} time {time} choices {choices}: outputs {worst:.1e}, last gradient {worst_gradient:.1e}")


def main():
    assay, folder = sys.argv[1:]
    for seed, (shape, batch, time, choices) in enumerate([
            ((40, 32, 64, 64), 8, 12, 4), ((17, 5, 7, 9), 3, 6, 3), ((1000, 16, 32, 32), 16, 20, 5),
            ((5, 1, 1, 1), 1, 1, 1), ((30, 13, 33, 17), 1, 15, 6), ((25, 8, 24, 8), 7, 1, 2)]):
        check(assay, folder, shape, batch, time, choices, seed)


main()
