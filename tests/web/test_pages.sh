#!/bin/bash
# Pages of records and of a history in Debian's Chromium: test_pages.sh [--update]
#
# The records are fixed (records/, trim-record.mjs), so that figures and pictures do not change from run to run.
# --update takes new golden pictures; look at them before you commit them.
set -u
[ -z "${ASSAY_SANITIZE:-}" ] || { echo "pages are not for sanitizers"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
assay=${ASSAY_BUILD:?}/assay
command -v node >/dev/null || { echo "node is missing"; exit 77; }
"$assay" doctor --json - | grep -A3 '"key": "pages"' | grep -q '"ok"' || { echo "assay was built without pages (npm ci in web/)"; exit 77; }
fc-list 2>/dev/null | grep -q DejaVuSans.ttf || { echo "fonts-dejavu-core is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work/data TZ=UTC
unset ASSAY_HISTORY ASSAY_MACHINE
node "$here/make-records.mjs" "$work" || exit 1

# page NAME RECORD... [made/comparison.json]: the page, and the documents that it shows.
page() {
    local name=$1
    shift
    "$assay" report $(printf "%s\n" "$@" | grep -v comparison) --html "$work/$name.html" || exit 1
    node -e 'const { readFileSync: read } = require("fs");
        console.log(JSON.stringify(process.argv.slice(1).map((it) => JSON.parse(read(it, "utf8")))));' "$@" >"$work/$name.json"
}
cd "$here/records" || exit 1
for name in *.json; do
    page "${name%.json}" "$name"
done
cd "$work" || exit 1
page hostile made/hostile.json
if "$assay" report made/longer.json --html longer.html 2>said || [ -e longer.html ] || ! grep -q '1048576 bytes of text' said; then
    echo "a name of a megabyte: $(cut -c 1-200 said)"
    exit 1
fi
page timeline made/timeline.json
page version1 made/version1.json
"$assay" compare made/before.json made/after.json --json made/comparison.json >/dev/null
page several made/before.json made/after.json made/comparison.json
"$assay" history import made/runs.jsonl >/dev/null || exit 1
"$assay" history show --html "$work/history.html" || exit 1
# the page's own data are the documents of a history: what --json says is compared with them below
node "$here/history-data.mjs" "$work/history.html" "$("$assay" history show --json -)" >"$work/history.json" || exit 1
"$assay" report made/timeline.json --trace timeline.trace || exit 1
node "$here/timeline.mjs" "$work" || exit 1
node "$here/pages.mjs" "$work" ${1+"$1"}
