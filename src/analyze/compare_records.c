/* Compares saved records: it pairs the subjects that they have in common, and notes what else
 * differs.
 *
 * Two subjects are the same if their names and parameters are equal. If several subjects share
 * both, they correspond in their order. Rounds are not used here, because they pair samples within
 * one record only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/comparables.h"
#include "analyze/compare.h"
#include "analyze/compare_notes.h"
#include "analyze/relative.h"
#include "assay/record_build.h"
#include "base/error.h"
#include "base/grow.h"

/* For single runs of two processes that do the same work on the same machine. PROCESS_MARGIN is
 * their margin: a smaller difference has no cause worth looking for. PROCESS_SPREAD is the standard
 * deviation of the log ratio that memory addresses alone cause. Measured on an idle AMD EPYC with
 * 12 runs each, it was 0.002 to 0.026 for one run, depending on the model. */
static const double PROCESS_MARGIN = 0.15, PROCESS_SPREAD = 0.02;

/* The subjects of one side within the result. */
typedef struct span {
    size_t from, to;
    size_t without_samples; /* operations left out because they have no samples */
} span;

/* Find the counterpart of subject `at` of the span `here` in the span `there`. NULL if there is
 * none. */
static const assay_record_subject *find_counterpart(const assay_record *record, span here,
                                                    size_t at, span there)
{
    const assay_record_subject *wanted = &record->subjects[at];
    size_t earlier = 0;
    for (size_t i = here.from; i < at; i++)
        earlier += assay__same_subject(&record->subjects[i], wanted);
    for (size_t i = there.from; i < there.to; i++)
        if (assay__same_subject(&record->subjects[i], wanted) && earlier-- == 0)
            return &record->subjects[i];
    return NULL;
}

/* ---- taking the subjects --------------------------------------------------------------------- */

/* Whether any side has several runs. If so, each run is one observation, on every side. */
static bool are_runs(const assay_compare_side *sides, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sides[i].count > 1)
            return true;
    return false;
}

