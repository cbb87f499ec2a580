"""Timers for training scripts. They measure calls, print tables, compare times and export them.

    from assay.timing import track_time, print_timing_summary

    timers = {}
    results = track_time(timers, "Model Training", train_function, arg1, arg2)
    print_timing_summary(timers, "My Experiment")

`timers` is a plain dictionary. It maps a name to seconds, or to a dictionary with 'time' and further metrics. Every
function here takes both. A figure that could not be measured is nan, and 'unavailable' beside it says why.
"""
from __future__ import annotations

import collections.abc
import contextvars
import os
from typing import Any, Callable, Dict, Iterable, Optional, TypeVar, Union

from . import _core, _torch
from ._loop import batch_size
from ._model import _call_of

__all__ = ["DetailedTimer", "Seconds", "benchmark_inference", "calculate_convergence_metrics", "calculate_speedup_ratios",
           "enable_memory_tracking", "export_timing_csv", "export_timing_json", "get_gpu_memory_usage",
           "print_inference_benchmark", "print_speedup_analysis", "print_timing_summary", "print_warmup_analysis", "track_time",
           "track_time_and_gpu", "track_time_and_memory", "track_warmup_timing"]

Result = TypeVar("Result")
Timers = Dict[str, Any]
Path = Union[str, "os.PathLike[str]"]


class Seconds(float):
    """A number of seconds. `inside` is the name of the timer within which it was measured, or None."""

    inside: Optional[str] = None


# The timers that are running in this thread or task, outermost first, as (dictionary, name).
_open: contextvars.ContextVar[tuple] = contextvars.ContextVar("assay.timing", default=())


def _track(kind: str, timers: Timers, name: str, func: Callable[..., Result], args: tuple, kwargs: dict,
           add: Callable[[], Optional[dict]] = dict) -> Result:
    if not isinstance(timers, dict):
        raise TypeError(f"timers must be a dictionary, not {type(timers)}")
    if not isinstance(name, str):
        raise TypeError(f"the name of a timer must be a string, not {name!r}")
    if not callable(func):
        raise TypeError(f"the timer {name!r} calls a function, and {func!r} is none: pass the function and its arguments")
    inside = next((outer for around, outer in reversed(_open.get()) if around is timers and outer != name), None)
    token = _open.set((*_open.get(), (timers, name)))
    try:
        result, figures = _core.timed_call(kind, func, args, kwargs)
    finally:
        _open.reset(token)
    figures.update(add() or {})
    if inside is not None:
        figures["inside"] = inside
    _enter(timers, name, figures)
    return result


def _enter(timers: Timers, name: str, figures: dict) -> None:
    if set(figures) <= {"time", "inside"}:
        seconds = Seconds(figures["time"])
        seconds.inside = figures.get("inside")
        timers[name] = seconds
    else:
        timers[name] = figures
    _core.timers_print({name: timers[name]}, "progress", name, 0, None)


