"""Function regression in PyTorch, as in bench/models/field.c: training steps on 1000 samples of a function
of two variables (zero_grad, forward, mean squared error, backward, Adam)."""
import math

import peer

torch = peer.torch()
functional = torch.nn.functional


class Sine(torch.nn.Module):
    def __init__(self, omega):
        super().__init__()
        self.omega = omega

    def forward(self, x):
        return torch.sin(self.omega * x)


def perceptron(hidden, layers, activation):
    widths = [2] + [hidden] * layers
    stack = []
    for fan_in, fan_out in zip(widths, widths[1:]):
        stack += [torch.nn.Linear(fan_in, fan_out), activation()]
    return torch.nn.Sequential(*stack, torch.nn.Linear(hidden, 1))


class KanLayer(torch.nn.Module):
    """SiLU branch and B-splines by the Cox-de Boor recursion, all basis functions at once as one
    matrix product: the usual efficient formulation."""

    def __init__(self, fan_in, fan_out, grid=5, order=3):
        super().__init__()
        self.order = order
        knots = torch.arange(-order, grid + order + 1) * (2 / grid) - 1
        self.register_buffer("knots", knots)
        self.base_weight = torch.nn.Parameter(torch.randn(fan_out, fan_in) / math.sqrt(fan_in))
        self.spline_weight = torch.nn.Parameter(0.1 * torch.randn(fan_out, fan_in, grid + order))
        self.spline_scaler = torch.nn.Parameter(torch.ones(fan_out, fan_in))

    def basis(self, x):
        t = self.knots
        x = x.unsqueeze(-1)
        b = ((x >= t[:-1]) & (x < t[1:])).to(x.dtype)
        for k in range(1, self.order + 1):
            b = ((x - t[: -(k + 1)]) / (t[k:-1] - t[: -(k + 1)]) * b[..., :-1]
                 + (t[k + 1:] - x) / (t[k + 1:] - t[1:-k]) * b[..., 1:])
        return b

    def forward(self, x):
        weight = self.spline_weight * self.spline_scaler.unsqueeze(-1)
        return (functional.linear(functional.silu(x), self.base_weight)
                + functional.linear(self.basis(x).flatten(1), weight.flatten(1)))


def kan(*widths):
    return torch.nn.Sequential(*(KanLayer(a, b) for a, b in zip(widths, widths[1:])))


def data():
    x = 2 * torch.rand(1000, 2) - 1
    return x, torch.sin(math.pi * x[:, :1]) * torch.cos(math.pi * x[:, 1:] / 2)


def training(model):
    x, y = data()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()

    return step


def inference(model, rows):
    x = data()[0][:rows]

    def forward():
        with torch.no_grad():
            model(x)

    return forward


activations = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU, "gelu": torch.nn.GELU,
               "silu": torch.nn.SiLU, "sigmoid": torch.nn.Sigmoid, "sine": lambda: Sine(30.0)}
tasks = {}
for name, activation in activations.items():
    for width in (32, 64, 128, 256):
        tasks[f"train {name} {width}"] = training(perceptron(width, 3, activation))
    for rows in (1, 1000):
        tasks[f"forward {name} 64 {rows}"] = inference(perceptron(64, 3, activation), rows)
for width in (5, 16, 64):
    tasks[f"train kan {width}"] = training(kan(2, width, 1))
for rows in (1, 1000):
    tasks[f"forward kan 5 {rows}"] = inference(kan(2, 5, 1), rows)
peer.serve(tasks)
