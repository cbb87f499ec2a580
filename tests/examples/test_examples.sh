#!/bin/bash
# Every example runs, ends well within its time, and prints what it is an example of; figures that
# belong together agree.
set -eu
bin=$ASSAY_BUILD/examples
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

# run NAME ARGUMENT...: run it; what it prints goes to $output.
run() {
    name=$1
    shift
    if ! timeout 60 "$bin/$name" "$@" >"$output" 2>&1; then
        echo "examples/$name $* failed:" && cat "$output" && exit 1
    fi
}

# prints PATTERN...: each extended regular expression must match a line.
prints() {
    for pattern; do
        if ! grep -Eq "$pattern" "$output"; then
            echo "examples/$name does not print /$pattern/:" && cat "$output" && exit 1
        fi
    done
}

# shows NAME PATTERN...: both, without arguments.
shows() {
    run "$1"
    shift
    prints "$@"
}

# agree WHAT PROGRAM: an awk program over the output that exits with 0 if the figures agree.
# near(a, b, t): a and b differ by t at most; wrong(): they do not agree, whatever END says.
agree() {
    if ! LC_ALL=C awk "function near(a, b, t) { return a - b <= t && b - a <= t }
        function wrong() { failed = 1; exit 1 } END { if (failed) exit 1 } $2" "$output"; then
        echo "examples/$name: $1:" && cat "$output" && exit 1
    fi
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
agree 'the loss does not fall from epoch to epoch' \
    '/mean loss/ { if (n++ && $3 >= last) wrong(); last = $3 } END { exit n != 5 }'

# Timers: what stands at the top adds up; what ran inside another is part of it.
shows timing '^memory: (exact heap|resident memory)$' "^sort complete: ${number}s total\$" \
    "^find gap complete: ${number}s, GPU" "^analysis complete: ${number}s, peak memory: [0-9.]+ MB\$" \
    '^TIMING SUMMARY - Sorting$' '^    numbers +400000$' '^    peak_memory_bytes +[0-9]+$'
agree 'the times do not add up' '/ s$/ { seconds[$1] = $(NF - 1) } END {
    exit !(near(seconds["make"] + seconds["analysis"] + seconds["download"], seconds["all"], 3e-6) &&
           seconds["sort"] + seconds["find"] <= seconds["analysis"] + 3e-6 && seconds["download"] == 0.25) }'
[ ! -e timing.csv ] || { echo "examples/timing writes where it was not told to" && exit 1; }
run timing "$work"
[ "$(head -n 1 "$work/timing.csv")" = 'Section,Model,Time (s)' ] && [ "$(wc -l <"$work/timing.csv")" = 6 ] ||
    { echo "examples/timing: the CSV file is not as it should be:" && cat "$work/timing.csv" && exit 1; }
grep -q '"peak_memory_mb"' "$work/timing.json" && grep -q '"inside": "analysis"' "$work/timing.json" ||
    { echo "examples/timing: the JSON file is not as it should be:" && cat "$work/timing.json" && exit 1; }

shows speedup '^primes below 30000: 3245, 3245, 3245$' '^SPEEDUP ANALYSIS$' '^Baseline: division ' \
    '^primes +: +[0-9.]+x (faster|slower|as fast) \([0-9.]+x … [0-9.]+x\)$' \
    '^  Verdict: (faster|slower|same|inconclusive)'
agree 'ratios, times and the best one disagree' '
    / times as fast as / { time[$1] = $2; ratio[$1] = $4; baseline = $NF }
    /^best: / { best = $2 }
    END { for (name in time) {
              rows++
              if (!near(ratio[name], time[baseline] / time[name], 0.02 * ratio[name])) wrong()
              if (time[name] > time[baseline] || time[name] < time[best]) wrong()
          }
          exit rows != 3 }'

shows phases '^Pendulums - Detailed Breakdown:$' '^  forces +: +[0-9.e-]+s \( *[0-9.]+%\)$' '^4 phases, '
agree 'the shares do not add up to 100 %' \
    '/%\)$/ { sub(/%\)$/, ""); sum += $NF; rows++ } END { exit !(rows == 4 && near(sum, 100, 0.3)) }'
agree 'the pendulums gained or lost energy' \
    '/^mean energy/ { sub(",", "", $3); kept = near($3, $NF, 0.01) } END { exit !kept }'

