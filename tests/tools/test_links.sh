#!/bin/bash
# Every file that a Markdown document links to is there.
set -u
cd "$ASSAY_SOURCE" || exit 1
failed=0
while IFS=: read -r document link; do
    target=$(dirname "$document")/${link%%#*}
    if [ ! -e "$target" ]; then
        echo "$document links to $link, which is not there"
        failed=1
    fi
done < <(git ls-files '*.md' | xargs grep -oH '](\([^)]*\))' | sed 's/](//; s/)$//' |
    grep -v ':\(https\?\|#\)')
exit $failed
