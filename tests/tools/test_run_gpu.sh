#!/bin/bash
# tools/run-gpu with programs of our own in place of the tests and benchmarks: one passes, one fails, one hangs, one is
# skipped, one misses its bar. Nothing here needs a GPU.
set -u
source=${ASSAY_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p build/lib build/python build/tests/unit build/bench/models
program() {
    printf '#!/bin/sh\n%s\n' "$2" >"build/$1"
    chmod +x "build/$1"
}
program tests/unit/test_cuda_models 'echo passed; test "$ASSAY_REAL_CUDA" = 1'
program tests/unit/test_cuda_road 'echo broken >&2; exit 1'
program bench/models/cuda 'echo "{\"name\": \"slow\", \"value\": 3, \"unit\": \"x\", \"bar\": 1, \"ok\": false}"; exit 1'
program bench/gpu_stream 'echo "{\"name\": \"early\", \"value\": 1, \"unit\": \"x\", \"bar\": null, \"ok\": true}"; exec sleep 60'
program python3 'echo "no PyTorch, or no GPU here"; exit 77'

failed=0
check() { # WHAT EXPECTED FOUND
    [ "$2" = "$3" ] || { echo "$1: expected '$2', found '$3'"; failed=1; }
}
begin=$SECONDS
ASSAY_GPU_SECONDS=10 ASSAY_PYTHON=$work/build/python3 "$source/tools/run-gpu" build out/here >lines 2>errors
check "exit status" 1 $?
[ $((SECONDS - begin)) -lt 60 ] || { echo "the limit was not kept"; failed=1; }
check "rows" "unit/test_cuda_models true|unit/test_cuda_road false|slow false|early true|gpu_stream false|" \
    "$(sed -nE 's/.*"name": "([^"]*)".*"ok": (true|false).*/\1 \2|/p' out/here/rows.jsonl | tr -d '\n')"
check "the same on stdout" "" "$(grep '^{' lines | diff - out/here/rows.jsonl)"
check "summary" "5 figures, 3 missed or failed, 3 programs skipped" "$(sed -n 's/, in .*//p' out/here/summary.txt)"
check "a skipped program" "gpu_loops: no PyTorch, or no GPU here" "$(grep loops out/here/skipped)"
check "what a test printed" broken "$(cat out/here/unit-test_cuda_road.err)"

for name in tests/unit/test_cuda_models tests/unit/test_cuda_road bench/models/cuda bench/gpu_stream; do
    program $name 'exit 77'
done
ASSAY_PYTHON=$work/build/python3 "$source/tools/run-gpu" build out >lines 2>&1
check "exit status if everything is skipped" 77 $?
"$source/tools/run-gpu" nowhere out 2>/dev/null
check "exit status for a folder that is not there" 64 $?
exit $failed
