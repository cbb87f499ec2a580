#!/bin/bash
# Runs the benchmarks of the Python package, bench/python/*.py, with Debian's Python or ASSAY_PYTHON.
python=${ASSAY_PYTHON:-/usr/bin/python3}
export PYTHONPATH=$ASSAY_BUILD/python PYTHONDONTWRITEBYTECODE=1
if ! "$python" -c 'import assay' 2>/dev/null; then
    echo "python: skipped: the package is not built (Debian: python3-dev)" >&2
    exit 77
fi
status=0
for program in "$ASSAY_SOURCE"/bench/python/*.py; do
    "$python" "$program" || [ $? = 77 ] || status=1 # 77: the benchmark needs a GPU
done
exit $status
