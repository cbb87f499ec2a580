"""Time and memory of operations and of training loops.

    from assay.memory_monitor import PerformanceMonitor

    monitor = PerformanceMonitor()
    with monitor.track("data loading"):
        data = load_large_dataset()
    monitor.print_summary()

CPU memory is the resident memory of the process. GPU memory is the memory of PyTorch's allocator, if there is a GPU. With a
GPU, a block ends when the GPU has finished. MB are 2^20 bytes. A figure that could not be measured is nan, and is shown as n/a.
"""
from __future__ import annotations

import dataclasses
import functools
import inspect
import threading
from typing import Any, Callable, Dict, List, Optional, TypeVar

from . import _core, _torch
from ._monitor import Monitor, Record

__all__ = ["EpochPerformanceMonitor", "PerformanceMetrics", "PerformanceMonitor", "monitor_performance", "track_performance"]

_NAN = float("nan")
_MB = _torch.MB
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclasses.dataclass
class PerformanceMetrics:
    """The figures of one block. For blocks that were tracked with aggregate=True, the figures of all blocks of one name together."""

    operation: str
    duration_seconds: float = _NAN
    cpu_delta_mb: float = _NAN
    gpu_delta_mb: float = _NAN
    gpu_peak_mb: float = _NAN
    count: int = 1
    unavailable: Dict[str, str] = dataclasses.field(default_factory=dict)
    """The reason why a figure is nan."""


class _Gpu:
    """Measures the memory of a GPU over one block. Without a GPU it does nothing."""

    def __init__(self, device: Any):
        self._cuda = _torch.cuda_on(device)
        self._device = device
        if self._cuda is not None:
            self._cuda.synchronize(device)
            self._peak = _torch.Peak(self._cuda, device)
            self._before = self._cuda.memory_allocated(device)

    def end(self) -> Optional[tuple]:
        """(delta, peak) in bytes."""
        if self._cuda is None:
            return None
        return self._cuda.memory_allocated(self._device) - self._before, self._peak.end()

    def wait(self) -> None:
        if self._cuda is not None:
            self._cuda.synchronize(self._device)


class _GpuSpan:
    """A span that also measures the memory of the GPU."""

    def __init__(self, monitor: "PerformanceMonitor", span: Any, keeps: bool):
        self._monitor, self._span, self._keeps = monitor, span, keeps

    def __enter__(self) -> Any:
        self._gpu = _Gpu(self._monitor.device)
        return self._span.__enter__()

    def __exit__(self, *error: Any) -> None:
        try:
            self._gpu.wait()
        finally:
            self._span.__exit__(*error)
        figures = self._gpu.end()
        if self._keeps:
            self._monitor._keep(self._span.name, figures)


class PerformanceMonitor:
    """Measures blocks of code, one by one or together under one name."""

    def __init__(self, enabled: bool = True, device: Any = 0):
        self.enabled = enabled
        self.device = device
        self.monitor = Monitor(enabled=enabled)
        self._aggregated: set = set()
        self._gpu: Dict[str, list] = {}
        self._lock = threading.Lock()

    def track(self, name: str, aggregate: bool = False) -> Any:
        """Measure a block: `with monitor.track("forward"):`. With `aggregate`, all blocks of one name share one figure, and a block
        costs well below a microsecond. Without it, each block is recorded with its memory."""
        span = self.monitor.track(name) if aggregate else self.monitor.metric(name)
        if aggregate:
            self._aggregated.add(name)
        return span if not self.enabled or _torch.cuda_on(self.device) is None else _GpuSpan(self, span, not aggregate)

    def _keep(self, name: str, figures: Optional[tuple]) -> None:
        with self._lock:
            self._gpu.setdefault(name, []).append(figures)

    def record(self) -> Record:
        """Everything measured so far."""
        record = self.monitor.record()
        if not self._gpu:
            return record
        changed = record.to_dict()
        with self._lock:
            left = {name: iter(list(figures)) for name, figures in self._gpu.items()}
        for metric in changed["metrics"]:
            figures = next(left.get(metric["operation"], iter(())), None)
            if figures is not None:
                metric["gpu_delta_bytes"], metric["gpu_peak_bytes"] = figures
        return Record.from_dict(changed)

    def print_summary(self, show_aggregate: bool = True) -> None:
        """Print the PERFORMANCE SUMMARY and, if blocks were tracked with aggregate=True, the AGGREGATE STATISTICS."""
        aggregate = show_aggregate and bool(self._aggregated)
        if not self._gpu:
            self.monitor.print_summary(aggregate)
            return
        record = self.record()
        print(record.text("performance"), end="")
        if aggregate:
            print("\n" + record.text("aggregate"), end="")

    def _repr_html_(self) -> str:
        return self.record()._repr_html_()

    def get_total_time(self) -> float:
        """Seconds of all blocks together. The time of a block within another block counts once. nan if the monitor is disabled."""
        return _or_nan(self.monitor.total_seconds())

    def get_operation_time(self, name: str) -> float:
        """Seconds of all blocks of this name; nan if there are none."""
        return _or_nan(self.monitor.operation_seconds(name))

    def get_metrics(self) -> List[PerformanceMetrics]:
        """The single blocks in the order in which they ended, then one entry for each name that was tracked with aggregate=True."""
        record = self.record().to_dict()
        metrics = [_metric(metric) for metric in record["metrics"]]
        metrics += [PerformanceMetrics(name, self.get_operation_time(name), count=count,
                                       unavailable=dict.fromkeys(("cpu_delta_mb", "gpu_delta_mb", "gpu_peak_mb"), "not measured"))
                    for name, count in self._aggregate_counts(record).items()]
        return metrics

    def _aggregate_counts(self, record: dict) -> Dict[str, int]:
        single: Dict[str, int] = {}
        counts: Dict[str, int] = {}
        for metric in record["metrics"]:
            single[metric["operation"]] = single.get(metric["operation"], 0) + 1
        for operation in record["operations"]:
            if operation["name"] in self._aggregated:
                counts[operation["name"]] = counts.get(operation["name"], 0) + operation["count"]
        return {name: count for name, count in counts.items() if count > single.get(name, 0)}

    def clear(self) -> None:
        """Forget all figures."""
        self.monitor.clear()
        self._aggregated.clear()
        self._gpu.clear()


