"""Trajectories on a road network: generates them with a trained model, times every search, and compares them with real trajectories.

    from assay.generation import evaluate_trajectories_programmatic, generate_trajectories_programmatic

    result = generate_trajectories_programmatic(dataset='city', model_path='city/vanilla/weights.safetensors', od_source='test', seed=42,
                                                num_gene=100, beam_search=True, beam_width=4)
    print(f"Throughput: {result['performance']['throughput_traj_per_sec']:.2f} traj/s")
    evaluate_trajectories_programmatic(generated_file=result['output_file'], dataset='city', od_source='test',
                                       generation_performance=result['performance'])

A dataset is a folder with one *.geo, one *.rel, train.csv and test.csv (the formats of LibCity). `assay study routes --out city` makes up a
dataset and trains models. Searches run on the CPU, or with cuda_device=0 on that GPU; 'device' of the performance says where they ran. Times are in
seconds. A figure that could not be measured is nan, and 'unavailable' says why.
"""
from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional, Tuple, Union

from ._log import log

__all__ = ["Searcher", "TrajectoryEvaluator", "TrajectoryGenerator", "evaluate_trajectories_programmatic", "generate_trajectories_programmatic"]

Path = Union[str, "os.PathLike[str]"]


def _library() -> Any:
    try:
        from . import _models
    except ImportError as error:
        raise ImportError(_without_models(error)) from error
    return _models


def _without_models(error: ImportError) -> str:
    try:
        from ._without_models import MISSING        # setup.py writes it
    except ImportError:
        return ("assay.generation needs the models of assay, which `make build` puts into build/python and `pip install ./python "
                f"--no-build-isolation` into an environment ({error})")
    return (f"assay.generation needs the models of assay, and this package was installed without them: {MISSING} was not found. "
            "Install that, and then the package again: `pip install --force-reinstall ./python --no-build-isolation`.")


def _folder(dataset: Path) -> str:
    """The folder of a dataset: `dataset` is its path, or its name below the folder data."""
    name = os.fspath(dataset)
    places = [name, os.path.join("data", name), os.path.join(os.pardir, "data", name)]
    found = next((place for place in places if os.path.isdir(place)), None)
    if found is None:
        raise FileNotFoundError(f"there is no dataset {name!r}: a folder {' or '.join(map(repr, places))} with *.geo, *.rel, train.csv and "
                                "test.csv. `assay study routes --out DIR` makes one up.")
    return found


def _from_train(od_source: str) -> bool:
    if od_source not in ("test", "train"):
        raise ValueError(f"od_source must be 'test' or 'train', not {od_source!r}")
    return od_source == "train"


def _numbers(figures: Any) -> Any:
    """The figures of a JSON object, with nan for null."""
    if isinstance(figures, dict):
        return {key: _numbers(value) if key != "unavailable" else value for key, value in figures.items()}
    if isinstance(figures, list):
        return [_numbers(part) for part in figures]
    return float("nan") if figures is None else figures


