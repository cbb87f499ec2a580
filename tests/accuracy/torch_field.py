"""MLP, SIREN and KAN in PyTorch; the built-in ones are compared with them through the command.

    torch_field.py ASSAY FOLDER        compares outputs, losses and gradients; one line per case

Differences are relative to the largest absolute value of the tensor compared: outputs 1e-5, gradients 1e-4.
The modules' names are the state_dict that docs/models.md promises. The KAN is written from the formula, its
B-splines by the recursion of Cox and de Boor; SciPy's BSpline is a second opinion on those.
"""
import os
import subprocess
import sys

import numpy
import torch
from scipy.interpolate import BSpline
from torch import nn

import safetensors

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "gelu": nn.functional.gelu,
               "silu": nn.functional.silu, "sigmoid": torch.sigmoid}


class Perceptron(nn.Module):
    def __init__(self, widths, activation):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.activation = activation

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


class Siren(nn.Module):
    def __init__(self, widths, omega_first, omega_hidden):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.omegas = [omega_first] + [omega_hidden] * (len(widths) - 3)
        with torch.no_grad():
            for index, layer in enumerate(self.layers):
                fan_in = layer.in_features
                bound = 1 / fan_in if index == 0 else (6 / fan_in) ** 0.5 / omega_hidden
                layer.weight.uniform_(-bound, bound)

    def forward(self, x):
        for layer, omega in zip(self.layers, self.omegas):
            x = torch.sin(omega * layer(x))
        return self.layers[-1](x)


class KanLayer(nn.Module):
    def __init__(self, fan_in, fan_out, grid, order, scaler):
        super().__init__()
        self.order = order
        self.knots = (torch.arange(-order, grid + order + 1) * 2 - grid) / grid
        self.base_weight = nn.Parameter(torch.randn(fan_out, fan_in) / fan_in ** 0.5)
        self.spline_weight = nn.Parameter(0.3 * torch.randn(fan_out, fan_in, grid + order))
        if scaler:
            self.spline_scaler = nn.Parameter(torch.randn(fan_out, fan_in))

    def basis(self, x):
        """(rows, in) to (rows, in, grid + order)"""
        t, x = self.knots, x[..., None]
        b = ((x >= t[:-1]) & (x < t[1:])).to(x.dtype)
        for k in range(1, self.order + 1):
            rising = (x - t[:-k - 1]) / (t[k:-1] - t[:-k - 1])
            falling = (t[k + 1:] - x) / (t[k + 1:] - t[1:-k])
            b = rising * b[..., :-1] + falling * b[..., 1:]
        return b

    def forward(self, x):
        spline = self.spline_weight
        if hasattr(self, "spline_scaler"):
            spline = spline * self.spline_scaler[..., None]
        return nn.functional.silu(x) @ self.base_weight.T + torch.einsum("ric,oic->ro", self.basis(x), spline)


class Kan(nn.Module):
    def __init__(self, widths, grid, order, scaler):
        super().__init__()
        self.layers = nn.ModuleList(KanLayer(a, b, grid, order, scaler) for a, b in zip(widths, widths[1:]))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def difference(ours, theirs):
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    assert numpy.isfinite(ours).all()
    return abs(ours - theirs).max() / max(abs(theirs).max(), 1e-30)


