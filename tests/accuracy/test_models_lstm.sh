#!/bin/sh
# The LSTM against PyTorch: outputs, forecasts, every gradient and training, over shapes.
set -eu
python=${ASSAY_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped: python3-torch is not installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" "$ASSAY_SOURCE/tests/accuracy/torch_lstm.py" \
    "$ASSAY_BUILD/assay" "$folder"
