#!/bin/bash
# Every file that a Markdown document links to is there, and so is the heading behind a '#'. Every source file that a
# document names in backticks is there too.
set -u
cd "$ASSAY_SOURCE" || exit 1
failed=0
complain() {
    echo "$*"
    failed=1
}

# The anchors of a document's headings, as GitHub makes them.
anchors() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g'
}

while IFS=: read -r document link; do
    target=$document
    [ "${link%%#*}" = "" ] || target=$(dirname "$document")/${link%%#*}
    if [ ! -e "$target" ]; then
        complain "$document links to $link, which is not there"
    elif [[ $link = *#* ]] && ! anchors "$target" | grep -qxF -- "${link#*#}"; then
        complain "$document links to $link, but the page has no such heading"
    fi
done < <(git ls-files '*.md' | xargs grep -oH '](\([^)]*\))' | sed 's/](//; s/)$//' | grep -v ':https\?:')

folders=$(git ls-files | sed -n 's|/.*||p' | sort -u | paste -sd '|')
while IFS=: read -r document file; do
    [ -e "$file" ] || compgen -G "$file.*" >/dev/null || [ -e "python/assay/compat/$file" ] ||
        complain "$document names $file, which is not there"
done < <(git ls-files '*.md' '*.[13]' | xargs grep -oHE "\`($folders)/[A-Za-z0-9_/-]+(\.[a-z]+)?[\` ]" |
    tr -d '\` ' | grep -v NAME)
exit $failed
