#!/bin/bash
# The README keeps what it shows, in 900 words:
#  - The C example compiles with the command given there, against the build folder, without a warning; it
#    runs, and prints the tables that it promises.
#  - The Python example runs by Debian's Python, if the package was built.
#  - The command on the first screen runs and shows the lines and the operations of the sample output.
#  - Every command of the table of commands has a help page.
set -eu
readme=$ASSAY_SOURCE/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "README.md: $1"
    [ $# -lt 2 ] || cat "$2"
    exit 1
}

# block LANGUAGE: the first fenced block of that language.
block() {
    awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```$/ && inside { exit } inside' "$readme"
}

words=$(wc -w <"$readme")
[ "$words" -le 900 ] || fail "$words words, more than 900"

cd "$work"
block c >app.c
grep -q ASSAY_TRACK app.c || fail "no C example"
grep -qF 'cc app.c $(pkg-config --cflags --libs assay)' "$readme" || fail "no word on how to compile the example"
PKG_CONFIG_PATH=$ASSAY_BUILD
export PKG_CONFIG_PATH
cc -Wall -Wextra -Werror app.c $(pkg-config --cflags --libs assay)
./a.out >out.txt
for expected in 'AGGREGATE STATISTICS' forward backward; do
    grep -q "$expected" out.txt || fail "no '$expected' in the output of the C example:" out.txt
done
for operation in forward backward; do
    grep -qE "^$operation +[0-9.]+ +[+-][0-9.]+ " out.txt || fail "no memory of '$operation':" out.txt
done

if PYTHONPATH=$ASSAY_BUILD/python /usr/bin/python3 -c 'import assay' 2>/dev/null; then
    block python >app.py
    PYTHONPATH=$ASSAY_BUILD/python /usr/bin/python3 app.py >out.txt 2>&1 || fail "the Python example fails:" out.txt
    grep -qE '^ *forward +2 ' out.txt || fail "no 'forward' in the output of the Python example:" out.txt
fi

block console >screen.txt
command=$(sed -n 's/^\$ assay //p' screen.txt)
[ -n "$command" ] || fail "no command on the first screen"
"$ASSAY_BUILD/assay" ${command//build\//$ASSAY_BUILD/} >out.txt 2>&1 || fail "the command of the first screen fails:" out.txt
# The label of a line is followed by two spaces or more, or by the count of an operation.
sed -nE 's/^( *[a-z_]+( [a-z]+)*)  +.*/\1/p' screen.txt | while read -r label; do
    grep -qE "^ *$label  +" out.txt || fail "the first screen shows '$label', the command does not:" out.txt
done

named=$(grep -oE '^\| `assay [a-z]+' "$readme" | sed 's/.*assay //')
[ -n "$named" ] || fail "no table of commands"
for command in $named; do
    "$ASSAY_BUILD/assay" help "$command" >/dev/null || fail "there is no assay $command"
done
