#!/bin/bash
# Golden tests of the command: tests/cli/run.sh BUILD_DIR [--update] [NAME...]
# Each golden/NAME.sh is run in an empty directory and what it prints is compared with golden/NAME.out;
# --update writes the .out files instead. A script that exits 77 is skipped.
#
# For the scripts: $ASSAY is the command, $SUBJECTS the folder of the programs to measure, and
#   $TERMINAL      terminal.py of this folder, which is in Python's path too: a command on a terminal
#   show ARGS...   print "$ assay ARGS", what it prints on both streams, and its exit status
#   $FIGURE        a number however it is written, as an extended regular expression of sed
#   mask           figures become '#', with their units "#s" and "#B"; runs of blanks become one;
#                  commands, results and exit statuses stay
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR [--update] [NAME...]}" && pwd)
shift
update=
[ "${1:-}" = --update ] && update=yes && shift

command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
export ASSAY=$build/assay SUBJECTS=$build/tests/cli
export LC_ALL=C.UTF-8 NO_COLOR=1
export TERMINAL=$here/terminal.py PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
unset ASSAY_JOURNAL_DIR ASSAY_TRACE_EVENTS ASSAY_HEAP_DIR ASSAY_HISTORY ASSAY_MACHINE
show() {
    local status=0
    echo "\$ assay $*"
    "$ASSAY" "$@" 2>&1 || status=$?
    echo "exit $status"
}
export FIGURE='\b[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?'
mask() {
    sed -E -e '/^(\$|exit|result) /b' -e "s/$FIGURE\b/#/g" -e 's/# (ns|µs|ms|s)\b/#s/g' \
        -e 's/# ([KMG]i)?B\b/#B/g' -e 's/  +/ /g' -e 's/--+/--/g'
}
export -f show mask

names=("$@")
[ ${#names[@]} -gt 0 ] || names=($(cd "$here/golden" && ls *.sh | sed 's/\.sh$//'))
for name in "${names[@]}"; do
    [ -e "$here/golden/$name.sh" ] || { echo "run.sh: there is no golden/$name.sh" >&2; exit 64; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
# Nothing in the models runs beside anything else, and under the thread sanitizer they take minutes.
if [ "${ASSAY_SANITIZE:-}" = thread ]; then
    kept=()
    for name in "${names[@]}"; do
        [[ $name =~ ^(model|profile|study) ]] || kept+=("$name")
    done
    names=("${kept[@]}")
fi
for name in "${names[@]}"; do
    mkdir "$work/$name"
    status=0
    (cd "$work/$name" && TMPDIR=$work/$name timeout 120 bash "$here/golden/$name.sh") >"$work/$name.got" 2>"$work/$name.err" ||
        status=$?
    expected=$here/golden/$name.out
    if [ $status = 77 ]; then
        echo "skipped $name: $(tail -n 1 "$work/$name.got")"
        skipped=$((skipped + 1))
    elif [ -n "$update" ]; then
        cp "$work/$name.got" "$expected"
        echo "updated $name"
    elif [ $status = 0 ] && diff -u --label "$name.out" --label "$name now" "$expected" "$work/$name.got"; then
        passed=$((passed + 1))
    else
        echo "FAILED $name (exit $status)"
        cat "$work/$name.err"
        failed=$((failed + 1))
    fi
done
[ -n "$update" ] || echo "cli: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
