#!/bin/bash
# Completion: every command and option of the help is offered, and the functions for bash and zsh turn them into what
# the shell expects. bash runs the function as it does at the Tab key, with COMP_WORDS and COMP_CWORD set; zsh runs it
# with the calls of its completion system replaced by calls that print.
set -u
export LC_ALL=C
assay=$ASSAY_BUILD/assay
folder=$ASSAY_SOURCE/cli/completions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir 'a folder'
touch 'a record.json' another.csv
failed=0
same() { # what, expected, got
    [ "$2" = "$3" ] && return
    echo "$1: expected '$2', got '$3'"
    failed=1
}

commands=$("$assay" help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
same "commands" "$commands" "$("$assay" complete '' | cut -f 1)"
studies=$("$assay" study --help | sed -n '/^studies:/,$s/^  \([a-z]*\)  .*/study \1/p')
while read -r words; do
    [ "$words" != help ] || continue
    help=$("$assay" $words --help | sed -nE 's/^  +(-[A-Za-z], )?(--[a-z-]+)( .*)?$/\2/p' | sort)
    same "options of $words" "$help" "$("$assay" complete $words -- | cut -f 1 | sort)"
done <<<"$commands"$'\n'"$studies"

# The words, the last of them under the cursor; its candidates on one line.
in_bash() {
    bash --norc -c '
        source "$0/assay.bash"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        compopt() { :; }
        _assay
        printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" "|"' "$folder" "$assay" "$@"
}
check_bash() { # expected, words...
    local expected=$1
    shift
    same "bash: assay $*" "$expected" "$(in_bash "$@")"
}
check_bash 'bench|' be
check_bash 'model|' help mo
check_bash '--json|' run --js
check_bash '--num-runs|' profile --num_r
check_bash 'csv|csv-samples|csv-spans|' report --format cs
check_bash 'csv|csv-samples|csv-spans|' report --format = cs
check_bash 'a folder|a record.json|' report 'a '
check_bash 'a record.json|' run --json 'a r'
check_bash 'a folder|' study rom --out a
check_bash 'mvar|' model eval --model mv
check_bash '--activation|' model eval --model mlp --act
check_bash 'tanh|' model eval --model mlp --activation = ta
check_bash 'rom|routes|' study ro
check_bash 'another.csv|' run --quiet -- cat anot
check_bash 'another.csv|' bench cat anot
check_bash '|' doctor ''
same "the second command of bench" ':command 6' "$("$assay" complete bench -q -- gzip f -- zstd)"
same "a command that has '--' itself" ':command 3' "$("$assay" complete run -q -- git log -- x)"
check_bash '|' nonsense ''
in_bash run -- bas | grep -q 'bash|' || same "bash: assay run -- bas" 'bash|' "$(in_bash run -- bas)"
# A program with a completion of its own is asked for it.
same "bash: the command's own completion" 'offset 3|' "$(_command_offset() { COMPREPLY=("offset $1"); }
    export -f _command_offset; in_bash run -q git che)"

if ! command -v zsh >/dev/null; then
    echo "zsh is missing"
    [ $failed = 0 ] && exit 77
    exit 1
fi
in_zsh() {
    zsh -f -c '
        compset() { :; }
        _files() { print -r -- "files $*"; }
        _normal() { print -r -- "normal $CURRENT $words"; }
        _describe() { print -rl -- "${(@P)2}"; }
        words=("${@[2,-1]}") CURRENT=$(($# - 1))
        source "$1/_assay"' zsh "$folder" "$assay" "$@"
}
check_zsh() { # expected, words...
    local expected=$1
    shift
    same "zsh: assay $*" "$expected" "$(in_zsh "$@")"
}
check_zsh 'fit:tell how a time grows with a size' fi
check_zsh 'markdown:tables of subjects and comparisons' report --format m
check_zsh '--format=markdown:tables of subjects and comparisons' report --format=m
check_zsh 'files ' run --json x
check_zsh 'files -/' study rom --out x
check_zsh 'normal 2 git che' run -q -- git che
check_zsh 'relu:' model eval --model mlp --activation re
check_zsh '' doctor x
[ $failed = 0 ] && echo "completion: bash and zsh offer what the help says"
exit $failed