def _or_nan(value: Optional[float]) -> float:
    return _NAN if value is None else value


def _metric(metric: dict) -> PerformanceMetrics:
    figures, reasons = {}, {}
    for key in ("cpu_delta", "gpu_delta", "gpu_peak"):
        value = metric.get(f"{key}_bytes")
        if value is None:
            reasons[f"{key}_mb"] = metric.get("unavailable", {}).get(f"{key}_bytes", "unsupported")
        else:
            figures[f"{key}_mb"] = value / _MB
    return PerformanceMetrics(metric["operation"], metric["duration_seconds"], **figures, unavailable=reasons)


class track_performance:
    """Measure one block, and print its figures in one line after it:

        with track_performance("critical_operation"):
            result = expensive_function()

    `as metrics` gives a PerformanceMetrics, which has its figures after the block has ended. For blocks that run often, use a
    PerformanceMonitor, which costs a hundredth of this.
    """

    def __init__(self, name: str, print_result: bool = True, device: Any = 0):
        if not isinstance(name, str):
            raise TypeError(f"the name of a block must be a string, not {name!r}")
        self.metrics = PerformanceMetrics(name)
        self._print = print_result
        self._device = device

    def __enter__(self) -> PerformanceMetrics:
        self._gpu = _Gpu(self._device)
        self._begun = _core.performance_begin()
        return self.metrics

    def __exit__(self, *error: Any) -> None:
        self._gpu.wait()
        figures = _core.performance_end(self._begun)
        gpu = self._gpu.end()
        metrics = self.metrics
        metrics.duration_seconds, metrics.cpu_delta_mb = figures["duration_seconds"], figures["cpu_delta_mb"]
        metrics.unavailable = figures.get("unavailable", {})
        if gpu is not None:
            metrics.gpu_delta_mb, metrics.gpu_peak_mb = gpu[0] / _MB, gpu[1] / _MB
        else:
            reason = "unsupported" if _torch.cuda() is None else _torch.why_not(self._device) or "not measured: the device is no GPU"
            metrics.unavailable.update(gpu_delta_mb=reason, gpu_peak_mb=reason)
        if self._print:
            _core.print_performance(metrics.operation, metrics.duration_seconds, metrics.cpu_delta_mb, metrics.gpu_delta_mb,
                                    metrics.gpu_peak_mb, None)


def monitor_performance(name: str, device: Any = 0) -> Callable[[_Function], _Function]:
    """Decorate a function so that every call is measured and its figures are printed in one line after it."""
    if callable(name):
        raise TypeError('monitor_performance() needs a name: @monitor_performance("data processing")')

    def decorate(function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def measured(*args: Any, **kwargs: Any) -> Any:
                with track_performance(name, device=device):
                    return await function(*args, **kwargs)
        else:
            @functools.wraps(function)
            def measured(*args: Any, **kwargs: Any) -> Any:
                with track_performance(name, device=device):
                    return function(*args, **kwargs)
        return measured  # type: ignore[return-value]
    return decorate


class EpochPerformanceMonitor:
    """Measures the epochs and batches of a training loop. It prints a line for the first `verbose_batches` batches of each epoch, and
    for each epoch. If a loop leaves out a start or an end, a warning is given, and that epoch or batch does not count."""

    def __init__(self, enabled: bool = True, verbose_batches: int = 5, device: Any = 0):
        self.enabled = enabled
        self.device = device
        self._gpu = _torch.cuda_on(device) if enabled else None
        self._peak: Optional[_torch.Peak] = None
        self._core = _core.EpochMonitor(enabled, verbose_batches, None if self._gpu is None else lambda: _torch.gpu_memory(device, self._peak))

    def on_epoch_start(self) -> None:
        """Call this when an epoch begins."""
        if self._gpu is not None:
            self._gpu.synchronize(self.device)
            self._peak = _torch.Peak(self._gpu, self.device)
        self._core.on_epoch_start()

    def on_batch_start(self, batch_idx: int) -> None:
        """Call this when a batch begins. Batches of an epoch are counted from 0."""
        self._core.on_batch_start(batch_idx)

    def on_batch_end(self, batch_idx: int, loss: Any = None) -> None:
        """Call this when a batch ends. It waits for the GPU, so that its work counts too. loss: a number, a tensor with one number, or None."""
        if self._gpu is not None:
            self._gpu.synchronize(self.device)
        if loss is None or not self.enabled:
            self._core.on_batch_end(batch_idx)
            return
        try:
            value = float(loss.item() if hasattr(loss, "item") else loss)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"loss must be one number, not {type(loss).__name__} ({error})") from None
        self._core.on_batch_end(batch_idx, value)

    def on_epoch_end(self) -> None:
        """Call this when an epoch ends."""
        self._core.on_epoch_end()

    def get_statistics(self) -> Dict[str, Any]:
        """'total_epoch_time', 'avg_epoch_time', 'total_batch_time', 'avg_batch_time', 'min_batch_time', 'max_batch_time' in seconds,
        'num_batches' and 'num_epochs'. Averages and extremes are nan before the first batch or epoch has ended."""
        return self._core.get_statistics()
