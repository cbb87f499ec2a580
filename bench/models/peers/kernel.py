"""The kernels of bench/models/kernel.c in PyTorch, and its solvers in NumPy and SciPy. They use the same schemes, on whole
arrays at a time."""
import math

import numpy as np
import peer

torch = peer.torch()
from scipy.linalg import cholesky_banded, cho_solve_banded  # noqa: E402

torch.manual_seed(1)
torch.set_grad_enabled(False)
small, small_y = torch.randn(500, 512), torch.empty(500, 512)
row, scale, shift = torch.randn(500, 256), torch.ones(256), torch.zeros(256)
weights = torch.nn.Parameter(torch.zeros(4_000_000))
weights.grad = torch.randn(4_000_000)
adam = torch.optim.Adam([weights])
functional = torch.nn.functional


def burgers():
    n, viscosity, duration = 256, 0.01, 0.05
    u = np.sin(2 * np.pi * np.arange(n) / n)
    steps = math.ceil(duration * (1.37 * np.abs(u).max() * n + 16 / 3 * viscosity * n * n) / 2)
    dt = duration / steps

    def slope(u):
        left, right, lefter, righter = (np.roll(u, k) for k in (1, -1, 2, -2))
        flux = -2 / 3 * n / 3 * (right - left) * (left + u + right)
        flux += 1 / 12 * n / 3 * (righter - lefter) * (lefter + u + righter)
        return flux + viscosity * n * n / 12 * (16 * (left + right) - lefter - righter - 30 * u)

    for _ in range(steps):
        a = slope(u)
        b = slope(u + dt / 2 * a)
        c = slope(u + dt / 2 * b)
        u = u + dt / 6 * (a + 2 * b + 2 * c + slope(u + dt * c))


points, batch, steps = 256, 16, 40
ratio = 0.1 / steps * (points + 1) ** 2
start = np.sin(2 * np.pi * np.outer(np.arange(points), np.arange(1, batch + 1)) / points)
doutput = np.zeros_like(start)


def factored():
    conductivity = np.exp(np.interp((np.arange(points + 1) + 0.5) / (points + 1),
                                    np.linspace(0, 1, 8), np.zeros(8)))
    flux = 0.5 * ratio * conductivity
    bands = np.zeros((2, points))
    bands[1] = 1 + flux[:-1] + flux[1:]
    bands[0, 1:] = -flux[1:-1]
    return cholesky_banded(bands, check_finite=False), flux[:, None]


def explicit(flux, u):
    jump = flux * np.diff(u, axis=0, prepend=0, append=0)
    return u + np.diff(jump, axis=0)


def heat():
    factor, flux = factored()
    states = [start]
    for _ in range(steps):
        states.append(cho_solve_banded((factor, False), explicit(flux, states[-1]), check_finite=False))
    return factor, flux, states


def heat_gradient():
    factor, flux, states = heat()
    slope, adjoint = np.zeros(points + 1), np.zeros_like(start)
    for step in range(steps, 0, -1):
        if step % 10 == 0:
            adjoint = adjoint + doutput
        adjoint = cho_solve_banded((factor, False), adjoint, check_finite=False)
        middle = 0.5 * (states[step] + states[step - 1])
        slope -= (np.diff(adjoint, axis=0, prepend=0, append=0)
                  * np.diff(middle, axis=0, prepend=0, append=0)).sum(1)
        adjoint = explicit(flux, adjoint)


peer.serve({
    "relu": lambda: torch.clamp_min(small, 0, out=small_y),
    "gelu": lambda: functional.gelu(small),
    "tanh": lambda: torch.tanh(small, out=small_y),
    "sigmoid": lambda: torch.sigmoid(small, out=small_y),
    "sine": lambda: torch.sin(small, out=small_y),
    "silu": lambda: functional.silu(small),
    "layer-norm": lambda: functional.layer_norm(row, (256,), scale, shift),
    "adam": adam.step,
    "burgers": burgers,
    "heat": heat,
    "heat-gradient": heat_gradient,
})
