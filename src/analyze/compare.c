/* Chooses the metrics by which subjects are compared, and the metric that leads. Each metric is a
 * question of its own, with one exception: where wall time cannot decide, processor time may answer
 * in its place, so these two share one risk. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/relative.h"
#include "analyze/trial.h"
#include "assay/compare.h"
#include "assay/record.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "record/append.h"
#include "record/build.h"
#include "record/metric.h"
#include "stats/rule.h"

/* Work is bound by the processor if it runs, or waits to run, for at least this share of its time.
 */
static const double BOUND_SHARE = 0.9;

static const char WALL[] = ASSAY__METRIC_WALL;

assay_status assay__compare_options_read(const assay_compare_options *given, assay_error *error,
                                         assay_compare_options *options)
{
    assay_status status =
        assay__struct_take(options, sizeof *options, given, "assay_compare_options", error);
    if (status != ASSAY_OK)
        return status;
    if (!(options->margin >= 0 && options->margin < 1))
        return assay__fail(error, ASSAY_E_ARGUMENT, "a margin between 0 and 1 is needed");
    if (options->margin == 0 && !options->no_margin)
        options->margin = ASSAY__RULE_MARGIN;
    return ASSAY_OK;
}

/* ---- one trial ------------------------------------------------------------------------------ */

static bool is_time(const char *metric)
{
    size_t length = strlen(metric), ending = strlen("seconds");
    return length >= ending && strcmp(metric + length - ending, "seconds") == 0;
}

/* Measures that describe disturbances of the samples, and are no costs of the subject. */
static bool is_circumstance(const char *metric)
{
    return strcmp(metric, ASSAY__METRIC_YARDSTICK) == 0 ||
           strcmp(metric, ASSAY__METRIC_WAITED) == 0 ||
           strcmp(metric, ASSAY__METRIC_DISTURBED) == 0;
}

/* A copy of the subject in which the metric stands in place of its time. */
static assay_record_subject seen_as(const assay_record_subject *subject, const char *metric)
{
    assay_record_subject view = *subject;
    if (metric != WALL)
        view.samples_seconds = assay__record_measure_samples(subject, metric);
    return view;
}

static unsigned nature_of(const assay__pairing *pairing, const char *metric)
{
    unsigned nature = pairing->runs ? ASSAY__SAMPLES_INDEPENDENT : 0;
    if (metric != WALL)
        nature |= ASSAY__SAMPLES_BOOKED;
    return nature | (is_time(metric) ? 0 : ASSAY__SAMPLES_EXACT);
}

/* Whether the yardstick is used. Samples that took turns do not need it, because anything that
 * slowed the machine slowed both subjects. Several runs of each side do not need it either, because
 * they show by themselves how much runs differ. */
static bool has_relative(const assay__trial *it, const assay__pairing *pairing)
{
    return !pairing->runs && !it->log_ratio.paired && it->log_ratio.known && is_time(it->metric) &&
           assay__has_yardstick(pairing->baseline) && assay__has_yardstick(pairing->candidate);
}

/* ---- what samples of one run do not show ---------------------------------------------------- */

/* The yardstick is arithmetic in the nearest cache. If it becomes slower by x (as a logarithm),
 * other work becomes slower by between 0 and 2 x. This constant is the standard deviation of the
 * error that is left after dividing by the yardstick, as a share of x. */
static const double YARDSTICK_DOUBT = 0.3;

static void widen(assay__log_ratio *ratio, double error)
{
    ratio->between = error;
    if (ratio->known)
        assay__location_widen(&ratio->location, error);
}

static void widen_both(assay__trial *it, double spread, double machine)
{
    widen(&it->log_ratio, spread);
    widen(&it->relative, hypot(spread, YARDSTICK_DOUBT * machine));
}

static assay_status begin(assay__trial *it, const assay__pairing *pairing, const char *metric,
                          double margin)
{
    const assay_record_subject baseline = seen_as(pairing->baseline, metric);
    const assay_record_subject candidate = seen_as(pairing->candidate, metric);
    unsigned nature = nature_of(pairing, metric);
    double machine = 0;
    it->baseline = pairing->baseline;
    it->candidate = pairing->candidate;
    it->metric = metric;
    it->margin = margin;
    assay_status status =
        assay__log_ratio_init(&it->log_ratio, &baseline, &candidate, margin, nature);
    if (status == ASSAY_OK && has_relative(it, pairing))
        status =
            assay__relative_init(&it->relative, &baseline, &candidate, margin, nature, &machine);
    if (status == ASSAY_OK && is_time(metric) && !it->log_ratio.paired)
        widen_both(it, pairing->spread, machine);
    return status;
}

