"""Measure what a model really costs: time, memory, arithmetic, with honest statistics.

    import assay

    forward = assay.operation("forward")        # once
    for batch in loader:
        with forward:                           # about 0.1 microseconds
            loss = model(batch)
        with assay.track("backward"):           # a name where it is needed
            loss.backward()
    assay.print_summary()

Everything is written into a journal in C, and nothing is printed unless you ask for it.
"""
import atexit as _atexit
import os as _os
import sys as _sys


def _explain(error):
    if _sys.version_info < (3, 10):
        return "assay needs Python 3.10 or later"
    if "interpreter" in str(error):
        return "assay works in the main interpreter of a process only, not in sub-interpreters"
    if "t" in getattr(_sys, "abiflags", "") or not getattr(_sys, "_is_gil_enabled", lambda: True)():
        return ("assay does not support free-threaded builds of Python: its extension module uses the stable ABI, which "
                "they do not have")
    return (f"assay's extension module cannot be loaded ({error}). Build it with `make build` and set "
            "PYTHONPATH=build/python, or install it with `pip install ./python --no-build-isolation`.")


try:
    from . import _core
except ImportError as _error:
    raise ImportError(_explain(_error)) from _error

from ._core import operation, track
from ._analysis import Growth, bench, compare, fit
from ._loop import steps
from ._model import profile
from ._monitor import Monitor, Record, default_monitor, load, print_summary, record, snapshot, tracked
from ._run import run
from ._watch import Watch, watch



def load_ipython_extension(shell):
    """Register the magics %assay and %%assay. `%load_ext assay` in a notebook calls this function."""
    from ._magic import load as load_magic
    load_magic(shell)


__version__ = _core.version
__all__ = ["Growth", "Monitor", "Record", "Watch", "bench", "compare", "default_monitor", "fit", "load", "operation",
           "print_summary", "profile", "record", "run", "snapshot", "steps", "track", "tracked", "watch"]

_core.use_classes(Monitor, Record)
_os.register_at_fork(after_in_child=_core.lanes_forked)
_atexit.register(_core.close_all)
