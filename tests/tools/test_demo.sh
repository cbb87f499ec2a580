#!/bin/bash
# What `make run` shows ends well, fits into 80 columns and ends by saying what to try next.
set -u
cd "$ASSAY_SOURCE" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$ASSAY_BUILD" "$work/build"
tools/demo "$work/build" >"$work/out.txt" 2>&1 || { echo "tools/demo fails:" && cat "$work/out.txt" && exit 1; }
# Measured as if the build folder were called "build", as it is for those who read this.
sed -i "s|$work/||g" "$work/out.txt"
if [ "$(LC_ALL=C.UTF-8 wc -L <"$work/out.txt")" -gt 80 ]; then
    echo "wider than 80 columns:"
    LC_ALL=C.UTF-8 grep -E '^.{81}' "$work/out.txt"
    exit 1
fi
tail -n 12 "$work/out.txt" | grep -q 'what to try next' || { echo "its last screen does not say what to try next" && exit 1; }
