#!/usr/bin/env bash
# Verdicts on a busy machine: two processors, two programs that compute on them without pause, and pairs of
# commands of which the second takes 3, 1.4, 1.05 and 1 times as long. How often is the difference found, and
# how often are equals called different?
#
#     TRIALS=20 ASSAY_BUILD=build bash bench/busy.sh        (5 by default; a trial of each takes up to 26 s)
#
# "By processor time" means that the comparison uses --metric cpu.
set -u
assay=${ASSAY_BUILD:?}/assay
trials=${TRIALS:-5}
if [ "$(nproc)" -lt 2 ] || ! command -v taskset >/dev/null || ! command -v awk >/dev/null; then
    echo "busy.sh: needs two processors, taskset and awk" >&2
    exit 77
fi
processors=$(taskset -pc $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' |
    head -n 2 | paste -sd,)
folder=$(mktemp -d)
spinners=()
trap 'kill "${spinners[@]}" 2>/dev/null; rm -rf "$folder"' EXIT
for _ in 1 2; do
    taskset -c "$processors" awk 'BEGIN { for (;;) x++ }' &
    spinners+=($!)
done

# work N: prints a command whose time is proportional to N
work() { printf "awk 'BEGIN { for (i = 0; i < %d; i++) x += i }'" "$1"; }

# verdicts NAME BUDGET STEPS METRIC: prints one line for each trial: the leading verdict, and that of processor time
verdicts() {
    local i metric=()
    [ "$4" = - ] || metric=(--metric "$4")
    for ((i = 0; i < trials; i++)); do
        taskset -c "$processors" "$assay" bench --quiet "${metric[@]}" --seed "$i" --budget "$2" --json "$folder/$1.json" \
            --command "$(work 100000)" --command "$(work "$3")" --label a --label b || return 1
        awk '
            /"comparisons"/ { inside = 1 }
            inside && /"metric"/ { split($0, part, "\""); metric = part[4] }
            inside && /"verdict"/ { split($0, part, "\""); if (lead == "") lead = part[4]; if (metric == "cpu_seconds") cpu = part[4] }
            END { print lead, cpu }' "$folder/$1.json"
    done
}

missed=0
# row NAME FILE FIELD WORD BAR BELOW: prints the share of trials whose FIELD is WORD
row() {
    awk -v name="$1" -v field="$3" -v word="$4" -v bar="$5" -v below="$6" '
        { n++; hit += $field ~ "^(" word ")$" }
        END {
            share = n > 0 ? 100 * hit / n : -1
            ok = n > 0 && (below ? share <= bar : share >= bar)
            printf "{\"name\": \"%s\", \"value\": %.1f, \"unit\": \"%%\", \"bar\": %g, \"ok\": %s}\n",
                name, share, bar, ok ? "true" : "false"
            exit !ok
        }' "$2" || missed=1
}

for case in "three 8s 300000 -" "two 8s 140000 -" "five 5s 105000 cpu" "equal 5s 100000 -"; do
    set -- $case
    verdicts "$1" "$2" "$3" "$4" >"$folder/$1" || exit 1
    echo "  $1: $(sort "$folder/$1" | uniq -c | tr '\n' ';')" >&2
done
row "busy machine: commands 3 x apart named, 8 s" "$folder/three" 1 slower 100 0
row "busy machine: commands 1.4 x apart named, 8 s" "$folder/two" 1 slower 100 0
row "busy machine: 5 % slower found by processor time, 5 s" "$folder/five" 1 slower 90 0
row "busy machine: equals called different, 5 s" "$folder/equal" 1 "faster|slower" 1 1
exit $missed
