#!/bin/bash
# The tree keeps to its layers, and the check is able to say so when it does not: a copy of the tree and its
# table is spoiled in one way at a time.
set -u
check=$ASSAY_SOURCE/tools/check-layers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
table=docs/architecture.md
failed=0

"$check" "$ASSAY_SOURCE" || failed=1

mkdir "$tree"
(cd "$ASSAY_SOURCE" && find . \( -path './.*' -o -path './build*' \) -prune -o \
    \( -name '*.[ch]' -o -name '*.cc' -o -path "./$table" \) -print0 | xargs -0 cp --parents -t "$tree")
cp "$tree/$table" "$work/table"

complain() { echo "$*"; sed 's/^/    /' "$work/out"; failed=1; }
passes() { # WHAT
    "$check" "$tree" >"$work/out" 2>&1 || complain "refused: $1"
}
refuses() { # WHAT PLACE: the complaint begins with PLACE, a basic regular expression
    if "$check" "$tree" >"$work/out" 2>&1; then
        complain "let pass: $1"
    elif ! grep -q "^$2: " "$work/out" || [ "$(wc -l <"$work/out")" -ne 2 ]; then
        complain "does not name the place, $2, alone: $1"
    fi
}

# A new file FILE with one line, INCLUDE. The folder of FILE is removed again if it was made for it.
allowed() { plant "$@" && passes "$2 in $1"; unplant "$1"; }
forbidden() { plant "$@" && refuses "$2 in $1" "$1:2"; unplant "$1"; }
plant() {
    mkdir -p "$tree/$(dirname "$1")"
    printf '/* text */\n#include %s\n' "$2" >"$tree/$1"
}
unplant() { rm "$tree/$1"; rmdir --ignore-fail-on-non-empty "$tree/$(dirname "$1")"; }

# table_with SED WHAT PLACE: the table edited by SED is refused.
table_with() {
    sed -i "$1" "$tree/$table"
    cmp -s "$work/table" "$tree/$table" && complain "the table is as before: $2"
    refuses "$2" "$3"
    cp "$work/table" "$tree/$table"
}

passes "the copy"
allowed src/clock/new.c '"base/error.h"'
allowed src/clock/new.c '<time.h>'
allowed src/clock/new.c '<sys/time.h>'
allowed src/monitor/new.c '"assay/layout.h"'
allowed src/report/new.c '"assay/growth.h"'
allowed src/interposer/new.c '"instrument/heap_region.h"'
allowed models/pde/new.c '"models/field/mlp.h"'
allowed models/pde/new.c '"assay/model.h"'
allowed studies/rom/new.c '"studies/common/frame.h"'
allowed cli/new.c '<assay/assay.h>'
allowed cli/new.c '"base/nearest.h"'
allowed cli/models/new.c '"studies/rom/study.h"'
allowed python/build/new.c '"models/field/mlp.h"' # pip leaves the files of its build there
allowed tests/unit/new.c '"journal/reader.h"'

# Includes without a folder, wherever the file lies.
forbidden models/pde/new.c '"registry.h"'
forbidden models/pde/new.c '"heat.h"'
forbidden src/clock/new.c '"ticks.h"'
forbidden studies/rom/new.c '"data.h"'
forbidden models/pde/new.c 'REGISTRY_HEADER'
forbidden cli/new.c '"launch.h"'
forbidden cli/models/new.c '"model_job.h"'
forbidden bench/new.c '"draw.h"'
forbidden tests/unit/new.c '"stats_fixture.h"'

# Folders that the table does not permit.
forbidden src/base/new.c '"clock/ticks.h"'
forbidden src/interposer/new.c '"instrument/heap.h"'
forbidden src/record/new.c '"journal/layout.h"'
forbidden src/analyze/new.c '"report/table.h"'
forbidden src/analyze/new.c '"models/registry.h"'
forbidden src/stats/new.c '"assay/clock.h"'
forbidden src/journal/new.c '<assay/record.h>'
forbidden src/monitor/new.c '"assay/assay.h"'
forbidden models/kernel/new.c '"models/pde/heat.h"'
forbidden models/kernel/new.c '"models/registry.h"'
forbidden models/new.c '"monitor/state.h"'
forbidden models/new.c '<monitor/state.h>'
forbidden models/new.c '"assay/monitor.h"'
forbidden studies/rom/new.c '"stats/fit.h"'
forbidden studies/rom/new.c '"base/file.h"'
forbidden studies/rom/new.c '"studies/routes/train.h"'
forbidden studies/common/new.c '"assay/model.h"'
forbidden cli/new.c '"record/codec.h"'
forbidden cli/new.c '"base/error.h"'
forbidden cli/new.c '"models/registry.h"'
forbidden cli/new.c '"studies/profile/profile.h"'
forbidden cli/new.c '"cli/models/study.h"'
forbidden cli/models/new.c '"models/registry.h"'
forbidden cli/common/new.c '"cli/launch.h"'
forbidden examples/new.c '"base/buffer.h"'
forbidden tests/cli/new.c '"monitor/state.h"'
forbidden tests/cli/new.c '"../../src/monitor/state.h"'
forbidden tests/cli/new.c '"nowhere/state.h"'
forbidden tests/cli/new.c '"assay/nowhere.h"'

# What a public header includes.
sed -i '1i #include "assay/monitor.h"' "$tree/include/assay/stats.h"
refuses "the monitor in stats.h" include/assay/stats.h:1
sed -i '1s/.*/#include "base\/error.h"/' "$tree/include/assay/stats.h"
refuses "insides in stats.h" include/assay/stats.h:1
sed -i 1d "$tree/include/assay/stats.h"

# A table that the tree does not follow.
plant src/utils/new.c '<stdio.h>'
refuses "a folder that is not in the table" src/utils/new.c
unplant src/utils/new.c
plant include/assay/unowned.h '<stdio.h>'
refuses "a public header that nobody owns" include/assay/unowned.h
unplant include/assay/unowned.h
table_with '/^| `src\/stats`/s/| stats |/| stats, clock |/' "a public header with two owners" "$table:[0-9]*"
table_with '/^| `src\/stats`/s/| stats |/| stats, gone |/' "a public header that is gone" "$table:[0-9]*"
table_with '/^| `src\/stats`/a | `src/gone` | – | – | nothing |' "a row without a folder" "$table:[0-9]*"
table_with '/^| `src\/stats`/s/| base |/| base, clock |/' "a permission that nobody uses" "$table:[0-9]*"
table_with '/^| `src\/stats`/s/| base |/| base, gone |/' "a permission of a folder that is gone" "$table:[0-9]*"
table_with '/^| `src\/stats`/s/| base |/| base, `base\/gone.h` |/' "a permission of a header that is gone" "$table:[0-9]*"
table_with '/^| `src\/stats`/{p;}' "a second row for a folder" "$table:[0-9]*"
exit $failed