class Comparison:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.failed = assay, folder, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *arguments):
        done = subprocess.run([self.assay, "model", *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"assay model {' '.join(arguments)}: {done.returncode}\n{done.stderr}")

    def save(self, module, x, target=None):
        weights = {name: value.detach().numpy() for name, value in module.state_dict().items()}
        safetensors.save(self.path("w.safetensors"), weights)
        numpy.save(self.path("x.npy"), x)
        if target is not None:
            numpy.save(self.path("t.npy"), target)

    def eval(self, model, options):
        self.command("eval", "--model", model, "--weights", self.path("w.safetensors"), "--input",
                     self.path("x.npy"), "--output", self.path("y.npy"), *options)
        return numpy.load(self.path("y.npy"))

    def grad(self, model, options):
        self.command("grad", "--model", model, "--weights", self.path("w.safetensors"), "--input",
                     self.path("x.npy"), "--target", self.path("t.npy"), "--output", self.path("g.safetensors"),
                     *options)
        return safetensors.load(self.path("g.safetensors"))

    def say(self, name, output, gradient=0.0):
        good = output <= 1e-5 and gradient <= 1e-4
        self.failed += not good
        print(f"{name}: output {output:.1e}, gradients {gradient:.1e}{'' if good else '  FAILED'}")

    def check(self, name, model, module, rows, inputs, outputs, options=(), reach=1.0):
        x = (reach * (2 * numpy.random.rand(rows, inputs) - 1)).astype(numpy.float32)
        target = numpy.random.randn(rows, outputs).astype(numpy.float32)
        self.save(module, x, target)
        y = module(torch.from_numpy(x))
        nn.functional.mse_loss(y, torch.from_numpy(target)).backward()
        ours = self.grad(model, options)
        theirs = {key: value.grad.numpy() for key, value in module.named_parameters()}
        assert ours.keys() == theirs.keys(), (ours.keys(), theirs.keys())
        self.say(name, difference(self.eval(model, options), y.detach().numpy()),
                 max(difference(ours[key], theirs[key]) for key in theirs))


def check_perceptrons(compare):
    for activation, widths, rows in (
            ("relu", (2, 64, 64, 64, 1), 1000), ("tanh", (2, 64, 64, 64, 1), 1000),
            ("gelu", (3, 7, 7, 2), 1), ("silu", (1, 1, 1), 5), ("sigmoid", (5, 33, 33, 4), 257),
            ("gelu", (2, 128, 128, 3), 300), ("tanh", (2, 256, 256, 1), 500), ("relu", (17, 48, 9), 64),
            ("silu", (2, 32, 32, 32, 32, 32, 2), 129)):
        module = Perceptron(widths, ACTIVATIONS[activation])
        compare.check(f"mlp {activation} {widths} rows {rows}", "mlp", module, rows, widths[0], widths[-1],
                      ("--activation", activation))


def check_sirens(compare):
    for first, hidden, widths, rows in (
            (30, 30, (2, 64, 64, 64, 1), 1000), (30, 30, (2, 128, 128, 128, 128, 3), 400), (12.5, 3, (3, 7, 7, 2), 1),
            (30, 1, (1, 1, 1), 5), (30, 30, (2, 256, 256, 1), 333), (60, 30, (2, 33, 33, 1), 100)):
        options = ("--omega-first", str(first), "--omega-hidden", str(hidden))
        compare.check(f"siren {first} {hidden} {widths} rows {rows}", "siren", Siren(widths, first, hidden), rows,
                      widths[0], widths[-1], options)


def check_kans(compare):
    for grid, order, scaler, widths, rows in (
            (5, 3, True, (2, 5, 1), 1000), (5, 3, False, (2, 16, 16, 1), 500), (1, 1, True, (1, 1), 1),
            (10, 2, True, (3, 7, 2), 129), (20, 3, True, (2, 8, 1), 300), (3, 4, True, (2, 6, 2), 64),
            (7, 5, False, (2, 6, 1), 77), (8, 1, True, (2, 6, 1), 100), (50, 3, True, (4, 33, 3), 257)):
        module = Kan(widths, grid, order, scaler)
        compare.check(f"kan grid {grid} order {order} {widths} rows {rows}", "kan", module, rows, widths[0],
                      widths[-1], ("--spline-order", str(order)), reach=1.5)


def check_splines(compare):
    """One layer from one input to all basis functions shows them one by one."""
    for grid, order in ((5, 3), (1, 1), (4, 2), (3, 4), (9, 5), (40, 3)):
        module = Kan((1, grid + order), grid, order, False)
        x = numpy.linspace(-1.9, 1.9, 401, dtype=numpy.float32)[:, None]
        with torch.no_grad():
            module.layers[0].base_weight.zero_()
            module.layers[0].spline_weight.copy_(torch.eye(grid + order)[:, None, :])
        self_test = module(torch.from_numpy(x)).detach().numpy()
        knots = (numpy.arange(-order, grid + order + 1) * 2 - grid) / grid
        truth = numpy.stack([numpy.nan_to_num(BSpline.basis_element(knots[c:c + order + 2], False)(
            x[:, 0].astype(numpy.float64))) for c in range(grid + order)], axis=1)
        assert difference(self_test, truth) < 1e-5, "the recursion above is wrong"
        compare.save(module, x)
        compare.say(f"splines grid {grid} order {order} against SciPy",
                    difference(compare.eval("kan", ("--spline-order", str(order))), truth))


def check_training(compare):
    """Adam over some steps on the same data leaves the same weights."""
    for model, module, options in (("mlp", Perceptron((2, 16, 16, 1), torch.tanh), ("--activation", "tanh")),
                                   ("siren", Siren((2, 16, 16, 1), 5.0, 5.0),
                                    ("--omega-first", "5", "--omega-hidden", "5")),
                                   ("kan", Kan((2, 4, 1), 5, 3, True), ())):
        x = (2 * numpy.random.rand(200, 2) - 1).astype(numpy.float32)
        target = numpy.sin(3 * x[:, :1]) * x[:, 1:]
        compare.save(module, x, target)
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        for _ in range(20):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(module(torch.from_numpy(x)), torch.from_numpy(target))
            loss.backward()
            optimizer.step()
        compare.command("train", "--model", model, "--weights", compare.path("w.safetensors"), "--input",
                        compare.path("x.npy"), "--target", compare.path("t.npy"), "--steps", "20",
                        "--learning-rate", "0.001", "--output", compare.path("trained.safetensors"), *options)
        ours = safetensors.load(compare.path("trained.safetensors"))
        worst = max(difference(ours[key], value.detach().numpy()) for key, value in module.named_parameters())
        compare.failed += worst > 1e-3
        print(f"{model}: weights after 20 steps {worst:.1e}{'' if worst <= 1e-3 else '  FAILED'}")


def main():
    torch.manual_seed(1)
    numpy.random.seed(1)
    torch.set_num_threads(1)
    compare = Comparison(sys.argv[1], sys.argv[2])
    check_perceptrons(compare)
    check_sirens(compare)
    check_kans(compare)
    check_splines(compare)
    check_training(compare)
    sys.exit(1 if compare.failed else 0)


main()
