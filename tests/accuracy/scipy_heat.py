# Solves the heat problem of test_models_heat.c by other means: dense matrices in NumPy, gradients by complex
# steps (exact up to rounding, without an adjoint), the optimum by SciPy's L-BFGS-B.
# Reads the problem from the file named, prints the value at the start, its gradient, the optimum's value and
# the optimum.
import sys

import numpy as np
from scipy.optimize import minimize


def read(path):
    with open(path) as file:
        points, knots, snapshots, steps, batch = map(int, file.readline().split())
        duration, implicitness, smoothness = map(float, file.readline().split())
        numbers = np.array([float(word) for word in file.read().split()])
    initial = numbers[: batch * points].reshape(batch, points)
    data = numbers[batch * points :].reshape(batch, snapshots, points)
    return points, knots, snapshots, steps, duration, implicitness, smoothness, initial, data


def main(path):
    points, knots, snapshots, steps, duration, theta, smoothness, initial, data = read(path)
    dx = 1 / (points + 1)
    dt = duration / (snapshots * steps)
    faces = (np.arange(points + 1) + 0.5) * dx
    hats = np.array([np.interp(faces, np.linspace(0, 1, knots), row) for row in np.eye(knots)])
    difference = (np.eye(points + 1, points) - np.eye(points + 1, points, -1)) / dx

    def value(log_k):
        operator = difference.T @ (np.exp(log_k @ hats)[:, None] * difference)
        step = np.linalg.solve(
            np.eye(points) + theta * dt * operator, np.eye(points) - (1 - theta) * dt * operator
        )
        to_snapshot = np.linalg.matrix_power(step, steps)
        u, sum_ = initial.T, 0
        for snapshot in range(snapshots):
            u = to_snapshot @ u
            sum_ = sum_ + ((u - data[:, snapshot].T) ** 2).sum()
        return sum_ / data.size + smoothness * (np.diff(log_k) ** 2).mean()

    def both(log_k):
        gradient = [value(log_k + 1e-30j * row).imag / 1e-30 for row in np.eye(knots)]
        return value(log_k), np.array(gradient)

    start, gradient = both(np.zeros(knots))
    found = minimize(both, np.zeros(knots), jac=True, method="L-BFGS-B",
                     options=dict(gtol=1e-13, ftol=0, maxiter=500))
    for number in (start, *gradient, found.fun, *found.x):
        print(f"{number:.17g}")


main(sys.argv[1])
