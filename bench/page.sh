#!/bin/bash
# The bars of the page. A record of 5,000 operations with a trace of 10^6 events becomes a page of at most 8 MB. The
# page is interactive within 2 s in Chromium and pans its timeline at 30 frames a second or more. An empty page takes
# at most 300 KB. Chromium draws at most 60 frames a second.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v node >/dev/null || { echo "node is missing" >&2; exit 77; }
echo '{"schema": "assay-record", "version": 2, "kind": "monitor", "created": "2026-11-16T12:00:00Z", "counters": [{"name": "steps", "count": 1, "last": 1, "min": 1, "max": 1, "mean": 1}]}' >"$work/empty.json"
node "$ASSAY_SOURCE/bench/page_record.mjs" "$work/big.json"
for name in empty big; do
    "$ASSAY_BUILD/assay" report "$work/$name.json" --html "$work/$name.html" >&2
done
node "$ASSAY_SOURCE/bench/page.mjs" "$work/empty.html" "$work/big.html"
