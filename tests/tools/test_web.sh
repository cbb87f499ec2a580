#!/bin/bash
# The TypeScript of the page is typed strictly, formatted and linted, and its lock file names no registry.
set -u
cd "$ASSAY_SOURCE/web" || exit 1
if grep -n '"resolved"' package-lock.json; then
    echo "package-lock.json names where packages were fetched from; web/.npmrc omits that"
    exit 1
fi
if [ ! -e node_modules/typescript/package.json ] || ! command -v node >/dev/null; then
    echo "web/node_modules is not there (npm ci in web/)"
    exit 77
fi
node_modules/.bin/tsc --noEmit && node_modules/.bin/biome ci --error-on-warnings --colors=off .
