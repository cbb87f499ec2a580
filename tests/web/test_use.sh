#!/bin/bash
# Tables, tree and colours of the page answer to mouse and keyboard.
set -u
[ -z "${ASSAY_SANITIZE:-}" ] || { echo "pages are not for sanitizers"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
assay=${ASSAY_BUILD:?}/assay
command -v node >/dev/null || { echo "node is missing"; exit 77; }
"$assay" doctor --json - | grep -A3 '"key": "pages"' | grep -q '"ok"' || { echo "assay was built without pages (npm ci in web/)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node - >"$work/use.json" <<'NODE'
const operations = [];
for (let i = 0; i < 600; i++) {
    const total = i === 0 ? 1000 : 400 / i;
    operations.push({
        name: i === 0 ? "root" : `operation ${i}`, parent: i === 0 ? null : Math.floor(i / 8), count: 10 + i,
        total_seconds: total, self_seconds: total / 2, samples_dropped: 0,
        buckets: [[total / 20, 3], [total / 10, 6 + i], [total / 5, 1]], samples_seconds: [],
    });
}
console.log(JSON.stringify({ schema: "assay-record", version: 2, kind: "monitor", total_seconds: 1000, operations }));
NODE
"$assay" report "$work/use.json" --html "$work/use.html" || exit 1
node "$here/use.mjs" "$work"