def track_time(timers: Timers, name: str, func: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """Call a function, enter its time into the timers, print the time, and return the result of the function.

    If the function raises an exception, nothing is entered. A call within another timed call is entered as part of it: tables
    show it below the outer one, and totals do not count it again.
    """
    return _track("time", timers, name, func, args, kwargs)


def track_time_and_memory(timers: Timers, name: str, func: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """The same as track_time(), with 'peak_memory_mb' and 'current_memory_mb' beside the 'time'.

    The memory is the resident memory of the process. Under `assay run --heap` it is the exact size of the heap, counted from
    enable_memory_tracking() on. MB are 2^20 bytes.
    """
    return _track("memory", timers, name, func, args, kwargs)


def track_time_and_gpu(timers: Timers, name: str, func: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """The same as track_time(), with 'allocated_mb', 'reserved_mb' and 'max_allocated_mb' of PyTorch's allocator on the GPU.

    The time ends when the GPU has finished. Without a GPU the time is still measured.
    """
    gpu = _torch.cuda()
    if gpu is None or not callable(func):
        return _track("gpu", timers, name, func, args, kwargs)

    def waiting(*given: Any, **named: Any) -> Result:
        result = func(*given, **named)
        gpu.synchronize()
        return result
    gpu.synchronize()
    peak = _torch.Peak(gpu)
    return _track("time", timers, name, waiting, args, kwargs, lambda: _torch.gpu_memory(None, peak))


def enable_memory_tracking() -> Optional[str]:
    """Count memory from now on. Returns what is counted: "heap" under `assay run --heap`, otherwise "resident"."""
    return _core.memory_tracking()


def get_gpu_memory_usage() -> Dict[str, Any]:
    """The present 'allocated_mb', 'reserved_mb' and 'max_allocated_mb'. Without a GPU they are nan, with the reason in 'unavailable'."""
    figures = _torch.gpu_memory()
    if figures is not None:
        return figures
    keys = ("allocated_mb", "reserved_mb", "max_allocated_mb")
    reason = "unsupported" if _torch.torch() is not None else "not measured: the program does not use PyTorch"
    return {**dict.fromkeys(keys, float("nan")), "unavailable": dict.fromkeys(keys, reason)}


def print_timing_summary(timers: Timers, section_name: str, num_datasets: int = 1) -> None:
    """Print the TIMING SUMMARY: time and share of the total of every timer."""
    if num_datasets < 1:
        raise ValueError(f"num_datasets must be 1 or more, not {num_datasets}")
    _core.timers_print(timers, "summary", section_name, num_datasets, None)


def calculate_speedup_ratios(timers: Timers, baseline: Optional[str] = None) -> Dict[str, float]:
    """How many times as fast as the baseline each timer is. By default the slowest timer is the baseline."""
    return _core.timers_speedups(timers, baseline)


def print_speedup_analysis(timers: Timers, baseline: Optional[str] = None) -> None:
    """Print the SPEEDUP ANALYSIS against a baseline, which is the slowest timer by default. The fastest timer comes first."""
    _core.timers_print(timers, "speedup", baseline, 0, None)


def export_timing_csv(timers: Timers, path: Path, section_name: Optional[str] = None) -> None:
    """Save a CSV file with the columns Section, Model, Time (s)."""
    _core.timers_export(timers, path, section_name, False)


def export_timing_json(timers: Timers, path: Path, section_name: Optional[str] = None) -> None:
    """Save a JSON file with {"timestamp", "section", "timings"}. Metrics of nested timers are kept."""
    _core.timers_export(timers, path, section_name, True)


class DetailedTimer(_core.PhaseTimer):
    """Times the phases of one job. Starting a phase ends the phase before it. If a phase is started again, its times are added."""


# ---- inference ----------------------------------------------------------------------------------


def _benchmark(model: Any, test_input: Any, num_iterations: int, warmup: int):
    if not callable(model):
        raise TypeError(f"benchmark_inference() calls the model, and {type(model)} cannot be called")
    with _torch.evaluating(model):
        call = _torch.synchronized(_call_of(model, test_input), _torch.device_of(model))
        timing = _core.benchmark(call, None, num_iterations, warmup)
    return timing, batch_size(test_input) or 1


def _inference_figures(timing: Any, samples: int) -> Dict[str, float]:
    seconds = timing.dict()
    return {"mean_ms": 1e3 * seconds["mean_seconds"], "min_ms": 1e3 * seconds["min_seconds"],
            "max_ms": 1e3 * seconds["max_seconds"], "throughput_samples_per_sec": timing.throughput(samples)}


def benchmark_inference(model: Callable[..., Any], test_input: Any, num_iterations: int = 100, warmup: int = 10) -> Dict[str, float]:
    """Time calls of model(test_input): 'mean_ms', 'min_ms', 'max_ms', 'throughput_samples_per_sec'.

    test_input is the argument, or a tuple of arguments, or a dictionary of keywords. Its first dimension is the number of samples. A
    PyTorch model runs in evaluation mode without gradients, and each call ends when the GPU has finished.
    """
    return _inference_figures(*_benchmark(model, test_input, num_iterations, warmup))


def print_inference_benchmark(model: Callable[..., Any], test_input: Any, model_name: str = "Model", num_iterations: int = 100,
                              warmup: int = 10) -> Dict[str, float]:
    """Run benchmark_inference(), print its table, and return its figures."""
    timing, samples = _benchmark(model, test_input, num_iterations, warmup)
    _core.print_inference(timing, samples, model_name, None)
    return _inference_figures(timing, samples)


# ---- trainings ----------------------------------------------------------------------------------

_LOSSES = ("losses", "loss", "train_losses", "train_loss", "loss_history", "mse", "test_mse", "history")
_TIMES = ("epoch_times", "epoch_time", "times", "time", "epoch_seconds", "time_per_epoch")


def _first(mapping: collections.abc.Mapping, keys: Iterable[str]) -> Any:
    return next((mapping[key] for key in keys if key in mapping), None)


def _is_series(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, collections.abc.Mapping))


def calculate_convergence_metrics(results: Any, threshold: float = 0.01) -> Dict[str, Any]:
    """The epoch in which a training first reached a loss at or below the threshold, and the time that this took.

    results: the losses of the epochs; or a dictionary with 'losses' and optionally 'epoch_times'; or a table of pandas with these
    columns, or a list with one dictionary for each epoch, with 'loss' and 'time'; or a dictionary of several trainings, for which a
    dictionary of results is returned.
    Returns 'epochs_to_converge' (from 1), 'time_to_converge', 'converged', 'best_loss', 'best_epoch', 'final_loss',
    'total_time', 'epochs' and 'threshold'. If the threshold was never reached, its epoch and time are nan.
    """
    if hasattr(results, "columns"):
        results = {column: results[column] for column in results.columns}
    if isinstance(results, collections.abc.Mapping):
        losses, times = _first(results, _LOSSES), _first(results, _TIMES)
        if losses is None:
            if not results or not all(isinstance(part, collections.abc.Mapping) or _is_series(part) for part in results.values()):
                raise ValueError(f"these results have no losses; a dictionary needs one of {', '.join(_LOSSES)}")
            return {name: calculate_convergence_metrics(part, threshold) for name, part in results.items()}
        return _convergence(losses, times if _is_series(times) else None, threshold)
    if not _is_series(results):
        raise TypeError(f"results must be losses or a dictionary with losses, not {type(results)}")
    epochs = list(results)
    if epochs and isinstance(epochs[0], collections.abc.Mapping):
        losses, times = [_first(epoch, _LOSSES) for epoch in epochs], [_first(epoch, _TIMES) for epoch in epochs]
        if any(loss is None for loss in losses):
            raise ValueError(f"an epoch of these results has no loss; it needs one of {', '.join(_LOSSES)}")
        return _convergence(losses, None if any(time is None for time in times) else times, threshold)
    return _convergence(epochs, None, threshold)


def _convergence(losses: Iterable[Any], times: Optional[Iterable[Any]], threshold: float) -> Dict[str, Any]:
    figures = _core.convergence(list(losses), None if times is None else list(times), threshold)
    for key in ("epochs_to_converge", "best_epoch"):
        if figures[key] == figures[key]:
            figures[key] = int(figures[key])
    return figures


def track_warmup_timing(total_epochs: int, epoch_times: Iterable[float]) -> Dict[str, Any]:
    """Compare the first epoch with the mean of the others: 'first_epoch_time', 'avg_steady_state_time', 'warmup_overhead',
    'warmup_overhead_pct' (of the steady state)."""
    times = list(epoch_times)
    if total_epochs < len(times):
        raise ValueError(f"there are {len(times)} epoch times, but only {total_epochs} epochs")
    return _core.warmup(times)


def print_warmup_analysis(stats: Dict[str, Any], model_name: str = "Model") -> None:
    """Print the result of track_warmup_timing()."""
    _core.print_warmup(stats, model_name, None)
