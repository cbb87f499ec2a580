#!/bin/bash
# Each example says in its first lines how to compile it, and the command works as it stands there.
set -eu
[ -z "${ASSAY_SANITIZE:-}" ] || { echo "what is compiled here needs the library without sanitizers"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/root"
cp -r "$ASSAY_SOURCE/examples" "$ASSAY_SOURCE/include" "$work/root"
chmod -R u+w "$work/root"
export PKG_CONFIG_PATH=$ASSAY_BUILD

cd "$work/root"
for file in examples/*.c examples/cuda/*.c examples/plugin/*.c; do
    line=$(sed -nE '1,25{s:^ \*  +::p}' "$file" | awk '/^cc / { on = 1 } on { print; on = /\\$/ }' | head -n 2)
    [ -n "$line" ] || { echo "$file does not say how to compile it"; exit 1; }
    line=${line%% &&*}
    line=${line% \*/}
    case "$line" in
    *examples/*) folder=. ;;
    *) folder=$(dirname "$file") ;;
    esac
    (cd "$folder" && bash -c "${line/#cc /cc -Wall -Wextra -Werror }") >"$work/log" 2>&1 || {
        echo "$file says: $line"
        cat "$work/log"
        exit 1
    }
done