/* ---- all trials ----------------------------------------------------------------------------- */

/* The trials, the index of the pairing of each, and the comparisons made from them. */
typedef struct trials {
    assay__trial *items;
    size_t *pairing;
    assay_record_comparison *made;
    size_t count;
} trials;

static bool is_of(const assay__trial *it, const char *metric)
{
    return strcmp(it->metric, metric) == 0;
}

/* Begin a trial for each metric that both sides have. If `items` is NULL, only count the trials. */
static assay_status begin_all(const assay__pairing *pairings, size_t count, double margin,
                              trials *to)
{
    assay_status status = ASSAY_OK;
    bool begins = to->items != NULL;
    to->count = 0;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        const assay__pairing *pairing = &pairings[i];
        for (size_t k = 0; k <= pairing->baseline->measure_count && status == ASSAY_OK; k++) {
            const char *metric = k == 0 ? WALL : pairing->baseline->measures[k - 1].metric;
            if (k > 0 && (is_circumstance(metric) ||
                          assay__record_measure_samples(pairing->candidate, metric) == NULL))
                continue;
            if (begins) {
                to->pairing[to->count] = i;
                status = begin(&to->items[to->count], pairing, metric, margin);
            }
            to->count++;
        }
    }
    return status;
}

static size_t find_trial(const trials *all, size_t pairing, const char *metric)
{
    size_t i = 0;
    while (i < all->count && !(all->pairing[i] == pairing && is_of(&all->items[i], metric)))
        i++;
    return i;
}

static bool has_metric(const trials *all, const char *metric)
{
    for (size_t i = 0; i < all->count; i++)
        if (is_of(&all->items[i], metric))
            return true;
    return false;
}

/* The risk of a metric. If the options name a metric, that metric leads alone and has the whole
 * risk. */
static double risk_of(const trials *all, const char *metric, const char *wanted)
{
    bool shared = wanted == NULL && has_metric(all, ASSAY__METRIC_CPU);
    if (shared && strcmp(metric, WALL) == 0)
        return ASSAY__RULE_RISK * ASSAY__RULE_WALL_SHARE;
    if (shared && strcmp(metric, ASSAY__METRIC_CPU) == 0)
        return ASSAY__RULE_RISK * ASSAY__RULE_CPU_SHARE;
    return ASSAY__RULE_RISK;
}

static assay_status decide_all(trials *all, const char *wanted)
{
    assay__trial **group = calloc(all->count > 0 ? all->count : 1, sizeof *group);
    if (group == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < all->count; i++) {
        const char *metric = all->items[i].metric;
        size_t members = 0;
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first = first && !is_of(&all->items[k], metric);
        for (size_t k = i; first && k < all->count; k++)
            if (is_of(&all->items[k], metric))
                group[members++] = &all->items[k];
        if (first)
            assay__trials_decide(group, members, risk_of(all, metric, wanted));
    }
    free(group);
    return ASSAY_OK;
}

/* ---- the metric that leads ------------------------------------------------------------------ */

/* Whether the subject is bound by the processor. The sample that was idle for the longest time is
 * left out, because a process that is stopped, or a machine that is suspended, can lose more time
 * in one sample than all other samples take. */
static bool is_bound(const assay_record_subject *subject)
{
    const double *busy = assay__record_measure_samples(subject, ASSAY__METRIC_CPU);
    const double *waited = assay__record_measure_samples(subject, ASSAY__METRIC_WAITED);
    double used = 0, all = 0, longest = 0, used_then = 0;
    for (size_t i = 0; busy != NULL && i < subject->sample_count; i++) {
        double here = busy[i] + (waited != NULL ? waited[i] : 0),
               time = subject->samples_seconds[i];
        used += here;
        all += time;
        if (subject->sample_count > 1 && time - here > longest - used_then) {
            longest = time;
            used_then = here;
        }
    }
    all -= longest;
    return used - used_then >= BOUND_SHARE * all && all > 0;
}

