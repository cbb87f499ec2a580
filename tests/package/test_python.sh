#!/bin/bash
# `pip install ./python --no-build-isolation` into a virtual environment, without network: the package works there,
# it is one wheel for Python 3.10 and later, and it shows no symbol of libassay. The models are in it; where their
# libraries are missing, the package is installed without them and says which are missing.
set -u
python=/usr/bin/python3
skip() {
    echo "$*"
    exit 77
}
[ -x $python ] || skip "no $python"
$python -c 'import setuptools, wheel, pip, ensurepip' 2>/dev/null ||
    skip "no setuptools, wheel, pip or venv (Debian: python3-wheel, python3-pip, python3-venv)"
header=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
[ -e "$header" ] || skip "no $header (Debian: python3-dev)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pip builds in the folder it is given, so it gets a copy.
mkdir "$work/source"
cd "$ASSAY_SOURCE" && cp -r CMakeLists.txt include src models python "$work/source" || exit 1
rm -rf "$work"/source/python/build "$work"/source/python/*.egg-info
cd "$work" || exit 1
if command -v ccache >/dev/null; then
    export CC="ccache cc" CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
fi
$python -m venv --system-site-packages env || exit 1
env/bin/pip wheel ./source/python --no-build-isolation --no-deps --no-index -w wheels >log 2>&1 || { cat log; exit 1; }
case "$(ls wheels)" in
assay-*-cp310-abi3-linux_*.whl) ;;
*)
    echo "expected one wheel for cp310-abi3, and found: $(ls wheels)"
    exit 1
    ;;
esac
env/bin/pip install --no-index --no-deps wheels/*.whl >log 2>&1 || { cat log; exit 1; }

module=$(env/bin/python -c 'import assay; print(assay._core.__file__)') || exit 1
case "$module" in
"$work"/env/*) ;;
*)
    echo "the installed package is not the one that is imported: $module"
    exit 1
    ;;
esac
for name in _core _models; do
    symbols=$(nm -D --defined-only "$(dirname "$module")/$name.abi3.so" | awk '{ print $3 }' | tr '\n' ' ')
    [ "$symbols" = "PyInit_$name " ] || { echo "the module $name shows: $symbols"; exit 1; }
done
for file in py.typed __init__.pyi _core.pyi; do
    [ -e "$(dirname "$module")/$file" ] || { echo "$file is not installed"; exit 1; }
done
env -u PYTHONPATH env/bin/python "$ASSAY_SOURCE/tests/python/test_spans.py" 2>log || { cat log; exit 1; }
for seed in timing runtime generation; do
    PATH=$ASSAY_BUILD:$PATH env -u PYTHONPATH PYTHONDONTWRITEBYTECODE=1 env/bin/python "$ASSAY_SOURCE/tests/python/test_seed_$seed.py" 2>log || { cat log; exit 1; }
done
PATH=$ASSAY_BUILD:$PATH env/bin/python -m assay --version >log || { cat log; exit 1; }
if env/bin/python -c 'import pytest' 2>/dev/null; then
    # The plugin is found by its entry point, and `-p` beside it does no harm.
    for options in "" "-p assay.pytest_plugin"; do
        (cd "$work" && env -u PYTHONPATH env/bin/python -m pytest $options -p no:cacheprovider --fixtures -q) 2>&1 | grep -q assay_benchmark ||
            { echo "the installed package does not bring its plugin of pytest"; exit 1; }
    done
else
    echo "no pytest: its plugin is not tried (Debian: python3-pytest)"
fi

# Without the libraries of the models, which this pkg-config does not know, in the same build folder as before.
mkdir pkgconfig
cp "$(pkg-config --variable=pcfiledir jansson)/jansson.pc" pkgconfig
PKG_CONFIG_LIBDIR=$work/pkgconfig env/bin/pip install --force-reinstall ./source/python --no-build-isolation --no-deps --no-index -v >log 2>&1 ||
    { cat log; exit 1; }
grep -q 'pkg-config does not find openblas, lapacke, liblbfgs, zlib (Debian: libopenblas-dev' log ||
    { cat log; echo "pip -v does not say what is missing"; exit 1; }
env -u PYTHONPATH env/bin/python - <<'PROGRAM' || exit 1
import assay, assay.generation
with assay.track("works"):
    pass
try:
    assay.generation.generate_trajectories_programmatic(dataset=".", model_path="nowhere")
except ImportError as error:
    assert "openblas, lapacke, liblbfgs, zlib (Debian: libopenblas-dev" in str(error), error
else:
    raise SystemExit("the models are there without their libraries")
PROGRAM
if PKG_CONFIG_LIBDIR=$work env/bin/pip install ./source/python --no-build-isolation --no-deps --no-index >log 2>&1 ||
    ! grep -q 'libjansson-dev' log; then
    cat log
    echo "without jansson pip must fail and name the package"
    exit 1
fi
echo "installed $(ls wheels)"