shows inference '^MLP \(1 row a call\) Inference Benchmark:$' '^MLP \(1024 rows a call\) Inference' \
    '\(100 calls\)$' '\(200 calls\)$'
agree 'latencies and throughputs disagree' '
    /Mean latency/ { mean = $3 } /Min latency/ { min = $3 }
    /Max latency/ { if (!(min <= mean && mean <= $3)) wrong() }
    /Throughput/ { throughput = $2 }
    /Rows per second/ { if (!near($NF, throughput, 1)) wrong(); rows++ }
    END { exit rows != 3 }'

# Larger learning rates converge sooner; the smallest one never does, which is said.
shows convergence '^  First epoch: ' '^Logistic regression - Convergence:$' '7 of 8 trainings' \
    '^  Mean time: +n/a, since 1 never got there$' '^8000 batches, the slowest took [0-9.]+ times ' '^ +0 +no +n/a ' \
    '^  (Steady (after|from)|Not settled)'
agree 'the epochs do not fall with the learning rate' '
    $2 == "yes" { if (n++ && ($3 > epochs || $4 >= loss)) wrong(); epochs = $3; loss = $4 }
    END { exit n != 7 }'

# The span before the clear is forgotten: 60 passes, not 61.
shows coroutines '^request +2 ' '^query +6 ' '^  query '
shows own_spans '^enabled: yes$' '^pass +59 ' '^  layer 3 +59 ' '^  normalise +59 ' '^first pass +1 ' \
    '^  pass +1 ' '^passes left +60 +0 +0 +59 +29\.50*$' '^single span '
agree 'the passes take more than everything' '
    /^all passes:/ { passes = $3; total = $6 } /^layer 3:/ { layer = $3 } /^first pass:/ { first = $3 }
    END { exit !(layer > 0 && layer <= passes && passes <= total && first < total) }'
run own_spans "$work/run.json"
"$ASSAY_BUILD/assay" report "$work/run.json" | grep -Eq '^  layer 3 +59 ' ||
    { echo "examples/own_spans: the saved record cannot be shown" && exit 1; }
run own_spans --json
prints '^\{$' '"name": "layer 3"' '"name": "passes left"' '^\}$'

shows one_call "^\\[Performance\\] fill: ${number}s" '^the checksum is [0-9a-f]{8}$' "^\\[Performance\\] request: "
agree 'a request is shorter than what it asks for' '
    /^checksum / { checksum = $2 } /^request / { request = $2 }
    END { exit !(checksum > 0 && checksum <= request) }'

shows advice '^data_loading: rule dominant, 0\.[0-9]+ > 0\.5$' '^⚠️  BOTTLENECK: data_loading' \
    '^ +- use more loader workers$' '^  batch-variance +slowest over fastest +> 2$'
agree 'not all rules are listed' \
    '/ rules, in the order/ { stated = $1 } /^  [a-z-]+ .* > [0-9.]+$/ { rows++ } END { exit stated < 1 || rows != stated }'

shows memory '^last byte: 1$' '^heap: not counted'
agree 'writing 32 MiB does not show' '
    /^allocated/ { before = $2 } /^written/ { written = $2; peak = $3 } /^freed/ { freed_peak = $3 }
    END { exit !(written - before > 30e6 && peak >= written - 1e6 && freed_peak > 30e6) }'
heap=$ASSAY_BUILD/lib/libassay_heap.so
if [ -e "$heap" ]; then
    LD_PRELOAD=$heap run memory
    agree 'the heap does not show what was allocated' '/^heap: .* live/ { live = $2; peak = $6 }
        END { exit !(peak >= 33554432 && peak < 34e6 && live < 1e6) }'
fi

mkdir "$work/journals"
run journal "$work/journals"
prints '^the child ended with status 42$' '^step +20 ' '^begun and not ended:$' '^  the fatal step '
"$ASSAY_BUILD/assay" journal "$work/journals/crashing.assay" | grep -Eq '^step +20 ' ||
    { echo "examples/journal: the journal that was kept cannot be shown" && exit 1; }

# The models' examples. Parameters: 20 + 5 x 20 x 20, and 4 x 64 x (20 + 64 + 2) + 20 x (64 + 1).
run runtime_profile "$work"
prints '"model_parameters": 2020,$' '"inference_flops_per_step": 4000,$' '"samples": 100$' \
    '"fastest_training": "(MVAR|LSTM)"' '"smallest_memory": "MVAR"$' '^LSTM: 93264 bytes of parameters'
