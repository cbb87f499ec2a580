#!/bin/bash
# Timers that track memory give exact heap figures if the interposer is loaded: 64 MB that are allocated, touched
# and freed give a peak of 64 MB, however much the process held before.
set -eu
heap=$ASSAY_BUILD/lib/libassay_heap.so
[ -e "$heap" ] || { echo "libassay_heap.so was not built"; exit 77; }
LD_PRELOAD=$heap "$ASSAY_BUILD/tests/unit/test_facade_timers"
