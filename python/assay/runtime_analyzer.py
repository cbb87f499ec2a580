"""Runtime profiles of forecasting models: training and inference time, memory, throughput and complexity; and comparisons of models.

    from assay.runtime_analyzer import RuntimeAnalyzer, quick_benchmark

    analyzer = RuntimeAnalyzer()
    with analyzer.time_operation('training') as timer:
        model = train_model(data)
    profile = quick_benchmark(model_name='MVAR', forecast_fn=mvar_forecast, z0=initial_state, training_time=timer.elapsed,
                              model_params=2020, latent_dim=20, n_steps=100, n_trials=50, lag=5)
    analyzer.save_profile(profile, output_dir / 'runtime_profile.json')

`forecast_fn(z0, n_steps)` computes the next `n_steps` values from the state z0. MB are 10^6 bytes here, and standard
deviations divide by the number of samples, as NumPy's do. A figure that could not be measured is None in dictionaries
and JSON, with the reason in "unavailable" beside it, and nan in attributes.
"""
from __future__ import annotations

import dataclasses
import json
import math
import operator
import os
import re
import sys
from typing import Any, Callable, Dict, Optional, Sequence, Union

from . import _core, _torch

__all__ = ["MemoryResult", "RuntimeAnalyzer", "RuntimeProfile", "TimingResult", "compute_lstm_params", "compute_mvar_params",
           "quick_benchmark"]

_NAN = float("nan")
Path = Union[str, "os.PathLike[str]"]


def _number(value: Any) -> float:
    return _NAN if value is None else float(value)


def _plain(value: float) -> Optional[float]:
    """The value, or None if it is not finite, because JSON has no nan."""
    return value if value is not None and math.isfinite(value) else None


@dataclasses.dataclass
class TimingResult:
    """The times of repeated calls, or of one job, which has only a total."""

    total_seconds: float
    mean_seconds: float = _NAN
    std_seconds: float = _NAN
    min_seconds: float = _NAN
    max_seconds: float = _NAN
    samples: int = 1

    def to_dict(self) -> Dict[str, Any]:
        """The figures as in the JSON of a profile."""
        if math.isnan(self.mean_seconds):
            return {"total_seconds": _plain(self.total_seconds)}
        return {"mean_seconds": self.mean_seconds, "std_seconds": _plain(self.std_seconds), "min_seconds": _plain(self.min_seconds),
                "max_seconds": _plain(self.max_seconds), "samples": self.samples}

    @classmethod
    def _of(cls, timing: Any) -> "TimingResult":
        figures = timing.dict()
        count = figures["count"]
        deviation = figures["std_seconds"] * math.sqrt((count - 1) / count) if count > 1 else 0.0
        return cls(figures["total_seconds"], figures["mean_seconds"], deviation, figures["min_seconds"], figures["max_seconds"], count)

    def _timing(self) -> Any:
        spread = self.std_seconds * math.sqrt(self.samples / (self.samples - 1)) if self.samples > 1 else None
        return _core.timing(self.samples, self.total_seconds, self.mean_seconds, spread, self.min_seconds, self.max_seconds)


@dataclasses.dataclass
class MemoryResult:
    """The resident memory of the process, and the size of the parameters of a model."""

    peak_mb: float
    current_mb: float
    model_parameters: int
    parameter_memory_mb: float

    def to_dict(self) -> Dict[str, Any]:
        """The figures as in the JSON of a profile."""
        return {name: _plain(value) if isinstance(value, float) else value for name, value in dataclasses.asdict(self).items()}


@dataclasses.dataclass
class RuntimeProfile:
    """Everything measured about one model."""

    model_name: str
    training: TimingResult
    inference_single_step: Optional[TimingResult]
    inference_full_trajectory: TimingResult
    memory: MemoryResult
    throughput: Dict[str, float]
    complexity: Dict[str, Any]

    def to_dict(self) -> Dict[str, Any]:
        """The profile as a dictionary, with the keys of the JSON that `assay study rom` writes too."""
        single = self.inference_single_step
        return {"model_name": self.model_name, "training": self.training.to_dict(),
                "inference": {"single_step": single.to_dict() if single is not None else None,
                              "full_trajectory": self.inference_full_trajectory.to_dict()},
                "memory": self.memory.to_dict(), "throughput": dict(self.throughput), "complexity": dict(self.complexity)}

    def _repr_html_(self) -> str:
        from . import _html     # imported only when a notebook shows it
        return _html.of_dictionary(self.model_name, {key: value for key, value in self.to_dict().items() if key != "model_name"})


class _Stopwatch:
    """The time of a block. `elapsed` is in seconds, and no longer changes after the block has ended."""

    def __init__(self, name: str):
        self.name = name
        self._start: Optional[float] = None
        self._elapsed: Optional[float] = None

    def __enter__(self) -> "_Stopwatch":
        self._elapsed = None
        self._start = _core.now()
        return self

    def __exit__(self, *error: Any) -> None:
        self._elapsed = _core.now() - self._start

    @property
    def elapsed(self) -> float:
        if self._start is None:
            raise RuntimeError(f"the operation {self.name!r} has not begun: use `with analyzer.time_operation(...) as timer:`")
        return self._elapsed if self._elapsed is not None else _core.now() - self._start


