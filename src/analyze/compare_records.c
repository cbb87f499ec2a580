/* Comparing saved records: which benchmarks they have in common, and what besides the code differs.
 *
 * Benchmarks are the same if name and parameters are; where several share both, the first goes
 * with the first. Rounds are of no use here: they pair samples within one record only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "base/error.h"
#include "base/grow.h"
#include "record/append.h"
#include "record/build.h"
#include "record/fact.h"

/* Iterations are chosen anew in each run; a factor that changes what caches and branch predictors
 * see is worth a line. */
static const double ITERATIONS_FACTOR = 1.5;

/* The subjects of one record within the result. */
typedef struct span {
    size_t from, to;
} span;

static bool same_benchmark(const assay_record_subject *a, const assay_record_subject *b)
{
    return strcmp(a->name, b->name) == 0 && assay__same_parameters(a, b);
}

/* The counterpart in `there` of subject `at` in `here`; NULL if there is none. */
static const assay_record_subject *find_counterpart(const assay_record *record, span here,
                                                    size_t at, span there)
{
    const assay_record_subject *wanted = &record->subjects[at];
    size_t earlier = 0;
    for (size_t i = here.from; i < at; i++)
        earlier += same_benchmark(&record->subjects[i], wanted);
    for (size_t i = there.from; i < there.to; i++)
        if (same_benchmark(&record->subjects[i], wanted) && earlier-- == 0)
            return &record->subjects[i];
    return NULL;
}

/* ---- taking over ---------------------------------------------------------------------------- */

static assay_status take_subjects(assay_record *result, const assay_record *const *records,
                                  const char *const *origins, size_t count, span *spans)
{
    for (size_t i = 0; i < count; i++) {
        const char *origin = assay_record_text(result, origins[i]);
        if (origin == NULL)
            return ASSAY_E_MEMORY;
        if (records[i]->subject_count > ASSAY__COMPARE_SUBJECTS)
            return ASSAY_E_LIMIT;
        spans[i].from = result->subject_count;
        for (size_t k = 0; k < records[i]->subject_count; k++) {
            assay_status status =
                assay__record_append_subject(result, &records[i]->subjects[k], origin, false);
            if (status != ASSAY_OK)
                return status;
        }
        spans[i].to = result->subject_count;
    }
    return ASSAY_OK;
}

/* ---- differences ---------------------------------------------------------------------------- */

/* Two records being held against each other. */
typedef struct view {
    assay_record *result;
    const assay_record *baseline, *candidate;
    const char *baseline_origin, *candidate_origin;
} view;

static assay_status note(const view *v, const char *what, const char *baseline,
                         const char *candidate)
{
    assay_record_difference difference = {
        .what = assay_record_text(v->result, what),
        .baseline_origin = assay_record_text(v->result, v->baseline_origin),
        .candidate_origin = assay_record_text(v->result, v->candidate_origin),
        .baseline = assay_record_text(v->result, baseline),
        .candidate = assay_record_text(v->result, candidate),
    };
    if (difference.what == NULL || difference.baseline_origin == NULL ||
        difference.candidate_origin == NULL || (baseline != NULL && difference.baseline == NULL) ||
        (candidate != NULL && difference.candidate == NULL))
        return ASSAY_E_MEMORY;
    return assay__record_add_difference(v->result, &difference);
}

/* A difference, if both values are known and differ. */
static assay_status note_if(const view *v, const char *what, const char *baseline,
                            const char *candidate)
{
    if (baseline == NULL || candidate == NULL || strcmp(baseline, candidate) == 0)
        return ASSAY_OK;
    return note(v, what, baseline, candidate);
}

/* What was measured on and with. The load, the boot id and the state of the source tree differ
 * between any two runs and say nothing. */
static assay_status note_facts(const view *v)
{
    static const char *const machine[] = {"hostname",
                                          "cpu",
                                          "cores",
                                          "usable_cores",
                                          "memory_bytes",
                                          "kernel",
                                          "os",
                                          "governor",
                                          "turbo",
                                          "smt",
                                          "virtualization",
                                          "container",
                                          "numa_nodes",
                                          "transparent_hugepages",
                                          "cpu_mhz",
                                          "cpu_scaling"};
    static const char *const build[] = {"compiler",     "build_flags",        "libc",
                                        "architecture", "library_build_type", "python"};
    const assay_record *b = v->baseline, *c = v->candidate;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof machine / sizeof *machine && status == ASSAY_OK; i++)
        status = note_if(v, machine[i], assay__fact_value(b->machine, b->machine_count, machine[i]),
                         assay__fact_value(c->machine, c->machine_count, machine[i]));
    for (size_t i = 0; i < sizeof build / sizeof *build && status == ASSAY_OK; i++)
        status = note_if(v, build[i], assay__fact_value(b->build, b->build_count, build[i]),
                         assay__fact_value(c->build, c->build_count, build[i]));
    if (status == ASSAY_OK)
        status = note_if(v, "clock", b->clock.source, c->clock.source);
    return status;
}

static assay_status note_subjects(const view *v, const assay_record_subject *baseline,
                                  const assay_record_subject *candidate)
{
    char what[160], values[2][32];
    snprintf(what, sizeof what, "source of %.120s", baseline->name);
    assay_status status = note_if(v, what, baseline->source, candidate->source);
    double ratio = (double)baseline->iterations / (double)candidate->iterations;
    if (status != ASSAY_OK || baseline->iterations == 0 || candidate->iterations == 0 ||
        fabs(log(ratio)) < log(ITERATIONS_FACTOR))
        return status;
    snprintf(what, sizeof what, "iterations of %.120s", baseline->name);
    snprintf(values[0], sizeof values[0], "%llu", (unsigned long long)baseline->iterations);
    snprintf(values[1], sizeof values[1], "%llu", (unsigned long long)candidate->iterations);
    return note(v, what, values[0], values[1]);
}

