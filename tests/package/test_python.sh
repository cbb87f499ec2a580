#!/bin/bash
# `pip install ./python --no-build-isolation` into a virtual environment, without network: the package works there,
# it is one wheel for Python 3.10 and later, and it shows no symbol of libassay.
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
symbols=$(nm -D --defined-only "$module" | awk '{ print $3 }' | tr '\n' ' ')
[ "$symbols" = "PyInit__core " ] || { echo "the module shows: $symbols"; exit 1; }
for file in py.typed __init__.pyi _core.pyi; do
    [ -e "$(dirname "$module")/$file" ] || { echo "$file is not installed"; exit 1; }
done
env -u PYTHONPATH env/bin/python "$ASSAY_SOURCE/tests/python/test_spans.py" 2>log || { cat log; exit 1; }
for seed in timing runtime; do
    env -u PYTHONPATH PYTHONDONTWRITEBYTECODE=1 env/bin/python "$ASSAY_SOURCE/tests/python/test_seed_$seed.py" 2>log || { cat log; exit 1; }
done
PATH=$ASSAY_BUILD:$PATH env/bin/python -m assay --version >log || { cat log; exit 1; }
# The sampler is there too, and `python3 -m assay run` uses the one that is installed.
symbols=$(nm -D --defined-only "$(dirname "$module")"/_sampler.cpython-*.so | awk '{ print $3 }' | tr '\n' ' ')
[ "$symbols" = "PyInit__sampler " ] || { echo "the sampler shows: $symbols"; exit 1; }
echo 'sum(i * i for i in range(3_000_000))' >loop.py
env -u PYTHONPATH PATH="$ASSAY_BUILD:$PATH" env/bin/python -m assay run loop.py 2>log || { cat log; exit 1; }
grep -q 'loop.py:1' log || { cat log; exit 1; }
echo "installed $(ls wheels)"
