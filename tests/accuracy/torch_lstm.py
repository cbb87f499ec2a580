"""The LSTM forecaster in PyTorch; the built-in one is compared with it.

    torch_lstm.py ASSAY FOLDER        compares outputs, forecasts, gradients and training; one line per case

Differences are relative to the largest absolute value of the tensor compared: outputs 1e-5, gradients 1e-4.
"""
import os
import subprocess
import sys

import numpy
import torch

import safetensors

ASSAY, FOLDER = sys.argv[1:3]


class Forecaster(torch.nn.Module):
    def __init__(self, inputs, hidden, layers, outputs):
        super().__init__()
        self.lstm = torch.nn.LSTM(inputs, hidden, layers, batch_first=True)
        self.fc = torch.nn.Linear(hidden, outputs)

    def forward(self, x, truncate=0):
        state = None
        if 0 < truncate < x.shape[1]:
            with torch.no_grad():
                _, state = self.lstm(x[:, :-truncate])
            x = x[:, -truncate:]
        sequence, _ = self.lstm(x, state)
        return self.fc(sequence[:, -1])

    def forecast(self, x, steps):
        outputs, state = [], None
        for _ in range(steps):
            sequence, state = self.lstm(x, state)
            outputs.append(self.fc(sequence[:, -1]))
            x = outputs[-1][:, None]
        return torch.stack(outputs, 1)


def path(name):
    return os.path.join(FOLDER, name)


def assay(verb, *arguments):
    subprocess.run([ASSAY, "model", verb, "--model", "lstm", "--weights", path("w.safetensors"),
                    "--input", path("x.npy"), *arguments], check=True, stdout=subprocess.DEVNULL)


def difference(got, expected):
    expected = expected.detach().numpy()
    assert got.shape == expected.shape, (got.shape, expected.shape)
    assert got.dtype == numpy.float32
    return float(numpy.abs(got - expected).max() / numpy.abs(expected).max())


def save_weights(model):
    safetensors.save(path("w.safetensors"), {k: v.detach().numpy() for k, v in model.state_dict().items()})


def compare_gradients(model, x, target, truncate):
    model.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x, truncate), target)
    loss.backward()
    numpy.save(path("t.npy"), target.numpy())
    assay("grad", "--target", path("t.npy"), "--output", path("g.safetensors"), "--truncate", str(truncate))
    gradients = safetensors.load(path("g.safetensors"))
    assert sorted(gradients) == sorted(name for name, _ in model.named_parameters())
    # PyTorch leaves a gradient that is zero throughout (weight_hh after one step) at rounding level.
    return max(difference(gradients[name], p.grad) if p.grad.abs().max() > 0 else
               float(numpy.abs(gradients[name]).max()) for name, p in model.named_parameters())


def case(batch, time, inputs, hidden, layers, outputs, truncate=0, scale=1.0):
    model, x = Forecaster(inputs, hidden, layers, outputs), scale * torch.randn(batch, time, inputs)
    save_weights(model)
    numpy.save(path("x.npy"), x.numpy())
    assay("eval", "--output", path("y.npy"))
    with torch.no_grad():
        error = difference(numpy.load(path("y.npy")), model(x))
        if inputs == outputs:
            assay("eval", "--steps", "30", "--output", path("y.npy"))
            error = max(error, difference(numpy.load(path("y.npy")), model.forecast(x, 30)))
    slope_error = compare_gradients(model, x, torch.randn(batch, outputs), truncate)
    print(f"batch {batch}, time {time}, input {inputs}, hidden {hidden}, layers {layers}, output {outputs}, "
          f"truncate {truncate}: outputs {error:.1e}, gradients {slope_error:.1e}")
    return error <= 1e-5 and slope_error <= 1e-4


def training_case(steps=20):
    """The same weights after some steps of Adam on the whole batch."""
    model = Forecaster(6, 24, 2, 3)
    x, target = torch.randn(10, 8, 6), torch.randn(10, 3)
    save_weights(model)
    numpy.save(path("x.npy"), x.numpy())
    numpy.save(path("t.npy"), target.numpy())
    assay("train", "--target", path("t.npy"), "--output", path("v.safetensors"), "--steps", str(steps),
          "--learning-rate", "0.01")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), target).backward()
        optimizer.step()
    weights = safetensors.load(path("v.safetensors"))
    error = max(difference(weights[name], p) for name, p in model.named_parameters())
    print(f"weights after {steps} steps of Adam: {error:.1e}")
    return error <= 1e-3  # Adam divides by the size of gradients, small ones included


torch.manual_seed(20261115)
torch.set_num_threads(1)
good = [
    case(1, 1, 1, 1, 1, 1),
    case(1, 1, 20, 64, 1, 20),
    case(32, 20, 20, 64, 1, 20),
    case(32, 20, 20, 64, 2, 20),
    case(1, 50, 20, 64, 2, 20),
    case(3, 7, 5, 13, 2, 4),
    case(9, 2, 33, 17, 1, 33),
    case(8, 12, 4, 31, 3, 1),
    case(2, 100, 3, 100, 1, 3),
    case(5, 9, 6, 20, 2, 2, truncate=4),
    case(5, 9, 6, 20, 1, 2, truncate=1),
    case(4, 6, 8, 16, 2, 8, scale=30.0),
    training_case(),
]
sys.exit(0 if all(good) else 1)
