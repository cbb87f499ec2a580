"""What a model costs: runtime, memory, FLOPs, and how they grow.

    from assay.profiling import profile_forward

    stats = profile_forward(model, batch, num_runs=100, warmup_runs=10)
    print(f"Forward: {stats.mean:.2f} ± {stats.std:.2f} ms")

Models of PyTorch and anything else that can be called; PyTorch is used only if the program has imported it.
"""
from .flops import *
from .memory import *
from .runtime import *
from .scaling import *
from .utils import *

from . import flops, memory, runtime, scaling, utils

__all__ = [*flops.__all__, *memory.__all__, *runtime.__all__, *scaling.__all__, *utils.__all__]
