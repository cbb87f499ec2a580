#!/bin/sh
# MLP, SIREN and KAN against PyTorch, and the KAN's splines against SciPy's: see torch_field.py.
set -eu
python=${ASSAY_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import torch, scipy' 2>/dev/null; then
    echo "skipped: python3-torch or python3-scipy is not installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" "$ASSAY_SOURCE/tests/accuracy/torch_field.py" \
    "$ASSAY_BUILD/assay" "$folder"
