#!/bin/bash
# The records that this build writes conform to docs/record.schema.json. The check itself is tested too: a
# record with a wrong type, an undocumented key or a missing key does not conform.
set -eu
check() { /usr/bin/python3 "$ASSAY_SOURCE/tests/accuracy/check_record_schema.py" "$@"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

ASSAY_RECORD_SAMPLES=$folder "$ASSAY_BUILD/tests/unit/test_record" >"$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }
if [ -x "$ASSAY_BUILD/assay" ]; then
    "$ASSAY_BUILD/assay" run --json "$folder/run.json" -- true >"$folder/log" 2>&1 ||
        { cat "$folder/log"; exit 1; }
fi
if [ -x "$ASSAY_BUILD/tests/cli/subject_gpu" ]; then
    LD_LIBRARY_PATH=$ASSAY_BUILD/tests/fake "$ASSAY_BUILD/assay" run --gpu --trace "$folder/trace" --json "$folder/gpu.json" -- \
        "$ASSAY_BUILD/tests/cli/subject_gpu" profiles >"$folder/log" 2>&1 && grep -q '"unseen": "from' "$folder/gpu.json" ||
        { cat "$folder/log"; exit 1; }
fi
check "$folder"/*.json || exit $?

must_fail() { # name, sed expression
    sed "$2" "$folder/full.json" >"$folder/broken.json"
    ! cmp -s "$folder/full.json" "$folder/broken.json" || { echo "$1: nothing was changed"; exit 1; }
    ! check "$folder/broken.json" >/dev/null || { echo "$1: was accepted"; exit 1; }
}
must_fail "wrong type" 's/"wall_seconds": .*,/"wall_seconds": "long",/'
must_fail "undocumented key" 's/"wall_seconds": /"new_key": 1, &/'
must_fail "missing key" '/"total_seconds": /d'
must_fail "unknown reason" 's/"not permitted"/"not today"/'
must_fail "not a number" 's/"user_seconds": .*,/"user_seconds": NaN,/'
echo "broken records are refused"
