#!/bin/bash
# The tree keeps to its layers, and the check is able to say so when it does not: a small tree is
# spoiled in one way at a time.
set -u
check=$ASSAY_SOURCE/tools/check-layers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

"$check" "$ASSAY_SOURCE" || failed=1

# put FILE INCLUDE: a fresh tree with one file holding one include.
put() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/$(dirname "$1")"
    printf '/* text */\n#include %s\n' "$2" >"$work/tree/$1"
}
allowed() {
    put "$1" "$2"
    "$check" "$work/tree" >"$work/out" 2>&1 || { echo "refused: $2 in $1"; cat "$work/out"; failed=1; }
}
forbidden() {
    put "$1" "$2"
    if "$check" "$work/tree" >"$work/out" 2>&1; then
        echo "let pass: $2 in $1"
        failed=1
    elif ! grep -q "^$1:2: " "$work/out"; then
        echo "does not name the place: $2 in $1"
        failed=1
    fi
}

allowed src/clock/ticks.c '"base/error.h"'
allowed src/clock/ticks.c '<time.h>'
allowed src/monitor/span.c '"assay/journal.h"'
allowed src/report/table.c '"assay/analyze.h"'
allowed include/assay/record.h '"assay/reading.h"'
allowed include/assay/assay.h '"assay/facade.h"'
allowed cli/main.c '<assay/assay.h>'
allowed cli/main.c '"options.h"'
allowed models/lstm.c '"base/random.h"'
allowed src/interposer/count.c '"instrument/heap_region.h"'

forbidden src/interposer/count.c '"instrument/heap.h"'
forbidden src/base/error.c '"clock/ticks.h"'
forbidden src/stats/sketch.c '"assay/clock.h"'
forbidden src/record/codec.c '"journal/layout.h"'
forbidden src/journal/reader.c '"assay/record.h"'
forbidden src/analyze/profile.c '<assay/monitor.h>'
forbidden src/analyze/profile.c '"report/table.h"'
forbidden src/monitor/span.c '"assay/assay.h"'
forbidden src/clock/ticks.c '"ticks.h"'
forbidden include/assay/clock.h '"base/error.h"'
forbidden include/assay/stats.h '"assay/monitor.h"'
forbidden cli/main.c '"record/codec.h"'
forbidden examples/basic.c '"base/buffer.h"'
forbidden models/lstm.c '"assay/monitor.h"'
forbidden tests/cli/helper.c '"monitor/thread.h"'

put src/utils/misc.c '<stdio.h>'
if "$check" "$work/tree" >/dev/null; then
    echo "let pass: a folder that is not in the table"
    failed=1
fi
exit $failed
