#!/bin/bash
# docs/seed-map.md answers every promise of the seeds, and what it names exists: every symbol in the C column
# in the public headers, every test as a file, with the function in it after the colon. Open may be only what
# comes later: the dashboard, distributed training, experiment trackers, some of the second
# reading, and the Python column.
set -u
cd "$ASSAY_SOURCE" || exit 1
map=docs/seed-map.md
may_be_open=' A17 A18 E7 E10 E11 '
failed=0
complain() {
    echo "$*"
    failed=1
}

# rows: NUMBER<tab>C<tab>Python<tab>command<tab>proven by; "A13–A14" stands for each of them.
rows=$(awk -F ' [|] ' '/^[|] [A-E][0-9]/ {
    sub(/^[|] /, "", $1); sub(/ [|]$/, "", $5)
    count = split($1, ends, "–")
    letter = substr(ends[1], 1, 1)
    last = count > 1 ? substr(ends[2], 2) : substr(ends[1], 2)
    for (i = substr(ends[1], 2) + 0; i <= last + 0; i++)
        printf "%s%d\t%s\t%s\t%s\t%s\n", letter, i, $2, $3, $4, $5
}' $map)

for seed in A:1-21 B:0-14 C:1-15 D:1-17 E:1-12; do
    letter=${seed%%:*} range=${seed#*:}
    for number in $(seq "${range%-*}" "${range#*-}"); do
        name=$letter$number
        row=$(grep -P "^$name\t" <<<"$rows")
        [ -n "$row" ] || { complain "$name has no row in $map"; continue; }
        [ "$(wc -l <<<"$row")" -eq 1 ] || complain "$name has several rows"
        proof=$(cut -f 5 <<<"$row")
        if [ "$proof" = open ]; then
            [[ $may_be_open == *" $name "* ]] || complain "$name is open"
        fi
    done
done

# `assay_name`, `ASSAY_NAME`, `assay_struct.field`, `assay_call(NULL, …)`; assay__names are shared between files.
while read -r symbol; do
    case $symbol in
    assay__*) where='src models studies' ;;
    *) where=include/assay ;;
    esac
    # shellcheck disable=SC2086
    grep -rqw "${symbol%%.*}" $where || complain "$symbol: no such symbol in $where"
    [[ $symbol != *.* ]] || grep -rqw "${symbol#*.}" $where || complain "$symbol: no such field in $where"
done < <(cut -f 2 <<<"$rows" | grep -oE '`(assay|ASSAY)_[A-Za-z0-9_]+(\.[a-z_]+)?' | tr -d '`' | sort -u)

# `assay.module.name` is made in python/assay/module.py, or in the folder of that name.
while read -r name; do
    module=${name#assay.}
    grep -rqE "^(class|def) ${module#*.}\\b" "python/assay/${module%%.*}"* || complain "$name: no such name in Python"
done < <(cut -f 3 <<<"$rows" | grep -oE '`assay\.[a-z_]+\.[A-Za-z_]+' | tr -d '`' | sort -u)

# "tests/unit/test_x.c: test_y; tests/cli/golden/z.sh"
while read -r reference; do
    file=${reference%%:*} function=
    [[ $reference != *": "* ]] || function=${reference#*: }
    if [ ! -e "$file" ]; then
        complain "$reference: no such file"
    elif [ -n "$function" ] && ! grep -qw "$function" "$file"; then
        complain "$reference: no such function"
    fi
done < <(cut -f 5 <<<"$rows" | grep -oE '(tests|bench)/[A-Za-z0-9_/.]+(: [A-Za-z_0-9]+)?' | sort -u)

[ $failed = 0 ] && echo "seed map: $(wc -l <<<"$rows") promises answered"
exit $failed