agree 'a ratio is not that of the parameters' \
    '/"parameter_ratio"/ { getline; found = near($2, 23316 / 2020, 1e-9) } END { exit !found }'
agree 'mean, extremes and throughput disagree' '
    /"mean_seconds"/ { mean = $2 + 0 } /"min_seconds"/ { min = $2 + 0 }
    /"max_seconds"/ { if (!(min <= mean && mean <= $2 + 0)) wrong() }
    /"seconds_per_step"/ { found = near($2 * 100, mean, 1e-6 * mean) } END { exit !found }'
for file in runtime_profile runtime_comparison; do
    grep -Fqxf <(sed -n 2p "$work/$file.json") "$output" ||
        { echo "examples/runtime_profile: $file.json is not what was printed" && exit 1; }
done

cd "$work"
shows test_runtime_analyzer '^4000 FLOPs a step +ok$' ' in test_outputs/test_runtime_profile.json$'
cd "$OLDPWD"
python3 - "$work/test_outputs/test_runtime_profile.json" <<'END' || { echo "examples/test_runtime_analyzer: wrong profile" && exit 1; }
import json, sys
profile = json.load(open(sys.argv[1]))
assert list(profile) == ["model_name", "training", "inference", "memory", "throughput", "complexity"], list(profile)
assert profile["memory"]["model_parameters"] == 2020 and abs(profile["memory"]["parameter_memory_mb"] - 0.01616) < 1e-12
assert profile["complexity"]["lag_order"] == 5 and profile["complexity"]["inference_flops_per_step"] == 4000
for timing in profile["inference"].values():
    assert timing["samples"] >= 50 and "warning" not in timing, timing
END

shows profile_model '^graph transformer, 240641 parameters$' '^  forward .* 30$' '^  forward .* 100$' \
    '^  backward +[0-9.]+ +n/a +n/a +n/a +30$' '^  training step .* 30$' '^  peak of the process +[0-9.]+ MB$' \
    '^By SGD on the cross-entropy, dropout drawn [1-9][0-9]* times from seed 42:$' '^  [0-9.]+ ± [0-9.]+ ms \(min [0-9.]+, max [0-9.]+, 30 runs\)$'
agree 'the figures of a pass are not in order' \
    '/^  (forward|training).* (30|100)$/ { rows++; if (!($(NF - 2) <= $(NF - 4) && $(NF - 4) <= $(NF - 1))) wrong() }
     END { exit rows != 5 }'
agree 'gradients or moments do not have the size of the parameters' '
    /^  parameters/ { parameters = $2 } /^  gradients/ { gradients = $2 } /^  optimizer/ { moments = $2 }
    END { exit !(near(gradients, parameters, 0.02) && near(moments, 2 * parameters, 0.03)) }'

shows compare_models '^mlp$' '^siren$' '^  samples +[0-9]+; '
agree 'the sentence and the table disagree' '
    /^mlp +siren / { ratio = $3; verdict = $NF }
    /^A training step of siren takes/ { same = near($7, ratio, 0.006) && $NF == verdict }
    END { exit !same }'

# The numbers of docs/flops.md: parts add up to the whole, and the model is what its sizes say.
shows count_flops '^  attention, all pairs +528656000 FLOPs$' '^  relative encodings, dense +8000000 bytes$' \
    '^The built-in model, 3968001 parameters:$' '^  assay +5569248500 ' '^  pytorch +5480704000 '
agree 'parts do not add up to the total, or the model is not its shape' '
    /^The whole|^The built-in/ { sum = 0; lists++ }
    lists && / FLOPs$/ && $1 != "total" { sum += $2 }
    $1 == "total" { if (sum != $2 || (lists == 2 && $2 != total)) wrong(); total = $2 }
    END { exit lists != 2 }'

shows scale_model '^Nodes, five edges each:$' '^Layers, 30 nodes:$' '^Width \(hidden-dim\):$' \
    '^  grows like ' '^num-nodes ' '^num-layers ' '^160 .* [0-9]+$'
agree 'not every size was measured' '
    / ms$/ { rows++; if ($2 <= 0) wrong() } /^SCALING/ { tables++ } /^[0-9]+ / { sizes++ }
    END { exit !(rows == 15 && tables == 2 && sizes == 10) }'

