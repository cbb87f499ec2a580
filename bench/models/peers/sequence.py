"""PyTorch's LSTM and NumPy's least squares, for bench/models/sequence.c: the same shapes."""
import peer

torch = peer.torch()
import numpy  # noqa: E402  (after peer has fixed the threads)
from forecaster import Forecaster  # noqa: E402

D, HIDDEN, ORDER, STEPS = 20, 64, 5, 5000


def one_step(model):
    x = torch.randn(1, 1, D)
    state = [None]

    def run():
        with torch.no_grad():
            y, state[0] = model(x, state[0])
    return run


def forecast(model, batch, steps):
    x = torch.randn(batch, 20, D)

    def run():
        with torch.no_grad():
            y, state = model(x)
            for _ in range(steps - 1):
                y, state = model(y[:, None, :], state)
    return run


def forward(model, batch, time):
    x = torch.randn(batch, time, model.lstm.input_size)

    def run():
        with torch.no_grad():
            model(x)
    return run


def train(model, batch, time):
    x = torch.randn(batch, time, model.lstm.input_size)
    target = torch.randn(batch, model.fc.out_features)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def run():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x)[0], target)
        loss.backward()
        optimizer.step()
    return run


def series():
    random = numpy.random.default_rng(1)
    x = random.standard_normal((STEPS, D))
    for t in range(1, STEPS):
        x[t] += 0.5 * x[t - 1]
    return x


def lagged(x):
    n = len(x) - ORDER
    return numpy.hstack([numpy.ones((n, 1))] + [x[ORDER - i:len(x) - i] for i in range(1, ORDER + 1)])


X = series()
COEFFICIENTS = 0.01 * numpy.random.default_rng(2).standard_normal((ORDER, D, D))


def normal_equations():
    z, y = lagged(X), X[ORDER:]
    return numpy.linalg.solve(z.T @ z, z.T @ y)


def least_squares():
    return numpy.linalg.lstsq(lagged(X), X[ORDER:], rcond=None)[0]


def mvar_forecast():
    past = list(X[-ORDER:])
    for _ in range(100):
        past.append(sum(COEFFICIENTS[i] @ past[-1 - i] for i in range(ORDER)))


one, two, large = (Forecaster(D, HIDDEN, 1, D), Forecaster(D, HIDDEN, 2, D), Forecaster(64, 256, 1, 64))
peer.serve({
    "step": one_step(one),
    "step-2": one_step(two),
    "forecast": forecast(one, 1, 100),
    "forecast-32": forecast(one, 32, 100),
    "forward": forward(one, 32, 20),
    "forward-1": forward(one, 1, 1),
    "train": train(one, 32, 20),
    "train-2": train(two, 32, 20),
    "train-1": train(one, 1, 20),
    "train-large": train(large, 64, 20),
    "mvar-normal": normal_equations,
    "mvar-lstsq": least_squares,
    "mvar-forecast": mvar_forecast,
})