def _item_size(dtype: Any) -> int:
    """The bytes of one number of a type. The type is given as a NumPy or PyTorch dtype, by its name ("float32"), or as a number of bytes."""
    if isinstance(dtype, int) and not isinstance(dtype, bool) and dtype > 0:
        return dtype
    if dtype is float:
        return 8
    torch, numpy = _torch.torch(), sys.modules.get("numpy")
    if torch is not None and isinstance(dtype, torch.dtype):
        return torch.empty(0, dtype=dtype).element_size()
    named = re.fullmatch(r"b?float(\d+)|u?int(\d+)", dtype) if isinstance(dtype, str) else None
    if named is not None:
        return int(named.group(1) or named.group(2)) // 8
    if numpy is not None:
        try:
            return numpy.dtype(dtype).itemsize
        except TypeError:
            pass
    raise TypeError(f"param_dtype must be a type of NumPy or PyTorch, its name, or a number of bytes, not {dtype!r}")


def _shape(model_name: str, model_params: int, latent_dim: int, sizes: Dict[str, Any]) -> tuple:
    """The kind of model that the name and the sizes describe: ("mvar", lag, 0), ("lstm", hidden_size, num_layers) or ("", 0, 0)."""
    name = model_name.lower()
    lag = sizes.get("lag", sizes.get("lag_order", sizes.get("p")))
    hidden = sizes.get("hidden_size", sizes.get("hidden_dim", sizes.get("hidden_units")))
    if hidden is not None and "mvar" not in name:
        return "lstm", operator.index(hidden), operator.index(sizes.get("num_layers", 1))
    if lag is None and "mvar" in name and latent_dim > 0:
        lags, rest = divmod(model_params - latent_dim, latent_dim * latent_dim)
        lag = lags if rest == 0 and lags > 0 else None
    if lag is not None and "lstm" not in name:
        return "mvar", operator.index(lag), 0
    return "", 0, 0


def _whole(value: Any, what: str, least: int = 0) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {value!r}") from None
    if number < least:
        raise ValueError(f"{what} must be {least} or more, not {number}")
    return number


class RuntimeAnalyzer:
    """Times, benchmarks and profiles forecasting models."""

    def time_operation(self, name: str) -> _Stopwatch:
        """Time a block: `with analyzer.time_operation('training') as timer:`, then `timer.elapsed`."""
        return _Stopwatch(name)

    def benchmark_inference(self, forecast_fn: Callable[[Any, int], Any], z0: Any, n_steps: int = 100, n_trials: int = 50,
                            warmup_trials: int = 5) -> Dict[str, TimingResult]:
        """Time forecasts of a single step and of `n_steps` steps, after `warmup_trials` trials that do not count. Returns
        'single_step' and 'full_trajectory'."""
        if not callable(forecast_fn):
            raise TypeError(f"forecast_fn must be a function of the state and the number of steps, not {forecast_fn!r}")
        timings = _core.forecast_benchmark(lambda steps: forecast_fn(z0, steps), _whole(n_steps, "n_steps", 1), n_trials, warmup_trials)
        return dict(zip(("single_step", "full_trajectory"), map(TimingResult._of, timings)))

    def measure_memory(self, model_params: int, param_dtype: Any = "float64") -> MemoryResult:
        """Peak and current resident memory of the process, and the memory that the parameters take."""
        return self._memory(self._figures(model_params=model_params, size=_item_size(param_dtype)))

    def compute_throughput(self, inference_timing: Any, n_steps: int, latent_dim: int) -> Dict[str, float]:
        """Steps and predictions per second, from the time of a forecast of `n_steps` steps: the result of benchmark_inference(), or the
        TimingResult of whole forecasts."""
        return self._figures(full=_inference(inference_timing)[1], steps=n_steps, latent_dim=latent_dim)["throughput"]

    def analyze_complexity(self, model_name: str, model_params: int, latent_dim: int, **kwargs: Any) -> Dict[str, Any]:
        """Parameters, FLOPs of a step and growth. The name and the sizes tell the kind of model: `lag` means an MVAR, `hidden_size` (and
        `num_layers`) an LSTM. For other models only the parameters are known."""
        return self._figures(model_name, model_params=model_params, latent_dim=latent_dim, sizes=kwargs)["complexity"]

    def build_profile(self, model_name: str, training_time: float, inference_times: Any, model_params: int, latent_dim: int,
                      n_forecast_steps: int = 100, param_dtype: Any = "float64", **kwargs: Any) -> RuntimeProfile:
        """Put a profile together. inference_times: the result of benchmark_inference(), or the TimingResult of whole forecasts. The memory
        is measured now. The throughput is that of whole forecasts. Keywords are the sizes of analyze_complexity()."""
        single, full = _inference(inference_times)
        training = training_time if isinstance(training_time, TimingResult) else TimingResult(_number(training_time))
        figures = self._figures(model_name, single=single, full=full, steps=n_forecast_steps, model_params=model_params,
                                latent_dim=latent_dim, sizes=kwargs, size=_item_size(param_dtype))
        return RuntimeProfile(figures["model_name"], training, single, full, self._memory(figures), figures["throughput"],
                              figures["complexity"])

    def compare_models(self, profiles: Sequence[RuntimeProfile]) -> Dict[str, Any]:
        """Compare every pair of profiles: 'training_time_ratio', 'inference_speedup', 'memory_ratio' and 'parameter_ratio' by "B_vs_A", and
        the 'winners'. The ratios of times, memory and parameters are B / A. A speedup above 1 means that B is faster."""
        for profile in profiles:
            if not isinstance(profile, RuntimeProfile):
                raise TypeError(f"compare_models() compares profiles of build_profile(), not {type(profile)}")
        return json.loads(_core.comparison_json([
            (profile.model_name.encode("utf-8", "backslashreplace"), _number(profile.training.total_seconds),
             _number(profile.throughput.get("seconds_per_step")), profile.memory.parameter_memory_mb * 1e6,
             float(profile.memory.model_parameters))
            for profile in profiles]))

    def save_profile(self, profile: RuntimeProfile, filepath: Path) -> None:
        """Save a profile as JSON. The file appears complete or not at all."""
        _save(profile.to_dict(), filepath)

    def save_comparison(self, comparison: Dict[str, Any], filepath: Path) -> None:
        """Save a comparison as JSON. The file appears complete or not at all."""
        _save(comparison, filepath)

    @staticmethod
    def _memory(figures: Dict[str, Any]) -> MemoryResult:
        memory = figures["memory"]
        return MemoryResult(_number(memory["peak_mb"]), _number(memory["current_mb"]), memory["model_parameters"],
                            memory["parameter_memory_mb"])

    @staticmethod
    def _figures(model_name: str = "", *, single: Optional[TimingResult] = None, full: Optional[TimingResult] = None, steps: int = 1,
                 model_params: int = 0, latent_dim: int = 1, sizes: Optional[Dict[str, Any]] = None, size: int = 8) -> Dict[str, Any]:
        """The dictionary of a profile with these parts, as libassay makes it."""
        parameters, dimension = _whole(model_params, "model_params"), _whole(latent_dim, "latent_dim", 1)
        return json.loads(_core.profile_json(
            model_name, None, single and single._timing(), full and full._timing(), _whole(steps, "the number of steps", 1), parameters,
            size, dimension, *_shape(model_name, parameters, dimension, sizes or {})))