# The throughput is that of the block, and every generated trajectory has the ends of a real one.
shows trajectories '^[0-9]+ of 50 trajectories generated$' '^--- Generation Performance ---$' '^Slowest search +[0-9.]+(us|ms|s), from road [0-9]+ to road [0-9]+' \
    '^--- Evaluation ---$' '^DTW +[0-9.]+ km$'
agree 'the results are not those of the generation' '
    / trajectories generated$/ { generated = $1 } /^Throughput/ { rate = $2 }
    / beside a real one/ { if ($1 != rate || $5 != generated) wrong(); seen = 1 } END { exit !seen }'

# 8 steps: 7 products of n x n matrices, and 8 numbers of 4 bytes for each node.
shows encodings '^SCALING: encodings, forward pass$' '^lap 8 ' '^rwse 8 ' '^none 0 '
agree 'an encoding has another size than its graph' '
    / FLOPs / { rows++; n = $1; if ($2 != 6 * n || $5 != 10 || $7 != 14 * n ^ 3 || $9 != 32 * n) wrong() }
    END { exit rows != 3 }'
agree 'the encodings did not take turns' '
    /^(lap|rwse|none) / { if (n++ && $NF != runs) wrong(); runs = $NF } END { exit n != 3 }'

shows growth '^SCALING: insertion sort$' "^Growth: .*exponent $number" \
    '^An import of 1000 to 50000 rows grows like n, exponent 1\.00[0-9] \(0\.9[0-9]+ to 1\.0[0-9]+\)\.$' \
    '^A million rows would take 10\.0 s\.$'
agree 'sorting more takes no longer' '
    /^[0-9]+ / { if (n++ && $4 <= shortest) wrong(); shortest = $4 } END { exit n != 5 }'

shows significance '^The verdict: in halves is (faster|slower|same|inconclusive), ratio [0-9.]+ ' \
    '40 samples each:$'
agree 'a p-value, a statistic or an interval cannot be' '
    / p = / { tests++; p = $0; sub(/.* p = /, "", p); if (!(p + 0 >= 0 && p + 0 <= 1)) wrong() }
    /sign test/ { if ($3 < 0 || $3 > 40) wrong() } /Mann-Whitney/ { if ($3 < 0 || $3 > 1600) wrong() }
    / mean .*, median / { rows++; gsub(/[(),]/, ""); sub(/^ *(forwards|in halves) */, "")
        if (!($3 <= $2 && $2 <= $5 && $8 <= $7 && $7 <= $10)) wrong() }
    END { exit !(tests == 6 && rows == 2) }'

run own_record "$work/own.json"
prints '^frame +30 +1\.500 s 300\.0 ms 50\.00 ms +n/a +n/a$' '^  compress +30 ' '^power on,0\.1,,$' \
    '^old firmware +new firmware +0\.903 .* faster$' '^  samples +20$'
"$ASSAY_BUILD/assay" report "$work/own.json" >"$output"
prints 'new firmware' '41\.19 ms'

run own_study "$work/study.json"
/usr/bin/python3 - "$work/study.json" >"$output" <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
missing = [figure for figure in record["figures"] if figure["value"] is None]
print(record["settings"]["seed"], record["models"][0]["flops"][0]["forward"],
      record["series"][0]["values"][-1], missing[0]["unavailable"]["value"],
      record["scalings"][0]["growth_class"], record["processes"][0]["rank"],
      record["devices"][0]["id"])
END
prints '^42 1200000000(\.0)? 2(\.0)? not measured n\^2 5 cuda:1$'

# Without a GPU they say so, and that is no failure.
shows cuda/own_kernel '^(skipped: .*nothing to measure here|saxpy of 16777216 elements)'
shows cuda/cublas_step '^(skipped: .*nothing to measure here|200 steps: the loss went from)'

# Every example is run here and listed for the reader.
for source in "$ASSAY_SOURCE"/examples/*.c "$ASSAY_SOURCE"/examples/cuda/*.c; do
    name=${source#"$ASSAY_SOURCE"/examples/} name=${name%.c}
    grep -Eq "^(shows|run) $name( |\$)" "$0" || { echo "examples/$name.c is not tested" && exit 1; }
    grep -q "\[$name.c\]($name.c)" "$ASSAY_SOURCE/examples/README.md" ||
        { echo "examples/README.md does not list $name.c" && exit 1; }
done
