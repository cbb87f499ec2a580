"""Measures how the time of a model's forward pass grows with nodes, layers and encodings.

The sizes are measured in turns, several times and with a new model each time, so that a slow minute of the machine appears as noise and
not as growth. A model factory is a function that makes a model. It gets those of the keywords `num_layers`, `pe_type` and `pe_dim` that are
varied.
"""
from __future__ import annotations

import array
import dataclasses
import inspect
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence

from .. import _core, _torch
from .._analysis import bench
from .._monitor import Record
from .runtime import RuntimeStats
from .utils import moved

__all__ = ["ScalingExperiment", "ScalingGraph", "ScalingResult", "generate_scaling_graphs", "run_layer_scaling", "run_node_scaling",
           "run_pe_scaling"]

NODES = (100, 500, 1000, 2000, 5000)
LAYERS = (2, 4, 6, 8, 12, 16)
ENCODINGS = ({"name": "lap", "dim": 16}, {"name": "rwse", "dim": 16}, {"name": "none", "dim": 0})


class ScalingGraph:
    """A random graph: `x`, the features (num_nodes, feature_dim), and `edge_index`, sources and targets (2, num_edges), with every edge in
    both directions. They are tensors if the program uses PyTorch, otherwise arrays if it uses NumPy, and otherwise lists."""

    def __init__(self, num_nodes: int, num_edges: int, feature_dim: int, x: Any, edge_index: Any):
        self.num_nodes, self.num_edges, self.feature_dim = num_nodes, num_edges, feature_dim
        self.x, self.edge_index = x, edge_index
        self.edge_attr = self.batch = self.y = None

    def to(self, device: Any) -> "ScalingGraph":
        """The same graph on a device."""
        return ScalingGraph(self.num_nodes, self.num_edges, self.feature_dim, moved(self.x, device), moved(self.edge_index, device))

    def __repr__(self) -> str:
        return f"ScalingGraph(num_nodes={self.num_nodes}, num_edges={self.num_edges}, feature_dim={self.feature_dim})"


def _matrix(code: str, content: bytes, rows: int, columns: int) -> Any:
    torch, numpy = _torch.torch(), sys.modules.get("numpy")
    if torch is not None and content:
        kind = torch.float32 if code == "f" else torch.int64
        return torch.frombuffer(bytearray(content), dtype=kind).reshape(rows, columns)
    if numpy is not None:
        return numpy.frombuffer(content, dtype="float32" if code == "f" else "int64").reshape(rows, columns).copy()
    numbers = array.array(code, content).tolist()
    return [numbers[row * columns:(row + 1) * columns] for row in range(rows)]


def generate_scaling_graphs(num_nodes_list: Sequence[int] = NODES, avg_degree: float = 5, feature_dim: int = 16,
                            seed: int = 42) -> List[ScalingGraph]:
    """Make one connected random graph for each size. The same seed gives the same graphs."""
    return [ScalingGraph(nodes, edges, width, _matrix("f", features, nodes, width), _matrix("q", pairs, 2, edges))
            for nodes, edges, width, features, pairs in _core.scaling_graphs(list(num_nodes_list), avg_degree, feature_dim, seed)]


@dataclasses.dataclass
class ScalingResult:
    """The figures at each size. `record` has all of them and the fitted growth; `assay report` shows it."""

    parameter_name: str
    parameter_values: List[int]
    runtime_stats: List[RuntimeStats]
    record: Record
    text: str

    def print_summary(self) -> None:
        """Print the time at every size, and the growth."""
        print(self.text, end="")

    def _repr_html_(self) -> str:
        return self.record._repr_html_()

    @property
    def growth(self) -> Dict[str, Any]:
        """The class, exponent and interval of the growth, as in the record."""
        scalings = self.record.to_dict().get("scalings") or [{}]
        return scalings[0]


def _make(model_factory: Callable[..., Any], device: Any, **sizes: Any) -> Any:
    try:
        inspect.signature(model_factory).bind(**sizes)
    except TypeError:
        raise TypeError(f"the model factory does not take {', '.join(sizes)}: write def model_factory(**kwargs)") from None
    except ValueError:      # a function in C has no signature
        pass
    model = moved(model_factory(**sizes), device)
    if not callable(model):
        raise TypeError(f"the model factory made {model!r}, which cannot be called")
    if _torch.is_module(model):
        model.eval()
    return model


def _forward(instance: tuple) -> None:
    model, graph = instance
    torch = _torch.torch()
    if torch is None:
        model(graph)
    else:
        with torch.no_grad():
            model(graph)
        _torch.synchronize(_torch.device_of(model))


