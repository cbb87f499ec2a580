"""Builds the extension module, with libassay inside, from the sources beside this folder."""
import pathlib
import re
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
VERSION = re.search(r"project\(assay VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def pkg_config(option):
    return subprocess.run(["pkg-config", option, "jansson"], check=True, capture_output=True, text=True).stdout.split()


class BuildExtension(build_ext):
    """The sources lie outside of this folder: the compiler gets their full paths, so that objects stay in build/."""

    def build_extension(self, ext):
        if ext.name == "assay._sampler":
            ext.sources = sorted(str(path) for path in HERE.glob("sampler/*.c"))
            super().build_extension(ext)
            return
        library = [path for path in ROOT.glob("src/*/*.c") if path.parent.name != "interposer"]
        # Figures of models that need no model, as in cmake/AssayPython.cmake.
        figures = [path for name in ("profile/flop*", "profile/runtime*", "profile/forecast", "profile/graphs", "kernel/describe")
                   for path in ROOT.glob(f"models/{name}.c")]
        ext.sources = sorted(str(path) for path in [*library, *figures, *HERE.glob("core/*.c")])
        super().build_extension(ext)


COMMANDS = {"build_ext": BuildExtension}
try:
    from wheel.bdist_wheel import bdist_wheel

    class StableWheel(bdist_wheel):
        """One wheel for Python 3.10 and all later versions."""

        def finalize_options(self):
            self.py_limited_api = "cp310"
            super().finalize_options()

    COMMANDS["bdist_wheel"] = StableWheel
except ImportError:
    pass

setup(
    version=VERSION,
    cmdclass=COMMANDS,
    ext_modules=[Extension(
        "assay._core",
        sources=[],
        include_dirs=[str(ROOT), str(ROOT / "include"), str(ROOT / "src")],
        define_macros=[("Py_LIMITED_API", "0x030A0000"), ("_GNU_SOURCE", None), ("ASSAY_VERSION", f'"{VERSION}"')],
        extra_compile_args=["-std=gnu11", "-O3", "-fvisibility=hidden", "-fno-semantic-interposition",
                            *pkg_config("--cflags")],
        extra_link_args=[f"-Wl,--version-script={HERE}/core/core.map", "-Wl,-z,nodelete", "-Wl,-z,now", *pkg_config("--libs"), "-lm", "-lpthread", "-ldl"],
        py_limited_api=True,
    ), Extension(
        # For the profiles of `python3 -m assay run`. It is for the version of Python that builds it: with another one the
        # rest of the package works, and the command says what is missing.
        "assay._sampler",
        sources=[],
        include_dirs=[str(ROOT), str(ROOT / "src")],
        define_macros=[("_GNU_SOURCE", None)],
        extra_compile_args=["-std=gnu11", "-O3", "-fvisibility=hidden"],
        extra_link_args=[f"-Wl,--version-script={HERE}/core/core.map", "-Wl,-z,nodelete", "-lm", "-lpthread"],
        optional=True,
    )],
)
