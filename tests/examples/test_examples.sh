#!/bin/bash
# Every example runs, ends well within its time and prints what it is an example of.
set -eu
bin=$ASSAY_BUILD/examples
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# shows NAME PATTERN...: run it; each extended regular expression must match a line.
shows() {
    name=$1
    shift
    if ! timeout 60 "$bin/$name" >"$output" 2>&1; then
        echo "examples/$name failed:" && cat "$output" && exit 1
    fi
    for pattern; do
        if ! grep -Eq "$pattern" "$output"; then
            echo "examples/$name does not print /$pattern/:" && cat "$output" && exit 1
        fi
    done
}

number='[0-9.e+-]+'
row="^.{31} *$number +(n/a|[+-]$number) +n/a +n/a\$"
shows basic '^PERFORMANCE SUMMARY$' "^data loading .*$number +\\+[0-9.]+ " "$row" '^TOTAL '
shows aggregated '^AGGREGATE STATISTICS' '^batch_forward +1500 ' '^batch_backward +1500 ' \
    '^weight (1\.9|2\.0)'
shows scope "^\\[Performance\\] allocate and sieve: ${number}s, CPU [+-][0-9.]+MB\$" '1999993$'
shows function_scope "^\\[Performance\\] data processing: ${number}s" '^mean +300 '
shows bottleneck '^⚠️  BOTTLENECK: data_loading \([0-9.]+%\)$' '^⚠️  High variance \([0-9.]+x\)' \
    '^ +- use more loader workers$' '^Optimal batch size: [0-9]+ \(' '^SPEEDUP ANALYSIS$'
shows benchmark '^naive$' '^unrolled$' "^  mean +$number [mµn]s ± $number %" '^  samples .*iterations; ' \
    '^naive +unrolled .*(faster|slower|same|inconclusive)$'
shows training_loop "^  Batch 0: ${number}s, CPU [0-9.]+MB, loss=0\\.[0-9]{6}\$" \
    "^  Epoch end: ${number}s total, CPU " "^  Batch timing: avg=${number}s, min=${number}s, max=" \
    '^epoch ' '^  batch ' '^    forward ' '^batch +150 '

# The loss falls from epoch to epoch.
if ! awk '/mean loss/ { if (n++ && $3 >= last) exit 1; last = $3 } END { exit n != 5 }' "$output"; then
    echo "the training loop's loss does not fall:" && cat "$output" && exit 1
fi

# Every example is run here.
for source in "$ASSAY_SOURCE"/examples/*.c; do
    name=$(basename "$source" .c)
    grep -q "^shows $name " "$0" || { echo "examples/$name.c is not tested" && exit 1; }
done
