#!/bin/bash
# Files of models against NumPy and against safetensors.py: see models_files.py.
set -u
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "python3-numpy is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" && exec /usr/bin/python3 "$ASSAY_SOURCE/tests/accuracy/models_files.py" \
    "$ASSAY_BUILD/lib/libassay_models.so" "$ASSAY_BUILD/assay"
