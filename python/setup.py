"""Builds the extension modules from the sources beside this folder. libassay and the models are linked into them."""
import concurrent.futures
import os
import pathlib
import platform
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
VERSION = re.search(r"project\(assay VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
# The libraries that assay._models is linked with, and the Debian packages that contain them.
MODEL_LIBRARIES = {"openblas": "libopenblas-dev", "lapacke": "liblapacke-dev", "liblbfgs": "liblbfgs-dev", "zlib": "zlib1g-dev"}
MODEL_OPTIONS = ["-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]
# The kernels are compiled once for each level of the processor, as in CMakeLists.txt.
LEVELS = {"x86_64": {"v2": ["-march=x86-64-v2"], "v3": ["-march=x86-64-v3"],
                     "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"]},
          "aarch64": {"neon": []}}.get(platform.machine(), {"baseline": []})
# Sources of functions that compute figures of models without a model, as in cmake/AssayPython.cmake.
FIGURES = [f"models/{name}.c" for name in ("profile/flop*", "profile/runtime*", "profile/forecast", "profile/graphs", "kernel/describe")]
# Each module: its sources, and the archives that it is linked with.
MODULES = {"assay._core": (["python/core/*.c", *FIGURES], ["assay"]),
           "assay._models": (["python/models/*.c", "python/core/errors.c", "python/core/text.c"], ["models", "assay"])}


def pkg_config(*arguments):
    return subprocess.run(["pkg-config", *arguments], check=True, capture_output=True, text=True).stdout.split()


def missing(names):
    """The libraries that pkg-config does not find."""
    try:
        return [name for name in names if subprocess.run(["pkg-config", "--exists", name]).returncode != 0]
    except FileNotFoundError:
        sys.exit("assay is built with the help of pkg-config, which is not here (Debian: pkg-config)")


def find(*patterns):
    return sorted(str(path) for pattern in patterns for path in ROOT.glob(pattern) if path.parent.name != "interposer")


def extension(name, libraries):
    return Extension(
        name,
        sources=[],
        include_dirs=[str(ROOT), str(ROOT / "include"), str(ROOT / "src")],
        define_macros=[("Py_LIMITED_API", "0x030A0000"), ("_GNU_SOURCE", None), ("ASSAY_VERSION", f'"{VERSION}"')],
        extra_compile_args=["-std=gnu11", "-O3", "-fopenmp-simd", "-fvisibility=hidden", "-fno-semantic-interposition",
                            *pkg_config("--cflags", *libraries)],
        extra_link_args=[f"-Wl,--version-script={HERE}/core/core.map", "-Wl,-z,nodelete", "-Wl,-z,now",
                         *pkg_config("--libs", *libraries), "-lm", "-lpthread", "-ldl"],
        py_limited_api=True,
    )


class BuildExtension(build_ext):
    """Compiles sources that lie outside of this folder. The compiler gets their full paths, so that objects stay in build/.

    libassay and the models are compiled once each, on all cores, into archives that the modules are linked with.
    """

    def build_extensions(self):
        self.force = True       # setuptools does not know what the modules depend on
        note_what_is_missing(self)
        modules = {ext.name: ext for ext in self.extensions}
        archives = {"assay": self.archive("assay", self.compile(find("src/*/*.c"), modules["assay._core"]))}
        if not MISSING:
            archives["models"] = self.archive("assay_models", self.compile_models(modules["assay._models"]))
        for name, (patterns, needed) in MODULES.items():
            if name in modules:
                modules[name].extra_objects = self.compile(find(*patterns), modules[name])
                modules[name].extra_link_args[:0] = [archives[archive] for archive in needed]
        super().build_extensions()

    def build_extension(self, ext):
        if ext.name == "assay._sampler":
            ext.sources = find("python/sampler/*.c")
        super().build_extension(ext)

    def compile_models(self, ext):
        objects = self.compile(find("models/*.c", "models/*/*.c") + self.embed(find("models/cuda/kernels/*.cu", "models/cuda/arguments.h")), ext, "",
                               MODEL_OPTIONS)
        for level, options in LEVELS.items():
            objects += self.compile(find("models/kernel/level/*.c"), ext, level, [*MODEL_OPTIONS, *options])
        return objects

    def embed(self, files):
        """Write C files that hold the given files as constants, as cmake/AssayEmbed.cmake does. Returns their paths."""
        folder = pathlib.Path(self.build_temp, "embedded")
        folder.mkdir(parents=True, exist_ok=True)
        for file in map(pathlib.Path, files):
            name, content = f"assay__text_{file.stem}", ",".join(map(str, file.read_bytes()))
            (folder / f"{file.stem}.c").write_text(f"extern const char {name}[];\nconst char {name}[] = {{{content},0}};\n")
        return sorted(map(str, folder.glob("*.c")))

    def archive(self, name, objects):
        self.compiler.create_static_lib(objects, name, output_dir=self.build_temp)
        return os.path.join(self.build_temp, f"lib{name}.a")

    def compile(self, files, ext, level="", options=()):
        macros = ext.define_macros + ([("ASSAY__LEVEL", level)] if level else [])

        def one(file):
            return self.compiler.compile([file], output_dir=os.path.join(self.build_temp, level), macros=macros, include_dirs=ext.include_dirs,
                                         extra_postargs=[*ext.extra_compile_args, *options])
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return [made for objects in pool.map(one, files) for made in objects]


def note_what_is_missing(build):
    """If the libraries of the models are missing, write a file into the package that tells assay.generation what is missing. The package is then
    built without the models."""
    package = pathlib.Path(build.build_lib) / "assay"
    note = package / "_without_models.py"
    note.unlink(missing_ok=True)
    if not MISSING:
        return
    text = f"{', '.join(MISSING)} (Debian: {' '.join(MODEL_LIBRARIES[name] for name in MISSING)})"
    build.warn(f"assay.generation will not work: the package is built without the models, because pkg-config does not find {text}")
    for stale in package.glob("_models.*.so"):      # of an earlier build
        stale.unlink()
    package.mkdir(parents=True, exist_ok=True)
    note.write_text(f'"""Written by setup.py: what the models need and it did not find."""\nMISSING = {text!r}\n')


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

if missing(["jansson"]):
    sys.exit("assay needs the JSON library jansson with its headers, which pkg-config does not find (Debian: libjansson-dev)")
MISSING = missing(MODEL_LIBRARIES)
EXTENSIONS = [extension("assay._core", ["jansson"])]
# assay._sampler makes the profiles of `python3 -m assay run`. It works only with the version of Python that builds it. With another version
# the rest of the package works, and the command says what is missing.
EXTENSIONS.append(Extension("assay._sampler", sources=[], include_dirs=[str(ROOT), str(ROOT / "src")],
                            define_macros=[("_GNU_SOURCE", None)], extra_compile_args=["-std=gnu11", "-O3", "-fvisibility=hidden"],
                            extra_link_args=[f"-Wl,--version-script={HERE}/core/core.map", "-Wl,-z,nodelete", "-lm", "-lpthread"],
                            optional=True))
if not MISSING:
    EXTENSIONS.append(extension("assay._models", ["jansson", *MODEL_LIBRARIES]))

setup(version=VERSION, cmdclass=COMMANDS, ext_modules=EXTENSIONS)
