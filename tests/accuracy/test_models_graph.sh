#!/bin/sh
# The graph transformer against PyTorch: outputs and every gradient, over shapes, kinds of message passing and
# of attention.
set -eu
python=${ASSAY_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped: python3-torch is not installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" "$ASSAY_SOURCE/tests/accuracy/torch_graph.py" \
    "$ASSAY_BUILD/assay" "$folder"
