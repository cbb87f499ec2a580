#!/bin/bash
# The public headers keep to the grammar of the API (CONTRIBUTING.md), and the check is able to say so
# when they do not: one violation of each rule is planted at a time, and must add exactly one complaint.
set -u
python=/usr/bin/python3
[ -x $python ] || { echo "no $python to read the headers with"; exit 77; }
check="$ASSAY_SOURCE/tests/package/check_grammar.py"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

$python "$check" "$ASSAY_SOURCE" >"$work/before" || failed=1
cat "$work/before"

# A header NAME from standard input is planted beside the others, with a program that calls all it declares.
difference() { # NAME: the complaints that the header adds, without its path
    local header=$work/$1
    cat >"$header"
    grep -oE 'assay_[a-z0-9_]+\(' "$header" | grep -v '^assay_unused' >"$work/callers.c"
    $python "$check" "$ASSAY_SOURCE" "$header" "$work/callers.c" | diff "$work/before" - |
        grep -a '^>.*: ' >"$work/added"
}
refuses() { # RULE LINE WHAT: exactly one complaint, about RULE, at LINE of planted.h
    difference planted.h
    if [ "$(wc -l <"$work/added")" -ne 1 ] ||
        ! grep -q "^> include/assay/planted.h:$2: rule $1: " "$work/added"; then
        echo "rule $1, line $2: $3: expected this one complaint, and found:"
        sed 's/^/    /' "$work/added"
        failed=1
    fi
}
passes() { # WHAT
    difference planted.h
    [ -s "$work/added" ] && { echo "refused, and should not be: $1"; cat "$work/added"; failed=1; }
}

passes "a header that keeps all rules" <<'HEADER'
/* assay_run_away(a comment); "assay_print_nothing(" */
typedef struct assay_planted assay_planted;
typedef struct assay_planted_options {
    size_t struct_size;
    double budget_seconds;
} assay_planted_options;
#define ASSAY_PLANTED_OPTIONS_INIT ASSAY_INIT(assay_planted_options)
typedef struct assay_planted_result {
    union {
        size_t runs, num_runs;
    };
    assay_status (*callback)(void *context, double elapsed);
    double low_seconds, high_seconds;
    uint64_t start_ns, reserved[4];
} assay_planted_result;
ASSAY_API ASSAY_MUST_USE assay_status assay_planted_new(const assay_planted_options *options,
                                                        assay_planted **planted);
ASSAY_API void assay_planted_free(assay_planted *planted);
ASSAY_API ASSAY_MUST_USE assay_status
assay_planted_fit(assay_planted *planted, const double *sizes, const double *seconds, size_t count,
                  void (*progress)(void *context, size_t count), void *context,
                  const assay_planted_options *options, assay_error *error,
                  assay_planted_result *result, size_t *left_out);
ASSAY_API assay_status assay_planted_print(const assay_planted *planted, FILE *stream);
ASSAY_API ASSAY_MUST_USE assay_status assay_planted_save(const assay_planted *planted,
                                                         const char *path, assay_error *error);
static inline int assay_planted_size(const assay_planted *planted)
{
    return assay__planted_size(planted);
}
HEADER

refuses 1 2 "a verb first" <<'HEADER'

ASSAY_API double assay_calculate_mean(const double *values, size_t count);
HEADER
refuses 1 1 "a verb first, in an inline function" <<'HEADER'
static inline int assay_get_size(void)
{
    return 1;
}
HEADER
refuses 2 1 "another verb for output" <<'HEADER'
ASSAY_API ASSAY_MUST_USE assay_status assay_planted_write(int planted, FILE *stream);
HEADER
refuses 2 1 "report as a verb" <<'HEADER'
ASSAY_API void assay_planted_report(int planted, FILE *stream);
HEADER
refuses 2 1 "a print without a stream" <<'HEADER'
ASSAY_API assay_status assay_planted_print(int planted);
HEADER
refuses 2 1 "a save to a stream" <<'HEADER'
ASSAY_API ASSAY_MUST_USE assay_status assay_planted_save(int planted, FILE *stream);
HEADER
refuses 3 3 "an input behind the error" <<'HEADER'
/* A comment of
 * two lines. */
