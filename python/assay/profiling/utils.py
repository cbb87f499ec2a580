"""Helpers for profiling: seeds, the modes of a model, and calls of a model with a batch."""
from __future__ import annotations

import inspect
import random
import sys
from typing import Any, Callable, Optional, Tuple

from .. import _torch
from .._model import _call_of, _sum_of

__all__ = ["ProfilingContext", "set_seed"]


def set_seed(seed: int = 42) -> None:
    """Seed the random numbers of Python, and of NumPy and PyTorch if the program uses them."""
    random.seed(seed)
    numpy, torch = sys.modules.get("numpy"), _torch.torch()
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    if torch is not None:
        torch.manual_seed(seed)


class ProfilingContext:
    """Switches dropout off, sets evaluation mode and a seed. After the block, modes and dropouts are restored:

        with ProfilingContext(model, disable_dropout=True, eval_mode=True, seed=42):
            stats = profile_forward(model, batch)

    seed=None does not touch the random numbers. The state of the generators is not restored.
    """

    def __init__(self, model: Any, disable_dropout: bool = True, eval_mode: bool = True, seed: Optional[int] = 42):
        self.model = model
        self.disable_dropout, self.eval_mode, self.seed = disable_dropout, eval_mode, seed
        self._kept: list = []

    def __enter__(self) -> Any:
        if self.seed is not None:
            set_seed(self.seed)
        if _torch.is_module(self.model):
            parts = list(self.model.modules())
            self._kept = [(part, part.training, getattr(part, "p", None)) for part in parts]
            if self.eval_mode:
                self.model.eval()
            for part in parts:
                if self.disable_dropout and _is_dropout(part):
                    part.p = 0.0
        return self.model

    def __exit__(self, *error: Any) -> None:
        for part, training, probability in self._kept:
            part.training = training
            if _is_dropout(part):
                part.p = probability
        self._kept = []


def _is_dropout(part: Any) -> bool:
    return isinstance(part, _torch.torch().nn.modules.dropout._DropoutNd)


# ---- models and batches ---------------------------------------------------------------------------


def moved(thing: Any, device: Any) -> Any:
    """Move a model, a tensor or other object to a device, if it can be moved; also within tuples, lists and dictionaries."""
    if device is None:
        return thing
    if _torch.torch() is not None:
        _torch.check_device(device)
    if isinstance(thing, (list, tuple)):
        return type(thing)(moved(part, device) for part in thing)
    if isinstance(thing, dict):
        return {key: moved(part, device) for key, part in thing.items()}
    return thing.to(device) if callable(getattr(thing, "to", None)) else thing


def _takes(function: Any, count: int) -> bool:
    """Whether a function can be called with this number of arguments. False if that is not known."""
    try:
        inspect.signature(getattr(function, "forward", function)).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


def split(model: Any, batch: Any) -> Tuple[Callable[[], Any], Any]:
    """The call of a model on a batch, and the target in the batch, or None.

    A batch is the argument, or a tuple or list of arguments, or a dictionary of keywords. The target is the attribute `y` of the
    batch, or one of the keys y, target, targets, label and labels of a dictionary, or the last argument of a tuple if the model
    takes one argument less.
    """
    if isinstance(batch, list):
        batch = tuple(batch)
    if isinstance(batch, tuple):
        if len(batch) > 1 and not _takes(model, len(batch)) and _takes(model, len(batch) - 1):
            return _call_of(model, batch[:-1]), batch[-1]
        return _call_of(model, batch), None
    if isinstance(batch, dict):
        inputs = {key: value for key, value in batch.items() if key not in ("y", "target", "targets", "label", "labels")}
        left = [value for key, value in batch.items() if key not in inputs]
        return _call_of(model, inputs), left[0] if left else None
    return _call_of(model, batch), getattr(batch, "y", None)


def loss_of(loss_fn: Optional[Callable[..., Any]], output: Any, target: Any) -> Any:
    """The loss of an output. Without a target, the target is zeros. Without a loss function, the loss is the sum of all outputs."""
    if loss_fn is None:
        loss = _sum_of(output)
        if loss is None:
            raise ValueError("the model returned no tensor that depends on its parameters; give a loss_fn")
        return loss
    if target is None and _takes(loss_fn, 1) and not _takes(loss_fn, 2):
        return loss_fn(output)
    return loss_fn(output, _torch.torch().zeros_like(output) if target is None else target)


def need_torch(what: str) -> Any:
    """The module torch. If the program has not imported it, raise a RuntimeError that names the function `what` that needs it."""
    torch = _torch.torch()
    if torch is None:
        raise RuntimeError(f"{what} needs a model of PyTorch, and this program has not imported torch")
    return torch
