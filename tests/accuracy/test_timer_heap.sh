#!/bin/bash
# Timers that track memory give exact heap figures when the interposer is there: 64 MB allocated, touched
# and freed are a peak of 64 MB, whatever the process held before.
set -eu
heap=$ASSAY_BUILD/lib/libassay_heap.so
[ -e "$heap" ] || { echo "libassay_heap.so was not built"; exit 77; }
LD_PRELOAD=$heap "$ASSAY_BUILD/tests/unit/test_facade_timers"
