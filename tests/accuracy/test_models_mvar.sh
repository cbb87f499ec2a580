#!/bin/sh
# The MVAR compared with NumPy: fits by both methods, forecasts and gradients; and data that it refuses to fit.
set -eu
python=${ASSAY_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: python3-numpy is not installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
OPENBLAS_NUM_THREADS=1 "$python" "$ASSAY_SOURCE/tests/accuracy/numpy_mvar.py" "$ASSAY_BUILD/assay" "$folder"

# A feature that repeats another one leaves the coefficients undetermined.
"$python" -c 'import numpy, sys
x = numpy.random.default_rng(1).standard_normal((1, 200, 2))
numpy.save(sys.argv[1], numpy.concatenate([x, x[:, :, :1]], 2))' "$folder/x.npy"
status=0
"$ASSAY_BUILD/assay" model train --model mvar --input "$folder/x.npy" --input-dim 3 --output "$folder/w" \
    2>"$folder/message" || status=$?
if [ "$status" -ne 65 ] || ! grep -q "linearly dependent" "$folder/message" || [ -e "$folder/w" ]; then
    echo "a rank-deficient fit: status $status, $(cat "$folder/message")"
    exit 1
fi
