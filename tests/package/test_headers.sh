#!/bin/bash
# Each public header compiles alone, without a warning, as C11 and as C++17, with every compiler here.
# Functions and macros defined in a header must also survive being used: see test_install.sh.
set -u
failed=0

check() { # compiler, language, standard, header
    local unit="#include <assay/$4>"
    if ! printf '%s\n' "$unit" "$unit" | "$1" -x "$2" -std="$3" -Wall -Wextra -Wshadow -Wconversion \
        -Werror -pedantic -Wno-variadic-macros -fsyntax-only -I"$ASSAY_SOURCE/include" -; then
        echo "assay/$4 is not clean as $3 with $1"
        failed=1
    fi
}

for path in "$ASSAY_SOURCE"/include/assay/*.h; do
    header=$(basename "$path")
    for compiler in gcc clang; do
        command -v $compiler >/dev/null && check $compiler c gnu11 "$header"
    done
    for compiler in g++ clang++; do
        command -v $compiler >/dev/null && check $compiler c++ gnu++17 "$header"
    done
done
exit $failed
