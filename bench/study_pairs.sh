#!/bin/bash
# Are two runs of a study with the same seed ever called different? And is a run whose model takes about 30 %
# more time found to be slower? `assay compare` judges record.json of both runs; the studies run with --quick.
# The leading verdicts count, as for a gate: those on wall time, or on processor time where wall time cannot
# decide. On an otherwise idle core the slower setting of routes takes 1.32 times as long, and that of graph
# 1.34 times.
#
#     bench/study_pairs.sh [STUDY...]     all studies if none is named; PAIRS pairs of each, 5 by default
set -u
assay=$ASSAY_BUILD/assay
pairs=${PAIRS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # run NAME ARGUMENT...: a study into the folder NAME
    local folder=$work/$1
    shift
    rm -rf "$folder"
    (cd "$ASSAY_SOURCE" && "$assay" study "$@" --quick --out "$folder" >/dev/null 2>&1)
}

# called BASELINE CANDIDATE VERDICTS [NAME]: whether a leading comparison (of the subject NAME) has one of the
# verdicts
called() {
    "$assay" compare "$work/$1" "$work/$2" --json "$work/compared.json" >/dev/null || return 2
    /usr/bin/python3 - "$work/compared.json" "$3" "${4:-}" <<'PYTHON'
import json, sys
found = [c for c in json.load(open(sys.argv[1]))["comparisons"]
         if not c.get("beside") and sys.argv[3] in c["baseline"]]
sys.exit(0 if any(c["verdict"] in sys.argv[2].split() for c in found) else 1)
PYTHON
}

# study NAME SUBJECT ARGUMENTS -- SLOWER: compares runs of a study. The arguments SLOWER make SUBJECT take about
# 1.3 times as long.
study() {
    local name=$1 subject=$2 arguments=() different=0 named=0 slower
    shift 2
    while [ "$1" != "--" ]; do arguments+=("$1"); shift; done
    shift
    slower=("$@")
    run before "${arguments[@]}" || { echo "$name does not run" >&2; return 1; }
    for ((i = 0; i < pairs; i++)); do
        run after "${arguments[@]}" && run slow "${arguments[@]}" "${slower[@]}" || return 1
        called before after "faster slower" && different=$((different + 1))
        called after slow slower "$subject" && named=$((named + 1))
        rm -rf "$work/before" && mv "$work/after" "$work/before"
    done
    printf '{"name": "study %s, the same seed twice, called different", "value": %d, "unit": "of %d", "bar": 0, "ok": %s}\n' \
        "$name" "$different" "$pairs" "$([ $different = 0 ] && echo true || echo false)"
    printf '{"name": "study %s, 30 %% slower, named", "value": %d, "unit": "of %d", "bar": %d, "ok": %s}\n' \
        "$name" "$named" "$pairs" "$pairs" "$([ $named = "$pairs" ] && echo true || echo false)"
}

[ $# -gt 0 ] || set -- rom fields routes pde graph
for name; do
    case $name in
    rom) study rom "LSTM forecast" rom -- --hidden-size 74 ;;
    fields) study fields "KAN epoch" fields -- --samples 1331 ;;
    routes) study routes "vanilla" routes -- --beam-width 6 ;;
    pde) study pde batch pde --config-name burgers_experiment trainer=synthetic -- trainer_params.batch_size=43 ;;
    graph) study graph "graph_transformer training_step" graph -- --num-layers 4 ;;
    *) echo "no study '$name'" >&2; exit 64 ;;
    esac
done
