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
        import dis
        if sampler.start(directory, float(os.environ.get("ASSAY_PYTHON_RATE", "100")),
                         float(os.environ.get("ASSAY_PYTHON_INTERVAL", "0")),
                         int(os.environ.get("ASSAY_PYTHON_EVENTS", "0")), _jumps(dis)):
            os.register_at_fork(before=sampler.pause, after_in_parent=sampler.resume, after_in_child=sampler.forked)
            atexit.register(sampler.pause)
    except Exception as error:          # the script runs all the same; `assay run` shows the reason
        with open(os.path.join(directory, f"{os.getpid()}.note"), "w", encoding="utf-8") as note:
            note.write(str(error))


def _load(package):
    """The extension module, without the package: a script that does not import assay shall not have it."""
    import os
    import sys
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    if "t" in getattr(sys, "abiflags", "") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise RuntimeError("free-threaded builds of Python are not supported")
    for suffix in EXTENSION_SUFFIXES:
        path = os.path.join(package, "_sampler" + suffix)
        if suffix.startswith(".cpython") and os.path.isfile(path):
            loader = ExtensionFileLoader("_sampler", path)
            module = module_from_spec(spec_from_loader("_sampler", loader))
            loader.exec_module(module)
            return module
    version = "%d.%d" % sys.version_info[:2]
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise RuntimeError(f"profiles of scripts need Python 3.11, 3.12 or 3.13; this is {version}")
    raise RuntimeError(f"the module assay._sampler is not built for Python {version}; install the package with this Python")


def _jumps(dis):
    """For each opcode, specialised ones too: 1 if it jumps."""
    import opcode

    jumps = bytearray(256)
    numbers = dict(dis.opmap)
    numbers.update(getattr(dis, "_all_opmap", {}))
    numbers.update(getattr(opcode, "_specialized_opmap", {}))
    for name, number in numbers.items():
        if number < 256 and "JUMP" in name:
            jumps[number] = 1
    return bytes(jumps)


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