def _load(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return _numbers(json.load(file))


def _without_nan(figures: Any) -> Any:
    if isinstance(figures, dict):
        return {key: _without_nan(value) for key, value in figures.items()}
    return None if isinstance(figures, float) and figures != figures else figures


def _log(prefix: str, figures: Dict[str, Any]) -> None:
    """Log the figures to the run of Weights & Biases, if the program has one."""
    wandb = sys.modules.get("wandb")
    if wandb is not None and getattr(wandb, "run", None) is not None:
        wandb.log({f"{prefix}/{key}": value for key, value in figures.items() if isinstance(value, (int, float))})


def _fresh_file(dataset: Path, seed: int) -> str:
    folder = os.path.join("gene", os.path.basename(os.path.normpath(os.fspath(dataset))), f"seed{seed}")
    os.makedirs(folder, exist_ok=True)
    stamp = os.path.join(folder, time.strftime("%Y-%m-%d_%H-%M-%S"))
    path, number = f"{stamp}.csv", 2
    while os.path.exists(path):
        path, number = f"{stamp}_{number}.csv", number + 1
    return path


def _device(cuda_device: Optional[int]) -> Optional[str]:
    """The name of the GPU with that number, or None for the CPU. A GPU that cannot be used is a warning, because programs that name a GPU also
    run on machines that have none."""
    if cuda_device is None or cuda_device < 0:
        return None
    name = f"cuda:{cuda_device}"
    try:
        _library().check_device(name)
    except RuntimeError as error:
        log("warning", "cuda_device=%s is not used, and the searches run on the CPU: %s", cuda_device, error)
        return None
    return name


def _generate(dataset: Path, model_path: Path, output_file: str, od_source: str, seed: int, num_gene: int, beam_search: bool,
              beam_width: int, pair: Optional[Tuple[int, int]] = None, device: Optional[str] = None) -> Tuple[int, Dict[str, Any], str]:
    """(number of trajectories, the figures as in performance.json of a study, the printed text)"""
    if num_gene < 1 or beam_width < 1:
        raise ValueError(f"num_gene and beam_width must be 1 or more, not {num_gene} and {beam_width}")
    library = _library()
    with tempfile.TemporaryDirectory() as folder:
        performance_file = os.path.join(folder, "performance.json")
        _, generated, text = library.generate(
            dataset=_folder(dataset), model_path=os.fspath(model_path), output_file=output_file, from_train=_from_train(od_source), seed=seed,
            num_gene=num_gene, beam_search=beam_search, beam_width=beam_width, performance_file=performance_file, pair=pair,
            device=device)
        return generated, _load(performance_file), text


def generate_trajectories_programmatic(dataset: Path, model_path: Path, od_source: str = "test", seed: int = 42, num_gene: int = 100,
                                       cuda_device: Optional[int] = None, beam_search: bool = False, beam_width: int = 4,
                                       output_file: Optional[Path] = None) -> Dict[str, Any]:
    """Generate trajectories between the origins and destinations of real trajectories, and time every search.

    dataset: a folder, or its name below data. model_path: the weights, as safetensors. The trajectories are written to `output_file`, by
    default gene/DATASET/seedSEED/TIME.csv. cuda_device: the GPU that the model's forward passes run on. If it cannot be used, they run on
    the CPU, and the logger "assay" says why.
    Returns 'output_file', 'num_generated' (the number of searches that arrived) and 'performance', with the aggregates over all searches.
    """
    path = os.fspath(output_file) if output_file is not None else _fresh_file(_folder(dataset), seed)
    generated, figures, _ = _generate(dataset, model_path, path, od_source, seed, num_gene, beam_search, beam_width,
                                      device=_device(cuda_device))
    _log("generation", figures["performance"])
    return {"output_file": path, "num_generated": generated, "performance": figures["performance"]}


def evaluate_trajectories_programmatic(generated_file: Path, dataset: Path, od_source: str = "test",
                                       generation_performance: Optional[Dict[str, Any]] = None,
                                       results_file: Optional[Path] = None) -> Dict[str, Any]:
    """Compare generated trajectories with real ones, print their cost and their similarity, and return the results.

    The results have 'Distance_JSD', 'Duration_JSD', 'Radius_JSD', 'Hausdorff' and 'DTW' (kilometres), and 'generation_performance' if it
    is given. They are also saved as JSON, by default as results.json beside the generated file.
    """
    generated = os.fspath(generated_file)
    saved = os.fspath(results_file) if results_file is not None else os.path.join(os.path.dirname(generated), "results.json")
    library = _library()
    with tempfile.TemporaryDirectory() as folder:
        performance_file = None
        if generation_performance is not None:
            performance_file = os.path.join(folder, "performance.json")
            with open(performance_file, "w", encoding="utf-8") as file:
                json.dump(_without_nan(generation_performance), file)
        text = library.evaluate(dataset=_folder(dataset), from_train=_from_train(od_source), generated_file=generated,
                                generation_performance_file=performance_file, results_file=saved)
    print(text, end="")
    return _load(saved)


class Searcher:
    """Single searches with one model, from one road to another:

        route, metrics = Searcher('city', 'city/vanilla/weights.safetensors').beam_search(17, 230)

    Roads have the ids of the dataset's files. Without ids, every search takes the next pair that the seed draws from od_source.
    """

    def __init__(self, dataset: Path, model_path: Path, od_source: str = "test", seed: int = 42):
        self.dataset, self.model_path, self.od_source = dataset, model_path, od_source
        self._seed = seed

    def search(self, origin_road_id: Optional[int] = None, destination_road_id: Optional[int] = None
               ) -> Tuple[Optional[List[int]], Dict[str, Any]]:
        """Search greedily. Returns (roads, metrics): the roads of the trajectory, or None if the search did not arrive; and 'total_time',
        'forward_time_total', 'forward_count', 'forward_time_avg', origin and destination."""
        return self._search(origin_road_id, destination_road_id, False, 1)

    def beam_search(self, origin_road_id: Optional[int] = None, destination_road_id: Optional[int] = None, beam_width: int = 4
                    ) -> Tuple[Optional[List[int]], Dict[str, Any]]:
        """The same with a beam search. The metrics also have 'beam_width'."""
        return self._search(origin_road_id, destination_road_id, True, beam_width)

    def _search(self, origin: Optional[int], destination: Optional[int], beam_search: bool, beam_width: int
                ) -> Tuple[Optional[List[int]], Dict[str, Any]]:
        if (origin is None) != (destination is None):
            raise ValueError("a search goes from one road to another: give both ids, or none to have a pair drawn")
        pair = None if origin is None or destination is None else (origin, destination)
        seed = self._seed
        if pair is None:
            self._seed += 1
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "generated.csv")
            _, figures, _ = _generate(self.dataset, self.model_path, path, self.od_source, seed, 1, beam_search, beam_width, pair)
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        metrics = dict(figures["searches"][0])
        if beam_search:
            metrics["beam_width"] = beam_width
        return (json.loads(rows[0]["gene_trace_road_id"]) if rows else None), metrics


class TrajectoryGenerator:
    """Generates trajectories with the settings of one pipeline."""

    def __init__(self, dataset: Path, model_path: Path, od_source: str = "test", seed: int = 42, num_gene: int = 100,
                 cuda_device: Optional[int] = None, beam_search: bool = True, beam_width: int = 4):
        self._settings = {"dataset": dataset, "model_path": model_path, "od_source": od_source, "seed": seed, "num_gene": num_gene,
                          "cuda_device": cuda_device, "beam_search": beam_search, "beam_width": beam_width}

    def generate_trajectories(self, **changes: Any) -> Tuple[str, Dict[str, Any]]:
        """Returns (the file, the performance). Keywords change single settings."""
        result = generate_trajectories_programmatic(**{**self._settings, **changes})
        _log("perf", result["performance"])
        return result["output_file"], result["performance"]


class TrajectoryEvaluator:
    """Evaluates trajectories with the settings of one pipeline."""

    def __init__(self, dataset: Path, od_source: str = "test"):
        self.dataset, self.od_source = dataset, od_source

    def evaluate_trajectories(self, generated_file: Path, generation_performance: Optional[Dict[str, Any]] = None,
                              results_file: Optional[Path] = None) -> Dict[str, Any]:
        """The same as evaluate_trajectories_programmatic()."""
        return evaluate_trajectories_programmatic(generated_file, self.dataset, self.od_source, generation_performance, results_file)