def _inference(given: Any) -> tuple:
    """(timing of a single step or None, timing of whole forecasts), from the argument of build_profile()."""
    if isinstance(given, TimingResult):
        return None, given
    if isinstance(given, dict) and isinstance(given.get("full_trajectory"), TimingResult):
        return given.get("single_step"), given["full_trajectory"]
    raise TypeError("the times of inference must be what benchmark_inference() returned, or a TimingResult of whole forecasts, not "
                    f"{type(given).__name__}")


def _save(content: Dict[str, Any], path: Path) -> None:
    _core.file_save(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def quick_benchmark(model_name: str, forecast_fn: Callable[[Any, int], Any], z0: Any, training_time: float, model_params: int,
                    latent_dim: int, n_steps: int = 100, n_trials: int = 50, warmup_trials: int = 5, **kwargs: Any) -> RuntimeProfile:
    """Benchmark a forecast and build its profile."""
    analyzer = RuntimeAnalyzer()
    times = analyzer.benchmark_inference(forecast_fn, z0, n_steps, n_trials, warmup_trials)
    return analyzer.build_profile(model_name, training_time, times, model_params, latent_dim, n_steps, **kwargs)


def _size_of(array: Any) -> int:
    """The number of elements in an array, a tensor or nested sequences."""
    if hasattr(array, "numel"):
        return int(array.numel())
    if hasattr(array, "size") and not callable(array.size):
        return int(array.size)
    if isinstance(array, (list, tuple)):
        return sum(map(_size_of, array))
    if isinstance(array, (int, float)):
        return 1
    raise TypeError(f"this is no array: {type(array).__name__}")


def compute_mvar_params(mvar_model: Dict[str, Any]) -> int:
    """The number of parameters of an MVAR: the elements of its arrays 'A_0' and 'A_j'."""
    missing = [key for key in ("A_0", "A_j") if key not in mvar_model]
    if missing:
        raise ValueError(f"an MVAR is a dictionary with 'A_0' and 'A_j'; this one has no {' and no '.join(map(repr, missing))}")
    return _size_of(mvar_model["A_0"]) + _size_of(mvar_model["A_j"])


def compute_lstm_params(lstm_model: Any) -> int:
    """The number of parameters of a PyTorch model."""
    parameters = getattr(lstm_model, "parameters", None)
    if not callable(parameters):
        raise TypeError(f"compute_lstm_params() counts the parameters of a model of PyTorch, not of {type(lstm_model).__name__}")
    return sum(_size_of(parameter) for parameter in parameters())
