#!/bin/bash
# What the views of the page compute: curves, bins, pairs, marks, trees, names.
set -u
command -v node >/dev/null || { echo "node is missing"; exit 77; }
[ -e "$ASSAY_SOURCE/web/node_modules/esbuild/package.json" ] || { echo "esbuild is missing (npm ci in web/)"; exit 77; }
exec node "$ASSAY_SOURCE/tests/web/views.mjs" "$ASSAY_BUILD/assay"
