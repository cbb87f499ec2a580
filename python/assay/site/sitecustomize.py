"""Python imports this before a script, where `assay run` profiles it: it starts the sampler and gets out of the way.

The folder is the first of PYTHONPATH. So the interpreter runs the script itself, and the script finds its own
sys.argv, sys.path, __main__ and exit status. Processes that it starts inherit the environment and are profiled too.
"""


def _start():
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    directory = os.environ.get("ASSAY_PYTHON_DIR")
    if not directory or not os.path.isdir(directory):
        return
    try:
        sampler = _load(os.path.dirname(here))
        import atexit
        if sampler.start(directory, float(os.environ.get("ASSAY_PYTHON_RATE", "0")),
                         float(os.environ.get("ASSAY_PYTHON_INTERVAL", "0")),
                         int(os.environ.get("ASSAY_PYTHON_EVENTS", "0")), _jumps()):
            os.register_at_fork(before=sampler.pause, after_in_parent=sampler.resume, after_in_child=sampler.forked)
            atexit.register(sampler.pause)
    except Exception as error:          # the script runs all the same; `assay run` shows the reason
        with open(os.path.join(directory, f"{os.getpid()}.note"), "w", encoding="utf-8") as note:
            note.write(str(error))


def _load(package):
    """The extension module, without the package: a script that does not import assay shall not have it."""
    import _frozen_importlib
    import _frozen_importlib_external
    import _imp
    import os
    import sys

    if "t" in getattr(sys, "abiflags", "") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise RuntimeError("free-threaded builds of Python are not supported")
    for suffix in _imp.extension_suffixes():
        path = os.path.join(package, "_sampler" + suffix)
        if suffix.startswith(".cpython") and os.path.isfile(path):
            loader = _frozen_importlib_external.ExtensionFileLoader("_sampler", path)
            module = loader.create_module(_frozen_importlib.ModuleSpec("_sampler", loader, origin=path))
            sys.modules.pop("_sampler", None)
            return module
    version = "%d.%d" % sys.version_info[:2]
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise RuntimeError(f"profiles of scripts need Python 3.11, 3.12 or 3.13; this is {version}")
    raise RuntimeError(f"the module assay._sampler is not built for Python {version}; install the package with this Python")


def _jumps():
    """For each opcode, specialised ones too: 1 if it jumps. The latter have the numbers that are left, in their order."""
    import opcode

    names = list(opcode.opname)
    left = [number for number, name in enumerate(names) if name.startswith("<")]
    for number, name in zip(left, getattr(opcode, "_specialized_instructions", ())):
        names[number] = name
    return bytes("JUMP" in name for name in names[:256])


def _chain():
    """Import the sitecustomize that this one stands before, if there is any."""
    import sys

    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours


_start()
_chain()
