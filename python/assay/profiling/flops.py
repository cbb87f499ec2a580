"""Estimates the FLOPs of a model from its sizes alone.

A product of an m x k and a k x n matrix counts as 2 m k n FLOPs. Every other operation has a stated price (docs/flops.md of assay).
"""
from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional

from .. import _core, _torch

__all__ = ["FLOPsEstimate", "FLOPsEstimator", "estimate_attention_flops", "estimate_ffn_flops", "estimate_linear_flops",
           "estimate_model_flops", "estimate_mpnn_flops", "estimate_pe_flops"]


@dataclasses.dataclass
class FLOPsEstimate:
    """The FLOPs of one forward pass, and of its components."""

    total: int
    breakdown: Dict[str, int]
    not_counted: List[str] = dataclasses.field(default_factory=list)
    """Kinds of modules whose arithmetic is not known."""


def estimate_linear_flops(in_features: int, out_features: int, batch_size: int = 1, seq_len: int = 1) -> int:
    """FLOPs of a linear layer with its bias."""
    return _core.linear_flops(in_features, out_features, batch_size, seq_len)


def estimate_attention_flops(num_nodes: int, hidden_dim: int, num_heads: int, sparse_ratio: float = 1.0) -> int:
    """FLOPs of one layer of multi-head attention. `sparse_ratio` is the share of the pairs of nodes that attend to each other."""
    return _core.attention_flops(num_nodes, hidden_dim, num_heads, sparse_ratio)


def estimate_mpnn_flops(num_nodes: int, num_edges: int, in_features: int, out_features: int, mpnn_type: str = "gin") -> int:
    """FLOPs of one layer of message passing of the type "gin", "gcn" or "gatedgcn"."""
    return _core.mpnn_flops(num_nodes, num_edges, in_features, out_features, mpnn_type)


def estimate_ffn_flops(hidden_dim: int, ffn_dim: int, num_nodes: int) -> int:
    """FLOPs of two linear layers with GELU between them."""
    return _core.ffn_flops(hidden_dim, ffn_dim, num_nodes)


def estimate_pe_flops(num_nodes: int, pe_dim: int, pe_type: str = "lap") -> int:
    """FLOPs of positional encodings, by dense methods: "lap" (eigenvectors of the Laplacian), "rwse" (random walks) or "none"."""
    return _core.pe_flops(num_nodes, pe_dim, pe_type)


def estimate_model_flops(num_nodes: int, num_edges: int, hidden_dim: int, num_layers: int, num_heads: int, ffn_dim: int,
                         sparse_ratio: float = 1.0, mpnn_type: str = "gin") -> FLOPsEstimate:
    """FLOPs of a graph transformer. Each layer has message passing, attention, a feed-forward network and norms."""
    return FLOPsEstimate(*_core.model_flops(num_nodes, num_edges, hidden_dim, num_layers, num_heads, ffn_dim, sparse_ratio, mpnn_type))


class FLOPsEstimator:
    """Estimates the FLOPs of a model. If the model has the attributes hidden_dim, num_layers and num_heads, as graph transformers have, they are
    estimated from these sizes; ffn_dim is 2 x hidden_dim unless the model has that attribute. Otherwise the model must be a PyTorch module, and
    its parts are added up."""

    def __init__(self, model: Any):
        self.model = model

    def estimate(self, num_nodes: int, num_edges: int) -> FLOPsEstimate:
        """FLOPs of a forward pass over a graph of this size."""
        hidden, layers, heads = (self._size(name) for name in ("hidden_dim", "num_layers", "num_heads"))
        if hidden and layers and heads:
            return estimate_model_flops(num_nodes, num_edges, hidden, layers, heads, self._size("ffn_dim") or 2 * hidden)
        if not _torch.is_module(self.model):
            raise TypeError(f"{type(self.model)} has no attributes hidden_dim, num_layers and num_heads, and is no model of PyTorch")
        return self._walk(num_nodes)

    def count_parameters(self) -> int:
        """The number of parameters of the model."""
        parameters = getattr(self.model, "parameters", None)
        if not callable(parameters):
            raise TypeError(f"{type(self.model)} has no parameters()")
        return sum(parameter.numel() for parameter in parameters())

    def _size(self, name: str) -> Optional[int]:
        for place in (self.model, getattr(self.model, "config", None), getattr(self.model, "hparams", None)):
            value = place.get(name) if isinstance(place, dict) else getattr(place, name, None)
            if isinstance(value, int) and value > 0:
                return value
        return None

    def _walk(self, rows: int) -> FLOPsEstimate:
        """Add up the FLOPs of every module once, each over as many rows as there are nodes."""
        breakdown: Dict[str, int] = {}
        unknown: List[str] = []
        within: set = set()
        for part in self.model.modules():
            if part in within:
                continue
            name = type(part).__name__
            flops = _module_flops(part, rows)
            if flops is not None:
                within.update(part.modules())
                breakdown[name] = breakdown.get(name, 0) + flops
            elif next(part.children(), None) is None and next(part.parameters(), None) is not None and name not in unknown:
                unknown.append(name)
        return FLOPsEstimate(sum(breakdown.values()), breakdown, unknown)


def _module_flops(part: Any, rows: int) -> Optional[int]:
    """FLOPs of a module over this number of rows. None if it consists of other modules, or if its kind is not known."""
    nn = _torch.torch().nn
    if isinstance(part, nn.MultiheadAttention):
        return estimate_attention_flops(rows, part.embed_dim, part.num_heads)
    if isinstance(part, nn.Linear):
        bias = 0 if part.bias is not None else rows * part.out_features
        return estimate_linear_flops(part.in_features, part.out_features, rows) - bias
    if isinstance(part, (nn.LayerNorm, nn.BatchNorm1d)):
        width = part.num_features if isinstance(part, nn.BatchNorm1d) else _product(part.normalized_shape)
        return 5 * rows * width
    return None


def _product(sizes: Any) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
