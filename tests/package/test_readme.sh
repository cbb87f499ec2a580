#!/bin/bash
# The C example of the README compiles with the command given there, against the build folder, without
# a warning; it runs, and prints the table it promises.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$ASSAY_SOURCE/README.md" \
    >"$work/app.c"
grep -q ASSAY_TRACK "$work/app.c" || { echo "README.md has no C example"; exit 1; }
grep -qF 'cc app.c $(pkg-config --cflags --libs assay)' "$ASSAY_SOURCE/README.md" ||
    { echo "README.md does not show how to compile it"; exit 1; }

export PKG_CONFIG_PATH=$ASSAY_BUILD
cd "$work"
cc -Wall -Wextra -Werror app.c $(pkg-config --cflags --libs assay)
./a.out >out.txt
for expected in 'AGGREGATE STATISTICS' forward backward; do
    grep -q "$expected" out.txt || { echo "no '$expected' in its output:"; cat out.txt; exit 1; }
done
for operation in forward backward; do
    grep -qE "^$operation +[0-9.]+ +[+-][0-9.]+ " out.txt ||
        { echo "no memory of '$operation':"; cat out.txt; exit 1; }
done
