"""Benchmarks, comparisons and fits: bench(), compare() and fit()."""
import inspect
import json
import os

from . import _core, _torch
from ._monitor import Record

# The same defaults as in `assay bench`. The precision is chosen so that the ratio itself is known, and not only the verdict.
BUDGET_SECONDS = 5.0
RATIO_PRECISION = 0.05

METRICS = {"wall": "wall_seconds", "cpu": "cpu_seconds", "memory": "peak_rss_bytes", "heap": "heap_peak_bytes",
           "allocations": "heap_allocations", "energy": "energy_joules"}


def bench(*functions, names=None, budget_seconds=None, precision=None, margin=None, runs=None, warmup=None, seed=0,
          metric=None, energy=False, device=None):
    """Time functions without arguments, in turns, until they can be told apart. The first function is the baseline.

        result = assay.bench(old, new)
        print(result)               # times, ratio, interval and verdict, as `assay bench` prints them
        result.verdict              # "faster", "slower", "same" or "inconclusive"

    budget_seconds: time for everything (default 5 for each function). margin: differences up to this share do not count (default 0.01).
    precision: relative half width that the 95 % interval must reach. runs, warmup: make a fixed number of single calls instead, after
    `warmup` calls that do not count. names: the names of the functions in the record (default: the functions' own names).
    metric: the metric by which they are compared: "wall", "cpu" or "energy" (default wall, or cpu if wall time cannot decide).
    energy: measure the energy of the whole machine during each sample; samples during which a GPU is throttled then count as
    disturbed. The metric "energy" implies it. If the machine has no energy counters, a RuntimeWarning says why.
    device: a GPU on which the functions work with PyTorch ("cuda", "cuda:1" or its number). Each call then ends when the GPU has finished.
    """
    metric = _metric(metric)
    energy = energy or metric == METRICS["energy"]
    if not functions:
        raise TypeError("bench() needs at least one function")
    for function in functions:
        if not callable(function):
            raise TypeError(f"bench() calls functions without arguments; this is {function!r}: write "
                            "bench(lambda: ...)")
        check_plain(function)
    if names is None:
        names = [getattr(function, "__name__", None) or type(function).__name__ for function in functions]
    elif isinstance(names, str) or len(names) != len(functions):
        raise ValueError(f"there must be as many names as functions, {len(functions)}")
    if budget_seconds is not None and not budget_seconds > 0:
        raise ValueError("budget_seconds must be above 0")
    if precision is None and len(functions) > 1:
        precision = RATIO_PRECISION
    if device is not None:
        _torch.check_device(device)
        functions = tuple(_torch.synchronized(function, device) for function in functions)
    return _core.bench(functions, tuple(_distinct(names)), precision=precision or 0,
                       budget_seconds=budget_seconds or BUDGET_SECONDS * len(functions),
                       margin=margin or 0, runs=runs or 0, warmup=warmup or 0, seed=seed, yardstick=True, metric=metric,
                       energy=energy)


def _metric(name):
    """The name that records have for a metric. None stays None."""
    if name is None or name in METRICS.values():
        return name
    if name not in METRICS:
        raise ValueError(f"there is no metric {name!r}; there are {', '.join(METRICS)}")
    return METRICS[name]


def check_plain(function):
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{function.__qualname__} is a coroutine function, which a call does not run")


def _distinct(names):
    seen = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the name of a function must be a string, not {type(name)}")
        fresh, number = name, 2
        while fresh in seen:
            fresh, number = f"{name} ({number})", number + 1
        seen.add(fresh)
        yield fresh


def compare(*sides, margin=None, metric=None):
    """Compare saved measurements: each other side with the first. Returns a record with comparisons and verdicts.

    A side is a record, the path of a record or of another tool's results, or a list of these, which are then several runs of one
    program. If you can run both functions in one program, bench() is better, because it samples them in turns.
    """
    if len(sides) < 2:
        raise TypeError("compare() needs two sides or more")
    metric = _metric(metric)
    return _core.compare([_side(side, index) for index, side in enumerate(sides)], margin=margin or 0, metric=metric)


def _side(side, index):
    items = list(side) if isinstance(side, (list, tuple)) else [side]
    if not items:
        raise ValueError("a side of a comparison is empty")
    records = [item if isinstance(item, Record) else _core.load(item) for item in items]
    first = items[0]
    origin = os.fsdecode(first) if not isinstance(first, Record) else ("baseline" if index == 0 else f"candidate {index}")
    return origin, records


class Growth:
    """How a time grows with a size n."""

    def __init__(self, fitted):
        self._fitted = fitted
        self._found = json.loads(fitted.json())

    @property
    def growth_class(self):
        """"1", "log n", "n", "n log n", "n^2", "n^3", "power", or None if the data do not show a class."""
        return self._found["class"]

    @property
    def exponent(self):
        """The exponent b of the closest curve overhead + c n^b, or None."""
        return self._found["exponent"]

    @property
    def interval(self):
        """The 95 % interval of the exponent."""
        return self._found["low"], self._found["high"]

    @property
    def conclusive(self):
        """Whether no other class explains the data as well."""
        return self._found["conclusive"]

    @property
    def reason(self):
        """Why it is not conclusive, or None."""
        return self._found.get("reason") or None

    def predict(self, n):
        """The seconds that the chosen class gives for a size, or None."""
        return self._fitted.predict(n)

    def to_dict(self):
        """Everything that was found."""
        return json.loads(self._fitted.json())

    def __str__(self):
        return self._fitted.text()

    def _repr_html_(self):
        from . import _html     # imported only when a notebook shows it
        return _html.of_growth(self.to_dict())

    def __repr__(self):
        if self.growth_class is None:
            return f"<assay growth, not known: {self.reason}>"
        return f"<assay growth {self.growth_class!r}, exponent {self.exponent:.4g}>"


def fit(sizes, seconds):
    """Find how a time grows with a size: O(1), log n, n, n log n, n^2, n^3 or another power.

    Several values at one size show the noise and make the answer sharper.
    """
    return Growth(_core.fit(_plain(sizes), _plain(seconds)))


def _plain(values):
    """The values as a list. NumPy and PyTorch arrays are converted."""
    return values.tolist() if hasattr(values, "tolist") else list(values)