static assay_status say_that_it_leads(assay_record *record, const assay_record_comparison *wall,
                                      assay_record_comparison *cpu)
{
    char text[640];
    snprintf(text, sizeof text, "by processor time, since wall time does not decide: %.300s",
             wall->reason != NULL ? wall->reason : "");
    cpu->reason = assay_record_text(record, text);
    return cpu->reason != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

static assay_status say_what_is_missing(assay_record *record, const char *wanted,
                                        assay_record_comparison *wall)
{
    char text[640];
    snprintf(text, sizeof text, "by wall time, since %.64s was not measured of both%s%.300s",
             wanted, wall->reason != NULL ? ": " : "", wall->reason != NULL ? wall->reason : "");
    wall->reason = assay_record_text(record, text);
    return wall->reason != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

/* Find the comparison that leads among the comparisons of one pairing. */
static assay_status find_leader(const trials *all, size_t pairing, const char *wanted,
                                assay_record *record, size_t *leader)
{
    size_t wall = find_trial(all, pairing, WALL);
    size_t cpu = find_trial(all, pairing, ASSAY__METRIC_CPU);
    *leader = wanted != NULL ? find_trial(all, pairing, wanted) : wall;
    if (*leader == all->count) {
        *leader = wall;
        return say_what_is_missing(record, wanted, &all->made[wall]);
    }
    if (wanted != NULL || cpu == all->count ||
        all->made[wall].verdict != ASSAY_VERDICT_INCONCLUSIVE ||
        all->made[cpu].verdict == ASSAY_VERDICT_INCONCLUSIVE ||
        !is_bound(all->items[cpu].baseline) || !is_bound(all->items[cpu].candidate))
        return ASSAY_OK;
    *leader = cpu;
    return say_that_it_leads(record, &all->made[wall], &all->made[cpu]);
}

/* Put the comparisons into the order of the record: first those that lead, then the others. */
static assay_status arrange(const trials *all, size_t pairings, const char *wanted,
                            assay_record *record, assay_record_comparison *comparisons)
{
    size_t placed = 0, leader;
    for (size_t i = 0; i < all->count; i++)
        all->made[i].beside = true;
    for (size_t i = 0; i < pairings; i++) {
        assay_status status = find_leader(all, i, wanted, record, &leader);
        if (status != ASSAY_OK)
            return status;
        all->made[leader].beside = false;
        comparisons[placed++] = all->made[leader];
    }
    for (size_t i = 0; i < all->count; i++)
        if (all->made[i].beside)
            comparisons[placed++] = all->made[i];
    return ASSAY_OK;
}

assay_status assay__compare_into(assay_record *record, const assay__pairing *pairings, size_t count,
                                 double margin, const char *metric)
{
    trials all = {0};
    assay_status status = begin_all(pairings, count, margin, &all);
    size_t room = all.count > 0 ? all.count : 1;
    record->comparisons = NULL;
    record->comparison_count = 0;
    assay_record_comparison *made = assay_record_allocate(record, all.count, sizeof *made);
    all.items = calloc(room, sizeof *all.items);
    all.pairing = calloc(room, sizeof *all.pairing);
    all.made = calloc(room, sizeof *all.made);
    if (made == NULL || all.items == NULL || all.pairing == NULL || all.made == NULL)
        status = ASSAY_E_MEMORY;
    if (status == ASSAY_OK)
        status = begin_all(pairings, count, margin, &all);
    if (status == ASSAY_OK)
        status = decide_all(&all, metric);
    for (size_t i = 0; i < all.count && status == ASSAY_OK; i++)
        status = assay__trial_finish(&all.items[i], record, &all.made[i]);
    if (status == ASSAY_OK)
        status = arrange(&all, count, metric, record, made);
    if (status == ASSAY_OK) {
        record->comparisons = made;
        record->comparison_count = all.count;
    }
    free(all.items);
    free(all.pairing);
    free(all.made);
    return status;
}

assay_status assay_subjects_compare(assay_record *record, const assay_record_subject *baseline,
                                    const assay_record_subject *candidate,
                                    const assay_compare_options *options,
                                    assay_record_comparison *comparison)
{
    assay_compare_options chosen;
    assay_status status = assay__compare_options_read(options, NULL, &chosen);
    const assay__pairing pairing = {baseline, candidate, false, 0};
    if (status != ASSAY_OK)
        return status;
    const char *metric = chosen.metric != NULL ? chosen.metric : WALL;
    if (strcmp(metric, WALL) == 0)
        metric = WALL;
    else if (assay__record_measure_samples(baseline, metric) == NULL ||
             assay__record_measure_samples(candidate, metric) == NULL)
        return ASSAY_E_ARGUMENT;
    assay__trial *it = calloc(1, sizeof *it);
    if (it == NULL)
        return ASSAY_E_MEMORY;
    status = begin(it, &pairing, metric, chosen.margin);
    if (status == ASSAY_OK) {
        assay__trials_decide(&it, 1, ASSAY__RULE_RISK);
        status = assay__trial_finish(it, record, comparison);
    }
    free(it);
    return status;
}