/* ---- the comparison ------------------------------------------------------------------------- */

/* A growing list of pairings. */
typedef struct pairing_list {
    assay__pairing *items;
    size_t count, capacity;
} pairing_list;

static assay_status add_pairing(pairing_list *list, assay__pairing pairing)
{
    if (!assay__grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return ASSAY_E_MEMORY;
    list->items[list->count++] = pairing;
    return ASSAY_OK;
}

static const char LONELY[] = "benchmark ", THERE[] = "there", MISSING[] = "missing";

const char *assay_difference_missing(const assay_record_difference *difference)
{
    const char *there = difference->baseline, *missing = difference->candidate;
    if (strncmp(difference->what, LONELY, strlen(LONELY)) != 0 || there == NULL ||
        missing == NULL || strcmp(there, THERE) != 0 || strcmp(missing, MISSING) != 0)
        return NULL;
    return difference->what + strlen(LONELY);
}

static assay_status note_lonely(const view *v, span here, span there, bool baseline)
{
    assay_status status = ASSAY_OK;
    for (size_t i = here.from; i < here.to && status == ASSAY_OK; i++)
        if (find_counterpart(v->result, here, i, there) == NULL) {
            char what[160];
            snprintf(what, sizeof what, "%s%.120s", LONELY, v->result->subjects[i].name);
            status = note(v, what, baseline ? THERE : MISSING, baseline ? MISSING : THERE);
        }
    return status;
}

/* Pair the benchmarks of two records and note what differs. */
static assay_status hold_against(const view *v, span baseline, span candidate, pairing_list *list)
{
    assay_status status = note_facts(v);
    for (size_t i = baseline.from; i < baseline.to && status == ASSAY_OK; i++) {
        const assay_record_subject *one = &v->result->subjects[i];
        const assay_record_subject *other = find_counterpart(v->result, baseline, i, candidate);
        if (other == NULL)
            continue;
        status = add_pairing(list, (assay__pairing){one, other});
        if (status == ASSAY_OK)
            status = note_subjects(v, one, other);
    }
    if (status == ASSAY_OK)
        status = note_lonely(v, baseline, candidate, true);
    return status == ASSAY_OK ? note_lonely(v, candidate, baseline, false) : status;
}

static assay_status nothing_common(const view *v, assay_error *error)
{
    const assay_record *empty = v->baseline->subject_count == 0    ? v->baseline
                                : v->candidate->subject_count == 0 ? v->candidate
                                                                   : NULL;
    if (empty != NULL)
        return assay__fail(error, ASSAY_E_DATA,
                           "%.160s: no benchmarks in it; `assay bench --json FILE` writes some",
                           empty == v->baseline ? v->baseline_origin : v->candidate_origin);
    return assay__fail(
        error, ASSAY_E_DATA, "no benchmark is in both %.120s ('%.60s'%s) and %.120s ('%.60s'%s)",
        v->baseline_origin, v->baseline->subjects[0].name,
        v->baseline->subject_count > 1 ? ", …" : "", v->candidate_origin,
        v->candidate->subjects[0].name, v->candidate->subject_count > 1 ? ", …" : "");
}

static assay_status compare_all(assay_record *result, const assay_record *const *records,
                                const char *const *origins, size_t count, const span *spans,
                                const assay_compare_options *options, assay_error *error)
{
    pairing_list list = {0};
    assay_status status = ASSAY_OK;
    for (size_t candidate = 1; candidate < count && status == ASSAY_OK; candidate++)
        for (size_t baseline = 0; baseline < candidate && status == ASSAY_OK; baseline++) {
            if (baseline > 0 && !options->all_pairs)
                break;
            const view v = {result, records[baseline], records[candidate], origins[baseline],
                            origins[candidate]};
            size_t before = list.count;
            status = hold_against(&v, spans[baseline], spans[candidate], &list);
            if (status == ASSAY_OK && list.count == before)
                status = nothing_common(&v, error);
        }
    if (status == ASSAY_OK)
        status = assay__compare_into(result, list.items, list.count, options->margin);
    free(list.items);
    return status;
}

assay_status assay_records_compare(const assay_record *const *records, const char *const *origins,
                                   size_t count, const assay_compare_options *options,
                                   assay_error *error, assay_record **comparison)
{
    assay_compare_options chosen;
    assay_record *result = NULL;
    span *spans = NULL;
    *comparison = NULL;
    assay_status status = assay__compare_options_read(options, error, &chosen);
    if (status == ASSAY_OK && count < 2)
        status = assay__fail(error, ASSAY_E_ARGUMENT, "two records at least are needed");
    if (status != ASSAY_OK)
        return status;
    status = assay_record_new(&result);
    spans = calloc(count, sizeof *spans);
    if (status != ASSAY_OK || spans == NULL) {
        status = ASSAY_E_MEMORY;
        goto cleanup;
    }
    result->kind = "compare";
    status = take_subjects(result, records, origins, count, spans);
    if (status == ASSAY_OK)
        status = compare_all(result, records, origins, count, spans, &chosen, error);
    if (status == ASSAY_OK) {
        *comparison = result;
        result = NULL;
    }
cleanup:
    if (status == ASSAY_E_MEMORY)
        assay__fail(error, status, "out of memory while comparing");
    else if (status == ASSAY_E_LIMIT)
        assay__fail(error, status, "more benchmarks than can be compared at once");
    assay_record_free(result);
    free(spans);
    return status;
}