def _run(parameter: str, sizes: Sequence[int], make: Callable[[int], tuple], budget_seconds: float, seed: int) -> ScalingResult:
    values = [int(size) for size in sizes]
    if len(values) < 2:
        raise ValueError("growth shows at two sizes or more")
    timings, record, text = _core.scaling("forward", parameter, values, lambda size: make(int(size)), _forward, budget_seconds, 0, seed)
    return ScalingResult(parameter, values, [RuntimeStats.of(timing) for timing in timings], record, text)


def run_node_scaling(model_factory: Callable[..., Any], num_nodes_list: Sequence[int] = NODES, avg_degree: float = 5, device: Any = None,
                     feature_dim: int = 16, seed: int = 42, budget_seconds: float = 10.0) -> ScalingResult:
    """Measure the forward pass on graphs of several sizes."""
    graphs = dict(zip(map(int, num_nodes_list), (graph.to(device) for graph in
                                                 generate_scaling_graphs(num_nodes_list, avg_degree, feature_dim, seed))))
    return _run("num_nodes", num_nodes_list, lambda nodes: (_make(model_factory, device), graphs[nodes]), budget_seconds, seed)


def run_layer_scaling(model_factory: Callable[..., Any], num_layers_list: Sequence[int] = LAYERS, num_nodes: int = 500, device: Any = None,
                      avg_degree: float = 5, feature_dim: int = 16, seed: int = 42, budget_seconds: float = 10.0) -> ScalingResult:
    """Measure the forward pass of models of several depths, on one graph."""
    graph = generate_scaling_graphs([num_nodes], avg_degree, feature_dim, seed)[0].to(device)
    return _run("num_layers", num_layers_list, lambda layers: (_make(model_factory, device, num_layers=layers), graph), budget_seconds, seed)


def run_pe_scaling(model_factory: Callable[..., Any], pe_configs: Sequence[Dict[str, Any]] = ENCODINGS, num_nodes: int = 500,
                   device: Any = None, avg_degree: float = 5, feature_dim: int = 16, seed: int = 42,
                   budget_seconds: Optional[float] = None) -> Dict[str, RuntimeStats]:
    """Measure the forward pass with several encodings, in turns: {"lap 16": RuntimeStats, ...}."""
    graph = generate_scaling_graphs([num_nodes], avg_degree, feature_dim, seed)[0].to(device)
    names, calls = [], []
    for config in pe_configs:
        if "name" not in config or "dim" not in config:
            raise ValueError(f"an encoding has a 'name' and a 'dim'; this is {config!r}")
        model = _make(model_factory, device, pe_type=config["name"], pe_dim=config["dim"])
        names.append(f"{config['name']} {config['dim']}" if config["dim"] else str(config["name"]))
        calls.append(lambda instance=(model, graph): _forward(instance))
    record = bench(*calls, names=names, budget_seconds=budget_seconds, seed=seed)
    return {subject["name"]: _stats(subject) for subject in record.to_dict()["subjects"]}


def _stats(subject: Dict[str, Any]) -> RuntimeStats:
    figures = {name: subject.get(f"{name}_seconds") for name in ("mean", "std", "min", "max", "low", "high")}
    milliseconds = {name: float("nan") if value is None else 1e3 * value for name, value in figures.items()}
    return RuntimeStats(num_runs=subject.get("count") or len(subject.get("samples_seconds", ())), **milliseconds)


class ScalingExperiment:
    """Several scaling runs of one model, with one summary."""

    def __init__(self, model_factory: Callable[..., Any], device: Any = None, budget_seconds: float = 10.0):
        self.model_factory, self.device, self.budget_seconds = model_factory, device, budget_seconds
        self.results: List[ScalingResult] = []

    def run_node_scaling(self, num_nodes_list: Sequence[int] = NODES, **options: Any) -> ScalingResult:
        """Call run_node_scaling() and keep the result in the experiment."""
        return self._keep(run_node_scaling(self.model_factory, num_nodes_list, device=self.device,
                                           **{"budget_seconds": self.budget_seconds, **options}))

    def run_layer_scaling(self, num_layers_list: Sequence[int] = LAYERS, **options: Any) -> ScalingResult:
        """Call run_layer_scaling() and keep the result in the experiment."""
        return self._keep(run_layer_scaling(self.model_factory, num_layers_list, device=self.device,
                                            **{"budget_seconds": self.budget_seconds, **options}))

    def _keep(self, result: ScalingResult) -> ScalingResult:
        self.results.append(result)
        return result

    def print_summary(self) -> None:
        """Print the tables of all runs, one below the other."""
        for number, result in enumerate(self.results):
            if number > 0:
                print()
            result.print_summary()
