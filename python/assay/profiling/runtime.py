"""Times functions and the passes of a model. Times are in milliseconds. Each time ends when the GPU has finished."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, Optional

from .. import _core, _torch
from .utils import loss_of, moved, need_torch, split

__all__ = ["RuntimeProfiler", "RuntimeStats", "benchmark_function", "profile_backward", "profile_forward", "profile_pe_computation",
           "profile_training_step"]


def _text(milliseconds: float) -> str:
    """The number with two decimals, or with two significant digits if it would be shown as 0.00."""
    return f"{milliseconds:.2g}" if 0 < milliseconds < 0.01 else f"{milliseconds:.2f}"


@dataclasses.dataclass
class RuntimeStats:
    """The times of single runs in milliseconds. `low` and `high` are the 95 % interval of the mean."""

    mean: float
    std: float
    min: float
    max: float
    num_runs: int
    low: float = float("nan")
    high: float = float("nan")

    def __str__(self) -> str:
        return (f"{_text(self.mean)} ± {_text(self.std)} ms (min {_text(self.min)}, max {_text(self.max)}, "
                f"{self.num_runs} runs)")

    def to_dict(self) -> Dict[str, Any]:
        """The figures as in the JSON of a profile. A figure that is not known is None."""
        figures = {name: value if value == value else None for name, value in dataclasses.asdict(self).items()}
        return {**figures, "unit": "ms"}

    @classmethod
    def of(cls, timing: Any) -> "RuntimeStats":
        """The figures of a Timing of the extension module."""
        figures = timing.dict()
        return cls(*(1e3 * figures[f"{name}_seconds"] for name in ("mean", "std", "min", "max")), figures["count"],
                   1e3 * figures["low_seconds"], 1e3 * figures["high_seconds"])


def _measure(call: Callable[[], Any], num_runs: int, warmup_runs: int, set_up: Optional[Callable[[], Any]] = None,
             device: Any = None) -> RuntimeStats:
    """Time a call. `device` is the GPU to wait for; None means the current one."""
    if set_up is not None:
        set_up = _torch.synchronized(set_up, device)
    _torch.synchronize(device)
    return RuntimeStats.of(_core.benchmark(_torch.synchronized(call, device), set_up, num_runs, warmup_runs))


def benchmark_function(fn: Callable[..., Any], *args: Any, num_runs: int = 100, warmup_runs: int = 10, **kwargs: Any) -> RuntimeStats:
    """Time single calls of fn(*args, **kwargs), after `warmup_runs` calls that do not count."""
    if not callable(fn):
        raise TypeError(f"benchmark_function() calls a function, not {fn!r}")
    return _measure((lambda: fn(*args, **kwargs)) if args or kwargs else fn, num_runs, warmup_runs)


def _check(model: Any) -> None:
    if not callable(model):
        raise TypeError(f"the model is called, and {type(model)} cannot be called")


def profile_forward(model: Callable[..., Any], batch: Any, num_runs: int = 100, warmup_runs: int = 10) -> RuntimeStats:
    """Time forward passes without gradients, in the present mode of the model. A batch is the argument, or a tuple of arguments, or a
    dictionary of keywords."""
    _check(model)
    call, _ = split(model, batch)
    torch = _torch.torch()
    if torch is None:
        return _measure(call, num_runs, warmup_runs)
    with torch.no_grad():
        return _measure(call, num_runs, warmup_runs, device=_torch.device_of(model))


def profile_backward(model: Callable[..., Any], batch: Any, loss_fn: Optional[Callable[..., Any]] = None, num_runs: int = 100,
                     warmup_runs: int = 10) -> RuntimeStats:
    """Time backward passes alone. The forward pass before each of them is not timed. The gradients are restored afterwards.

    loss_fn(output, target) gets the target of the batch, or zeros if the batch has none. By default the loss is the sum of all outputs.
    """
    _check(model)
    need_torch("profile_backward()")
    call, target = split(model, batch)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad] if hasattr(model, "parameters") else []
    kept = [parameter.grad for parameter in parameters]
    losses: list = []

    def forward() -> None:
        for parameter in parameters:
            parameter.grad = None
        losses[:] = [loss_of(loss_fn, call(), target)]
    try:
        return _measure(lambda: losses[0].backward(), num_runs, warmup_runs, forward, _torch.device_of(model))
    finally:
        for parameter, gradient in zip(parameters, kept):
            parameter.grad = gradient


def profile_training_step(model: Callable[..., Any], batch: Any, optimizer: Any, loss_fn: Optional[Callable[..., Any]] = None,
                          num_runs: int = 100, warmup_runs: int = 10) -> RuntimeStats:
    """Time training steps: set the gradients to zero, forward, backward, update. The parameters change, as in any training."""
    _check(model)
    call, target = split(model, batch)

    def step() -> None:
        optimizer.zero_grad()
        loss_of(loss_fn, call(), target).backward()
        optimizer.step()
    return _measure(step, num_runs, warmup_runs, device=_torch.device_of(model))


def profile_pe_computation(pe_transform: Callable[[Any], Any], data: Any, num_runs: int = 10, warmup_runs: int = 2) -> RuntimeStats:
    """Time the computation of positional encodings: pe_transform(data), from scratch each time."""
    return benchmark_function(pe_transform, data, num_runs=num_runs, warmup_runs=warmup_runs)


class RuntimeProfiler:
    """Times all passes of a model on a device."""

    def __init__(self, model: Callable[..., Any], device: Any = None, num_runs: int = 100, warmup_runs: int = 10):
        self.model = moved(model, device)
        self.device = device
        self.num_runs, self.warmup_runs = num_runs, warmup_runs

    def profile_all(self, batch: Any, optimizer: Any = None, loss_fn: Optional[Callable[..., Any]] = None) -> Dict[str, RuntimeStats]:
        """Time 'forward'; for a PyTorch model with parameters to learn also 'backward'; with an optimizer also 'training_step'."""
        batch = moved(batch, self.device)
        runs = {"num_runs": self.num_runs, "warmup_runs": self.warmup_runs}
        results = {"forward": profile_forward(self.model, batch, **runs)}
        if _torch.is_module(self.model) and any(parameter.requires_grad for parameter in self.model.parameters()):
            results["backward"] = profile_backward(self.model, batch, loss_fn, **runs)
        if optimizer is not None:
            results["training_step"] = profile_training_step(self.model, batch, optimizer, loss_fn, **runs)
        return results
