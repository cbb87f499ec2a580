"""NumPy's least squares, eigenvalues and forecasts; the built-in MVAR is compared with them.

    numpy_mvar.py ASSAY FOLDER        one line per case

Coefficients agree to 1e-10 of the largest one, forecasts to 1e-12, gradients to 1e-12.
"""
import json
import os
import subprocess
import sys

import numpy

import safetensors

ASSAY, FOLDER = sys.argv[1:3]
random = numpy.random.default_rng(20261115)


def path(name):
    return os.path.join(FOLDER, name)


def assay(verb, *arguments):
    return subprocess.run([ASSAY, "model", verb, "--model", "mvar", "--input", path("x.npy"), *arguments],
                          check=True, stdout=subprocess.PIPE).stdout


def make_series(batch, time, dim, mean):
    """Trajectories of a stable process whose features differ in size."""
    mix = random.standard_normal((dim, dim)) / dim
    x = random.standard_normal((batch, time, dim))
    for t in range(1, time):
        x[:, t] += 0.8 * x[:, t - 1] @ mix.T + 0.3 * x[:, t - 1]
    return x * 10.0 ** random.uniform(-2, 2, dim) + mean


def lagged(x, order):
    """Equations of every trajectory on its own: (rows, 1 + dim order), (rows, dim)."""
    left, right = [], []
    for trajectory in x:
        n = len(trajectory) - order
        left.append(numpy.hstack([numpy.ones((n, 1))] + [trajectory[order - i:order - i + n]
                                                         for i in range(1, order + 1)]))
        right.append(trajectory[order:])
    return numpy.vstack(left), numpy.vstack(right)


def least_squares(x, order, ridge):
    left, right = lagged(x, order)
    dim = right.shape[1]
    if ridge > 0:  # the intercept is not penalised
        penalty = numpy.sqrt(ridge) * numpy.eye(1 + dim * order)[1:]
        left, right = numpy.vstack([left, penalty]), numpy.vstack([right, numpy.zeros((dim * order, dim))])
    solution = numpy.linalg.lstsq(left, right, rcond=None)[0]
    weights = {"A_0": solution[0]}
    for i in range(order):
        weights[f"A_{i + 1}"] = numpy.ascontiguousarray(solution[1 + i * dim:1 + (i + 1) * dim].T)
    return weights


def forecast(weights, x, steps):
    past = [x[:, t] for t in range(x.shape[1])]
    for _ in range(steps):
        past.append(weights["A_0"] + sum(past[-i] @ weights[f"A_{i}"].T for i in range(1, len(weights))))
    return numpy.stack(past[-steps:], 1)


def spectral_radius(weights):
    """Of the companion matrix."""
    order, dim = len(weights) - 1, len(weights["A_0"])
    companion = numpy.eye(dim * order, k=-dim)
    companion[:dim] = numpy.hstack([weights[f"A_{i}"] for i in range(1, order + 1)])
    return float(abs(numpy.linalg.eigvals(companion)).max())


def apart(got, expected):
    assert got.shape == expected.shape and got.dtype == numpy.float64, (got.shape, got.dtype)
    return float(numpy.abs(got - expected).max() / numpy.abs(expected).max())


def residual(weights, x):
    """Sum of squares the coefficients leave."""
    order = len(weights) - 1
    windows = numpy.concatenate([x[:, t:t + order] for t in range(x.shape[1] - order)])
    targets = numpy.concatenate([x[:, t] for t in range(order, x.shape[1])])
    return float(((forecast(weights, windows, 1)[:, 0] - targets) ** 2).sum())


def fit_case(batch, time, dim, order, mean=0.0, ridge=0.0):
    x = make_series(batch, time, dim, mean)
    numpy.save(path("x.npy"), x)
    expected, good = least_squares(x, order, ridge), True
    for method in ("normal", "qr"):
        assay("train", "--input-dim", str(dim), "--order", str(order), "--ridge", str(ridge), "--method", method,
              "--output", path("w.safetensors"))
        weights = safetensors.load(path("w.safetensors"))
        assert list(weights) == list(expected)
        error = max(apart(weights[name], expected[name]) for name in expected)
        print(f"batch {batch}, time {time}, d {dim}, p {order}, mean {mean:g}, ridge {ridge:g}, {method}: {error:.1e}")
        good = good and error <= 1e-10
        if ridge == 0:
            good = good and residual(weights, x) <= residual(expected, x) * (1 + 1e-12)
    return good


def use_case(batch, time, dim, order):
    x, target = make_series(batch, time, dim, 1.0), random.standard_normal((batch, dim))
    weights = {"A_0": random.standard_normal(dim)}
    for i in range(order):
        weights[f"A_{i + 1}"] = random.standard_normal((dim, dim)) / (2 * dim * order)
    safetensors.save(path("w.safetensors"), weights)
    numpy.save(path("x.npy"), x)
    numpy.save(path("t.npy"), target)
    assay("eval", "--weights", path("w.safetensors"), "--output", path("y.npy"))
    one = forecast(weights, x, 1)[:, 0]
    error = apart(numpy.load(path("y.npy")), one)
    assay("eval", "--weights", path("w.safetensors"), "--steps", "25", "--output", path("y.npy"))
    error = max(error, apart(numpy.load(path("y.npy")), forecast(weights, x, 25)))
    assay("grad", "--weights", path("w.safetensors"), "--target", path("t.npy"), "--output", path("g.safetensors"))
    gradients, slope = safetensors.load(path("g.safetensors")), 2 * (one - target) / one.size
    slopes = {"A_0": slope.sum(0), **{f"A_{i}": slope.T @ x[:, -i] for i in range(1, order + 1)}}
    slope_error = max(apart(gradients[name], slopes[name]) for name in slopes)
    radius = spectral_radius(weights)
    info = json.loads(assay("info", "--weights", path("w.safetensors"), "--json", "-"))
    radius_error = abs(info["figures"]["spectral radius"]["value"] - radius) / radius
    print(f"batch {batch}, time {time}, d {dim}, p {order}: forecasts {error:.1e}, gradients {slope_error:.1e}, "
          f"radius {radius_error:.1e}")
    return error <= 1e-12 and slope_error <= 1e-12 and radius_error <= 1e-9


good = [
    fit_case(1, 5000, 20, 5),
    fit_case(1, 400, 3, 2, mean=50.0),
    fit_case(7, 40, 4, 3),
    fit_case(60, 3, 2, 2),
    fit_case(1, 100, 1, 1),
    fit_case(2, 90, 9, 4, ridge=2.5),
    fit_case(1, 12, 4, 3, ridge=0.1),
    use_case(1, 5, 20, 5),
    use_case(6, 30, 3, 4),
    use_case(1, 1, 1, 1),
]
sys.exit(0 if all(good) else 1)
