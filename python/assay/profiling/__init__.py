"""Profiles of models: runtime, memory, FLOPs, and how the runtime grows with the size.

    from assay.profiling import profile_forward

    stats = profile_forward(model, batch, num_runs=100, warmup_runs=10)
    print(f"Forward: {stats.mean:.2f} ± {stats.std:.2f} ms")

The functions take PyTorch models and other callables. PyTorch is used only if the program has imported it.
"""
from .flops import *
from .memory import *
from .runtime import *
from .scaling import *
from .utils import *

from . import flops, memory, runtime, scaling, utils

__all__ = [*flops.__all__, *memory.__all__, *runtime.__all__, *scaling.__all__, *utils.__all__]
