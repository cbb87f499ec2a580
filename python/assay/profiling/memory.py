"""The memory that a model and its calls hold. MB are 2^20 bytes.

On a GPU the figures are those of PyTorch's allocator. On the CPU they are the resident memory of the process, and the exact heap
under `assay run --heap`. There is no reserved memory on the CPU, so that figure is nan.
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
    """The reason why a figure is nan."""


def _gpu(device: Any) -> Any:
    """torch.cuda if this device is an existing GPU, or if no device is given and there is a GPU; otherwise None. If a GPU is asked for and does
    not exist, that is an error, because the memory of the process would be another figure."""
    if _torch.cuda() is not None:
        _torch.check_device(device)
    return _torch.cuda_on(device)


_since_reset: Dict[int, Any] = {}     # by the number of the GPU


def reset_memory_stats(device: Any = None) -> None:
    """Reset the peaks to the memory that is in use now. On the CPU this resets the kernel's own peak of the process."""
    gpu = _gpu(device)
    if gpu is not None:
        peak = _torch.Peak(gpu, device)
        _since_reset[peak.index] = peak
    _core.reset_peak()


def get_peak_memory(device: Any = None) -> float:
    """The highest use since the last reset, in MB."""
    gpu = _gpu(device)
    if gpu is None:
        return _core.memory()["peak_rss_bytes"] / _MB
    peak = _since_reset.get(_torch.gpu_index(gpu, device))
    return (peak.read() if peak is not None else gpu.max_memory_allocated(device)) / _MB


def profile_memory_usage(fn: Callable[..., Any], *args: Any, device: Any = None, **kwargs: Any) -> MemoryStats:
    """Reset the peak, call fn(*args, **kwargs), and read the memory."""
    gpu = _gpu(device)
    reset_memory_stats(device)
    peak = _since_reset[_torch.gpu_index(gpu, device)] if gpu is not None else None
    fn(*args, **kwargs)
    if gpu is not None:
        gpu.synchronize(device)
        figures = _torch.gpu_memory(device, peak) or {}
        return MemoryStats(figures["max_allocated_mb"], figures["allocated_mb"], figures["reserved_mb"], str(device or "cuda"))
    memory = _core.memory()
    return MemoryStats(memory["peak_rss_bytes"] / _MB, memory.get("heap_bytes", memory["rss_bytes"]) / _MB, _NAN, "cpu",
                       {"reserved_mb": "unsupported", **{f"{key[:-6]}_mb": why for key, why in memory.get("unavailable", {}).items()}})


def _tensor_bytes(tensor: Any) -> int:
    return tensor.numel() * tensor.element_size()


def _activation_bytes(model: Any, batch: Any) -> int:
    """Bytes of the tensors that a forward pass keeps for the backward pass, without parameters and buffers. Each tensor counts once."""
    torch = _torch.torch()
    own = {tensor.data_ptr() for tensor in [*model.parameters(), *model.buffers()]}
    seen: Dict[int, int] = {}

    def keep(tensor: Any) -> Any:
        if tensor.data_ptr() not in own:
            seen[tensor.data_ptr()] = max(_tensor_bytes(tensor), seen.get(tensor.data_ptr(), 0))
        return tensor
    call, _ = split(model, batch)
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = call()     # kept alive until all tensors are counted, so that no address is used twice
        total = sum(seen.values())
    del output
    return total


def get_memory_breakdown(model: Any, batch: Any, device: Any = None) -> Dict[str, float]:
    """MB of a PyTorch model by use: 'parameters', 'buffers', 'gradients' (their size once they exist), 'forward_activations' (the tensors
    that a forward pass keeps for the backward pass), 'total'."""
    need_torch("get_memory_breakdown()")
    if not _torch.is_module(model):
        raise TypeError(f"get_memory_breakdown() needs a torch.nn.Module, not {type(model)}")
    model, batch = moved(model, device), moved(batch, device)
    sizes = {"parameters": sum(map(_tensor_bytes, model.parameters())), "buffers": sum(map(_tensor_bytes, model.buffers())),
             "gradients": sum(_tensor_bytes(parameter) for parameter in model.parameters() if parameter.requires_grad),
             "forward_activations": _activation_bytes(model, batch)}
    return {**{use: size / _MB for use, size in sizes.items()}, "total": sum(sizes.values()) / _MB}


class MemoryProfiler:
    """Measures the memory of the passes of a model on a device."""

    def __init__(self, model: Callable[..., Any], device: Any = None):
        self.model = moved(model, device)
        self.device = device

    def profile_forward(self, batch: Any) -> MemoryStats:
        """The memory of a forward pass, including the tensors that it keeps for the backward pass."""
        call, _ = split(self.model, moved(batch, self.device))
        return profile_memory_usage(call, device=self.device)


def estimate_attention_memory(num_nodes: int, num_heads: int, hidden_dim: int, batch_size: int = 1) -> float:
    """MB that plain attention keeps: its matrices, and queries, keys, values and output, all as float32."""
    for size in (num_nodes, num_heads, hidden_dim, batch_size):
        if size < 0:
            raise ValueError(f"sizes must not be negative: {size}")
    return _core.attention_memory(num_nodes, num_heads, hidden_dim, batch_size) / _MB


def estimate_pe_storage(num_nodes: int, node_pe_dim: int, relative_pe_buckets: int = 0, sparse_ratio: float = 1.0) -> Dict[str, float]:
    """MB of positional encodings as float32: 'node_pe', 'relative_pe_dense', and 'relative_pe_sparse', which has the share `sparse_ratio`
    of the pairs of nodes and two indices of 32 bits for each pair."""
    if min(num_nodes, node_pe_dim, relative_pe_buckets) < 0 or not 0 <= sparse_ratio <= 1:
        raise ValueError("sizes must not be negative, and sparse_ratio must be from 0 to 1")
    sizes = _core.pe_storage(num_nodes, node_pe_dim, relative_pe_buckets, sparse_ratio)
    return {name: size / _MB for name, size in zip(("node_pe", "relative_pe_dense", "relative_pe_sparse"), sizes)}
