#!/bin/bash
# Parser, help and man pages agree. Every command of `assay help` has a page, and every page has a command. Every
# option of `assay COMMAND --help`, which is printed from the parser's own table, is in the page with the same
# letter and argument, and vice versa. Help and commands to copy keep to 80 columns, and the pages are well-formed.
set -u
assay=$ASSAY_BUILD/assay
pages=$ASSAY_SOURCE/docs/man
failed=0
complain() {
    echo "$*"
    failed=1
}

commands=$("$assay" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -vx help)
# Studies are commands below a command: "study-rom" here, "study rom" to the user.
studies=$("$assay" study --help | sed -n '/^studies:/,$s/^  \([a-z]*\)  .*/study-\1/p')
[ -n "$commands" ] || complain "assay help lists no commands"
for page in "$pages"/assay-*.1; do
    name=$(basename "$page" .1)
    grep -qx "${name#assay-}" <<<"$commands"$'\n'"$studies" || complain "$name.1 describes a command that does not exist"
done
for command in $commands $studies; do
    words=${command/-/ }
    page=$pages/assay-$command.1
    [ -e "$page" ] || { complain "assay $command has no page"; continue; }
    [ "$words" != "$command" ] || grep -q "^\.It Cm $command\b" "$pages/assay.1" || complain "assay.1 does not mention $command"
    long=$("$assay" $words --help | LC_ALL=C.UTF-8 awk 'length($0) > 80')
    [ -z "$long" ] || complain "assay $words --help is wider than 80 columns:"$'\n'"$long"
    # "-j, --json FILE" from both sides.
    help=$("$assay" $words --help | sed -nE 's/^  +((-[A-Za-z], )?--[a-z-]+( [A-Z]+)?)( .*)?$/\1/p' | sort)
    man=$(sed -nE 's/^\.It (Fl .*)/\1/p' "$page" | sed -E 's/Fl ([A-Za-z]) , /-\1, /; s/Fl Fl /--/; s/ Ar / /' | sort)
    difference=$(diff --label help --label "assay-$command.1" -u <(echo "$help") <(echo "$man")) ||
        complain "$difference"
    summary=$({ "$assay" help; "$assay" study --help; } | sed -n "s/^  ${words#study }  *//p" | head -n 1)
    grep -qxF ".Nd $summary" "$page" || complain "assay-$command.1: .Nd differs from '$summary'"
done

# Formats and plots: the help prints the library's table.
help=$("$assay" report --help | sed -n '/^formats:/,$s/^  \([a-z][a-z-]*\) .*/\1/p' | sort)
man=$(sed -n 's/^\.It Cm //p' "$pages/assay-report.1" | sort)
difference=$(diff --label help --label assay-report.1 -u <(echo "$help") <(echo "$man")) || complain "$difference"

# man breaks a longer line in two, and then it cannot be copied as one command.
long=$(awk '/^\.Dl / && length($0) > 70 { print FILENAME ": " $0 }' "$pages"/*.[13])
[ -z "$long" ] || complain "lines of display wider than 80 columns:"$'\n'"$long"

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$pages"/*.[13] || complain "mandoc -T lint has warnings"
fi
[ $failed = 0 ] && echo "man: $(wc -w <<<"$commands") commands agree with their pages"
exit $failed
