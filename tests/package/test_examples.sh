#!/bin/bash
# Every program of examples/ runs, succeeds and shows something.
set -u
failed=0
for source in "$ASSAY_SOURCE"/examples/*.c; do
    program=$ASSAY_BUILD/examples/$(basename "$source" .c)
    if ! output=$("$program" 2>&1) || [ -z "$output" ]; then
        echo "$program failed, or printed nothing: $output"
        failed=1
    fi
done
exit $failed