static assay_status take_sides(assay_record *result, const assay_compare_side *sides, size_t count,
                               span *spans)
{
    bool runs = are_runs(sides, count);
    for (size_t i = 0; i < count; i++) {
        const char *origin = assay_record_text(result, sides[i].origin);
        if (origin == NULL)
            return ASSAY_E_MEMORY;
        spans[i].from = result->subject_count;
        assay_status status =
            runs ? assay__comparables_of_runs(sides[i].records, sides[i].count, origin, result)
                 : assay__comparables_of(sides[i].records[0], origin, result,
                                         &spans[i].without_samples);
        spans[i].to = result->subject_count;
        if (status == ASSAY_OK && spans[i].to - spans[i].from > ASSAY__COMPARE_SUBJECTS)
            status = ASSAY_E_LIMIT;
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
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

static assay_status note_lonely(const assay__compare_view *v, span here, span there, bool baseline)
{
    assay_status status = ASSAY_OK;
    for (size_t i = here.from; i < here.to && status == ASSAY_OK; i++)
        if (find_counterpart(v->result, here, i, there) == NULL) {
            char what[160];
            snprintf(what, sizeof what, "%s%.120s", LONELY, v->result->subjects[i].name);
            status = assay__compare_note(v, what, baseline ? THERE : MISSING,
                                         baseline ? MISSING : THERE);
        }
    return status;
}

/* Note the number of operations that have totals only and so are not compared. */
static assay_status note_totals(const assay__compare_view *v, span baseline, span candidate)
{
    char values[2][64];
    if (baseline.without_samples + candidate.without_samples == 0)
        return ASSAY_OK;
    const size_t counts[] = {baseline.without_samples, candidate.without_samples};
    for (int i = 0; i < 2; i++)
        snprintf(values[i], sizeof values[i], "%zu have totals only", counts[i]);
    return assay__compare_note(v, "operations, not compared", values[0], values[1]);
}

/* Pair the subjects of two sides, and note the other differences. */
static assay_status hold_against(const assay__compare_view *v, span baseline, span candidate,
                                 bool runs, double spread, pairing_list *list)
{
    assay_status status = assay__compare_note_records(v);
    for (size_t i = baseline.from; i < baseline.to && status == ASSAY_OK; i++) {
        const assay_record_subject *one = &v->result->subjects[i];
        const assay_record_subject *other = find_counterpart(v->result, baseline, i, candidate);
        if (other == NULL)
            continue;
        bool whole = assay__is_whole_run(one) && assay__is_whole_run(other);
        status = add_pairing(list, (assay__pairing){one, other, runs || whole, spread});
        if (status == ASSAY_OK)
            status = assay__compare_note_subjects(v, one, other);
    }
    if (status == ASSAY_OK)
        status = note_totals(v, baseline, candidate);
    if (status == ASSAY_OK)
        status = note_lonely(v, baseline, candidate, true);
    return status == ASSAY_OK ? note_lonely(v, candidate, baseline, false) : status;
}

static assay_status nothing_common(const assay__compare_view *v, span baseline, span candidate,
                                   assay_error *error)
{
    const assay_record_subject *all = v->result->subjects;
    bool no_baseline = baseline.from == baseline.to, no_candidate = candidate.from == candidate.to;
    size_t totals = no_baseline ? baseline.without_samples : candidate.without_samples;
    const char *empty = no_baseline ? v->baseline_origin : v->candidate_origin;
    if ((no_baseline || no_candidate) && totals > 0)
        return assay__fail(error, ASSAY_E_DATA,
                           "%.160s: its operations have totals only, of one run; give several runs "
                           "a side, or keep samples (docs/comparing.md)",
                           empty);
    if (no_baseline || no_candidate)
        return assay__fail(error, ASSAY_E_DATA,
                           "%.160s: no benchmarks in it; `assay bench --json FILE` writes some",
                           empty);
    return assay__fail(error, ASSAY_E_DATA,
                       "no benchmark is in both %.120s ('%.60s'%s) and %.120s ('%.60s'%s)",
                       v->baseline_origin, all[baseline.from].name,
                       baseline.to - baseline.from > 1 ? ", …" : "", v->candidate_origin,
                       all[candidate.from].name, candidate.to - candidate.from > 1 ? ", …" : "");
}

static bool have_yardsticks(const assay_record *record)
{
    size_t with = 0;
    for (size_t i = 0; i < record->subject_count; i++)
        with += assay__has_yardstick(&record->subjects[i]);
    return with > 0 && with == record->subject_count;
}

/* Whether all samples come from one process. They then share its memory layout, so they cannot show
 * how much two processes differ. A study and a profile are made by one process, and a yardstick is
 * timed only beside functions of the process itself. */
static bool is_single_process(const assay_compare_side *side)
{
    const assay_record *record = side->records[0];
    return side->count == 1 && ((record->kind != NULL && (strcmp(record->kind, "study") == 0 ||
                                                          strcmp(record->kind, "profile") == 0)) ||
                                have_yardsticks(record));
}

static assay_status compare_all(assay_record *result, const assay_compare_side *sides, size_t count,
                                const span *spans, const assay_compare_options *options,
                                assay_error *error)
{
    pairing_list list = {0};
    assay_status status = ASSAY_OK;
    for (size_t candidate = 1; candidate < count && status == ASSAY_OK; candidate++)
        for (size_t baseline = 0; baseline < candidate && status == ASSAY_OK; baseline++) {
            if (baseline > 0 && !options->all_pairs)
                break;
            const assay_compare_side *b = &sides[baseline], *c = &sides[candidate];
            const assay__compare_view v = {result, b->records[0], c->records[0], b->origin,
                                           c->origin};
            size_t before = list.count;
            bool processes = is_single_process(b) && is_single_process(c);
            status = hold_against(&v, spans[baseline], spans[candidate], are_runs(sides, count),
                                  processes ? PROCESS_SPREAD : 0, &list);
            if (status == ASSAY_OK && list.count == before)
                status = nothing_common(&v, spans[baseline], spans[candidate], error);
        }
    if (status == ASSAY_OK)
        status =
            assay__compare_into(result, list.items, list.count, options->margin, options->metric);
    free(list.items);
    return status;
}

static assay_status read_options(const assay_compare_options *options,
                                 const assay_compare_side *sides, size_t count, assay_error *error,
                                 assay_compare_options *chosen)
{
    assay_status status = assay__compare_options_read(options, error, chosen);
    bool open = options == NULL || (options->margin == 0 && !options->no_margin);
    bool processes = true;
    if (status != ASSAY_OK)
        return status;
    if (count < 2)
        return assay__fail(error, ASSAY_E_ARGUMENT, "two records at least are needed");
    for (size_t i = 0; i < count; i++) {
        if (sides[i].count == 0)
            return assay__fail(error, ASSAY_E_ARGUMENT, "%.160s: a side without records",
                               sides[i].origin);
        processes = processes && is_single_process(&sides[i]);
    }
    if (open && processes)
        chosen->margin = PROCESS_MARGIN;
    return ASSAY_OK;
}

assay_status assay_records_compare(const assay_compare_side *sides, size_t count,
                                   const assay_compare_options *options, assay_error *error,
                                   assay_record **comparison)
{
    assay_compare_options chosen;
    assay_record *result = NULL;
    span *spans = NULL;
    *comparison = NULL;
    assay_status status = read_options(options, sides, count, error, &chosen);
    if (status != ASSAY_OK)
        return status;
    status = assay_record_new(&result);
    spans = calloc(count, sizeof *spans);
    if (status != ASSAY_OK || spans == NULL) {
        status = ASSAY_E_MEMORY;
        goto cleanup;
    }
    result->kind = "compare";
    status = take_sides(result, sides, count, spans);
    if (status == ASSAY_OK)
        status = compare_all(result, sides, count, spans, &chosen, error);
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
