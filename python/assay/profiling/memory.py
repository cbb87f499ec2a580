"""What memory a model and its calls hold. MB are 2^20 bytes.

On a GPU the figures are those of PyTorch's allocator. On the CPU they are the resident memory of the process, and the exact
heap under `assay run --heap`; nothing is reserved there, so that figure is nan.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict

from .. import _core, _torch
from .utils import moved, need_torch, split

__all__ = ["MemoryProfiler", "MemoryStats", "estimate_attention_memory", "estimate_pe_storage", "get_memory_breakdown", "get_peak_memory",
           "profile_memory_usage", "reset_memory_stats"]

_NAN = float("nan")
_MB = _torch.MB


@dataclasses.dataclass
class MemoryStats:
    """The memory during and after a call."""

    peak_mb: float
    allocated_mb: float
    reserved_mb: float
    device: str
    unavailable: Dict[str, str] = dataclasses.field(default_factory=dict)
    """Why a figure is nan."""


def _gpu(device: Any) -> Any:
    """torch.cuda if this device is a GPU that is there. Without a device: if there is one. A GPU that was asked for and is not there
    is an error: the memory of the process is another thing."""
    if _torch.cuda() is not None:
        _torch.check_device(device)
    return _torch.cuda_on(device)


def reset_memory_stats(device: Any = None) -> None:
    """Restart peaks from what is in use now. On the CPU this restarts the kernel's own figure of the process."""
    gpu = _gpu(device)
    if gpu is not None:
        gpu.reset_peak_memory_stats(device)
    _core.reset_peak()


def get_peak_memory(device: Any = None) -> float:
    """The highest use since the last reset, in MB."""
    gpu = _gpu(device)
    return (gpu.max_memory_allocated(device) if gpu is not None else _core.memory()["peak_rss_bytes"]) / _MB


def profile_memory_usage(fn: Callable[..., Any], *args: Any, device: Any = None, **kwargs: Any) -> MemoryStats:
    """Reset the peak, call fn(*args, **kwargs), and read the memory."""
    gpu = _gpu(device)
    reset_memory_stats(device)
    fn(*args, **kwargs)
    if gpu is not None:
        gpu.synchronize(device)
        figures = _torch.gpu_memory(device) or {}
        return MemoryStats(figures["max_allocated_mb"], figures["allocated_mb"], figures["reserved_mb"], str(device or "cuda"))
    memory = _core.memory()
    return MemoryStats(memory["peak_rss_bytes"] / _MB, memory.get("heap_bytes", memory["rss_bytes"]) / _MB, _NAN, "cpu",
                       {"reserved_mb": "unsupported", **{f"{key[:-6]}_mb": why for key, why in memory.get("unavailable", {}).items()}})


def _tensor_bytes(tensor: Any) -> int:
    return tensor.numel() * tensor.element_size()


def _activation_bytes(model: Any, batch: Any) -> int:
    """Bytes of the tensors that a forward pass keeps for the backward pass, each one once, parameters and inputs aside."""
    torch = _torch.torch()
    own = {tensor.data_ptr() for tensor in [*model.parameters(), *model.buffers()]}
    seen: Dict[int, int] = {}

    def keep(tensor: Any) -> Any:
        if tensor.data_ptr() not in own:
            seen[tensor.data_ptr()] = max(_tensor_bytes(tensor), seen.get(tensor.data_ptr(), 0))
        return tensor
    call, _ = split(model, batch)
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = call()     # alive until all are counted, so that no address is used twice
        total = sum(seen.values())
    del output
    return total


def get_memory_breakdown(model: Any, batch: Any, device: Any = None) -> Dict[str, float]:
    """MB of a model of PyTorch by use: 'parameters', 'buffers', 'gradients' (once there are some), 'forward_activations' (what a
    forward pass keeps for the backward pass), 'total'."""
    need_torch("get_memory_breakdown()")
    if not _torch.is_module(model):
        raise TypeError(f"get_memory_breakdown() needs a torch.nn.Module, not {type(model)}")
    model, batch = moved(model, device), moved(batch, device)
    sizes = {"parameters": sum(map(_tensor_bytes, model.parameters())), "buffers": sum(map(_tensor_bytes, model.buffers())),
             "gradients": sum(_tensor_bytes(parameter) for parameter in model.parameters() if parameter.requires_grad),
             "forward_activations": _activation_bytes(model, batch)}
    return {**{use: size / _MB for use, size in sizes.items()}, "total": sum(sizes.values()) / _MB}


class MemoryProfiler:
    """The memory of a model's passes on a device."""

    def __init__(self, model: Callable[..., Any], device: Any = None):
        self.model = moved(model, device)
        self.device = device

    def profile_forward(self, batch: Any) -> MemoryStats:
        """The memory of a forward pass, with what it keeps for the backward pass."""
        call, _ = split(self.model, moved(batch, self.device))
        return profile_memory_usage(call, device=self.device)


def estimate_attention_memory(num_nodes: int, num_heads: int, hidden_dim: int, batch_size: int = 1) -> float:
    """MB that attention keeps if it is computed plainly: its matrices, and queries, keys, values and output, float32."""
    for size in (num_nodes, num_heads, hidden_dim, batch_size):
        if size < 0:
            raise ValueError(f"sizes must not be negative: {size}")
    return _core.attention_memory(num_nodes, num_heads, hidden_dim, batch_size) / _MB


def estimate_pe_storage(num_nodes: int, node_pe_dim: int, relative_pe_buckets: int = 0, sparse_ratio: float = 1.0) -> Dict[str, float]:
    """MB of positional encodings, float32: 'node_pe', 'relative_pe_dense', and 'relative_pe_sparse' for the share `sparse_ratio` of
    the pairs of nodes, with two indices of 32 bits each."""
    if min(num_nodes, node_pe_dim, relative_pe_buckets) < 0 or not 0 <= sparse_ratio <= 1:
        raise ValueError("sizes must not be negative, and sparse_ratio must be from 0 to 1")
    sizes = _core.pe_storage(num_nodes, node_pe_dim, relative_pe_buckets, sparse_ratio)
    return {name: size / _MB for name, size in zip(("node_pe", "relative_pe_dense", "relative_pe_sparse"), sizes)}