ASSAY_API void assay_planted_look(const int *planted, assay_error *error, double level);
HEADER
refuses 3 1 "a borrowed input behind the error" <<'HEADER'
ASSAY_API void assay_planted_look(int planted, assay_error *error, const double *level);
HEADER
refuses 3 1 "a result before the error" <<'HEADER'
ASSAY_API void assay_planted_look(int planted, double *level, assay_error *error);
HEADER
refuses 3 1 "an input behind the options" <<'HEADER'
ASSAY_API void assay_planted_look(const assay_compare_options *options, double level, assay_error *error);
HEADER
refuses 3 1 "a count before its array" <<'HEADER'
ASSAY_API double assay_planted_mean(size_t count, const double *values);
HEADER
refuses 3 1 "a count between the subject and its array" <<'HEADER'
ASSAY_API void assay_planted_add(assay_model *model, size_t value_count, const double *values);
HEADER
refuses 4 1 "new without free" <<'HEADER'
ASSAY_API ASSAY_MUST_USE assay_status assay_planted_new(assay_planted **planted);
HEADER
refuses 4 1 "options without their size" <<'HEADER'
typedef struct assay_planted_options {
    double margin;
} assay_planted_options;
#define ASSAY_PLANTED_OPTIONS_INIT {0}
HEADER
refuses 4 1 "options without INIT" <<'HEADER'
typedef struct assay_planted_options {
    size_t struct_size;
} assay_planted_options;
HEADER
refuses 4 4 "a struct that the caller fills, without INIT" <<'HEADER'
typedef struct assay_planted {
    size_t struct_size;
} assay_planted;
ASSAY_API void assay_planted_look(const assay_planted *planted);
HEADER
refuses 5 2 "a result that cannot grow" <<'HEADER'
typedef enum assay_planted_kind { ASSAY_PLANTED } assay_planted_kind;
typedef struct assay_planted {
    double mean_seconds;
} assay_planted;
HEADER
for field in peak_mb mean_ms latency_us size_gb first_time elapsed; do
    refuses 6 1 "the field $field" <<HEADER
typedef struct assay_planted {
    size_t struct_size;
    double $field;
} assay_planted;
HEADER
done
refuses 7 1 "a status to overlook" <<'HEADER'
ASSAY_API assay_status assay_planted_look(int planted);
HEADER
refuses 9 1 "a function without a caller" <<'HEADER'
ASSAY_API void assay_unused_look(int unused);
HEADER
passes "a function that a public macro calls" <<'HEADER'
ASSAY_API void assay_unused_look(int unused);
#define ASSAY_UNUSED(unused) \
    assay_unused_look(unused)
HEADER

# Rule 8: the core tier with a hundred functions more. Its count, printed in any case, changes as well.
difference assay.h < <(cat "$ASSAY_SOURCE/include/assay/assay.h"
    for number in $(seq 100); do echo "ASSAY_API void assay_planted_look_$number(int planted);"; done)
if [ "$(wc -l <"$work/added")" -ne 1 ] || ! grep -q '^> include/assay/assay.h:1: rule 8: ' "$work/added"; then
    echo "rule 8: too many functions in the core tier: expected this one complaint, and found:"
    cat "$work/added"
    failed=1
fi

# An exemption that nothing needs any more: performance.h without assay_track_performance.
difference performance.h < <(tr '\n' '\f' <"$ASSAY_SOURCE/include/assay/performance.h" |
    sed 's/ASSAY_API void \*assay_track_performance([^;]*;//' | tr '\f' '\n')
if [ "$(wc -l <"$work/added")" -ne 1 ] || ! grep -q 'exemption of assay_track_performance is not needed' "$work/added"; then
    echo "a stale exemption: expected this one complaint, and found:"
    cat "$work/added"
    failed=1
fi
exit $failed
