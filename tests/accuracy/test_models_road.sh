#!/bin/bash
# next_road compared with PyTorch through the command; see torch_road.py.
set -eu
python=${ASSAY_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import numpy, torch' 2>/dev/null; then
    echo "skipped: $python has no NumPy or PyTorch (Debian: python3-torch)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
"$python" "$ASSAY_SOURCE/tests/accuracy/torch_road.py" "$ASSAY_BUILD/assay" "$folder"
