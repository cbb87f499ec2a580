"""Starts the sampler before a script runs. Python imports this module before a script that `assay run` profiles.

`assay run` makes this folder the first entry of PYTHONPATH. So the interpreter runs the script itself, and the script has its own
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
    except Exception as error:          # the script runs without a profile, and `assay run` shows the reason
        if isinstance(error, ImportError) and "subinterpreters" in str(error):
            return                      # only the main interpreter is sampled
        with open(os.path.join(directory, f"{os.getpid()}.note"), "w", encoding="utf-8") as note:
            note.write(str(error))


def _load(package):
    """Load the extension module without the package, because a script that does not import assay must not find it in sys.modules."""
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
    if not (3, 11) <= sys.version_info[:2] <= (3, 15):
        raise RuntimeError(f"profiles of scripts need Python 3.11 to 3.15; this is {version}")
    raise RuntimeError(f"the module assay._sampler is not built for Python {version}; install the package with this Python")


def _jumps():
    """A byte for each opcode: 1 if it jumps.

    Python 3.11 and 3.12 leave specialised opcodes out of opname. Such opcodes have the numbers that are left, in their order.
    """
    import opcode

    names = list(opcode.opname)
    left = [number for number, name in enumerate(names) if name.startswith("<")]
    for number, name in zip(left, getattr(opcode, "_specialized_instructions", ())):
        names[number] = name
    return bytes("JUMP" in name for name in names[:256])


def _chain():
    """Import the sitecustomize module that this one hides, if there is one."""
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
