/* The verdict, word for word as it is promised, and the risk of several shared between them.
 *
 * Several comparisons share a risk of 1 % by Holm's step-down procedure (1979, "A simple
 * sequentially rejective multiple test procedure"): with m undecided comparisons each is tried at
 * 1 − 0.01/m; those decided leave, and the rest is tried again with the smaller m, until nobody
 * leaves. Trying all at once instead of in the order of their p-values gives the same decisions and
 * needs no p-values, which the skewness-corrected interval does not have in closed form. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/log_ratio.h"
#include "assay/compare.h"
#include "assay/record.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "record/build.h"

static const double DEFAULT_MARGIN = 0.01, RISK = 0.01, SHOWN_LEVEL = 0.95;

/* More of the same is no advice beyond this many times the samples. */
static const double WORTHWHILE_FACTOR = 50;

/* One comparison on its way to its verdict. */
typedef struct trial {
    const assay_record_subject *baseline, *candidate;
    assay__log_ratio log_ratio;
    assay_verdict verdict; /* decided: faster or slower */
    double level;          /* at which it was, or was last tried */
} trial;

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
        options->margin = DEFAULT_MARGIN;
    return ASSAY_OK;
}

/* ---- the rule ------------------------------------------------------------------------------- */

static bool can_be_judged(const trial *it)
{
    return it->log_ratio.known && it->log_ratio.obstacle[0] == '\0';
}

static assay_verdict beyond(const assay_interval *interval, double margin)
{
    if (interval->validity != ASSAY_VALID)
        return ASSAY_VERDICT_INCONCLUSIVE;
    if (interval->low > 1 + margin)
        return ASSAY_VERDICT_SLOWER;
    return interval->high < 1 - margin ? ASSAY_VERDICT_FASTER : ASSAY_VERDICT_INCONCLUSIVE;
}

/* Holm's procedure. Trials that an obstacle keeps from being judged share the risk as well: what
 * the data forbid is chance too, and those left over are those that hid it. */
static void decide(trial *trials, size_t count, double margin)
{
    size_t open = 0, decided = 0;
    for (size_t i = 0; i < count; i++)
        open += trials[i].log_ratio.known;
    do {
        double level = 1 - RISK / (double)(open > 0 ? open : 1);
        decided = 0;
        for (size_t i = 0; i < count; i++) {
            if (trials[i].verdict != ASSAY_VERDICT_INCONCLUSIVE)
                continue;
            trials[i].level = level;
            if (!can_be_judged(&trials[i]))
                continue;
            assay_interval interval = assay__log_ratio_interval(&trials[i].log_ratio, level);
            trials[i].verdict = beyond(&interval, margin);
            decided += trials[i].verdict != ASSAY_VERDICT_INCONCLUSIVE;
        }
        open -= decided;
    } while (decided > 0 && open > 0);
}

/* How many times too wide the interval is, if the estimate stays where it is. */
static double excess_width(const assay_interval *shown, const assay_interval *decision,
                           double margin)
{
    double at = log(shown->estimate), up = log1p(margin), down = log1p(-margin);
    bool outside = at > up || at < down;
    double room = outside ? (at > up ? at - up : down - at) : fmin(up - at, at - down);
    double width = outside ? log(decision->high / decision->low) : log(shown->high / shown->low);
    return room > 0 ? width / 2 / room : INFINITY;
}

/* The count at which an interval is narrow enough that is `excess` times too wide now: its width
 * shrinks with the root of the count, and what is added for few samples goes. */
static double count_to_decide(size_t count, double excess)
{
    double bare = excess / assay__log_ratio_widening(count), wider;
    size_t enough = count;
    while ((wider = assay__log_ratio_widening(enough)) > 1 &&
           bare * wider * sqrt((double)count / (double)enough) > 1)
        enough++;
    return fmax((double)enough, (double)count * bare * bare);
}

static void explain_width(const trial *it, const assay_interval *shown,
                          const assay_interval *decision, double margin, char *text, size_t size)
{
    size_t count = it->log_ratio.baseline_samples < it->log_ratio.candidate_samples
                       ? it->log_ratio.baseline_samples
                       : it->log_ratio.candidate_samples;
    double needed = count_to_decide(count, excess_width(shown, decision, margin));
    double more = fmax(1, ceil(needed - (double)count));
    const char *what = it->log_ratio.paired ? "pair" : "sample",
               *each = it->log_ratio.paired ? "" : " of each";
    if (!(needed < WORTHWHILE_FACTOR * (double)count))
        snprintf(text, size,
                 "the interval is too wide: deciding would take more than %.0f times the %ss",
                 WORTHWHILE_FACTOR, what);
    else
        snprintf(text, size, "the interval is too wide: about %.0f more %s%s%s may decide", more,
                 what, more > 1 ? "s" : "", each);
}

static void show_interval(assay_interval interval, assay_reading *low, assay_reading *high)
{
    *low = *high = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    if (interval.validity == ASSAY_VALID && isfinite(interval.low) && isfinite(interval.high)) {
        *low = assay_reading_of(interval.low);
        *high = assay_reading_of(interval.high);
    }
}

/* Figures and verdict of a decided trial, with the reason in `text`. */
static void judge(const trial *it, double margin, assay_record_comparison *comparison, char *text,
                  size_t size)
{
    assay_interval shown = assay__log_ratio_interval(&it->log_ratio, SHOWN_LEVEL);
    assay_interval decision = assay__log_ratio_interval(&it->log_ratio, it->level);
    if (isfinite(shown.estimate))
        comparison->ratio = assay_reading_of(shown.estimate);
    show_interval(shown, &comparison->low, &comparison->high);
    show_interval(decision, &comparison->decision_low, &comparison->decision_high);
    comparison->verdict = it->verdict;
    if (it->log_ratio.obstacle[0] != '\0')
        snprintf(text, size, "%s", it->log_ratio.obstacle);
    else if (it->verdict == ASSAY_VERDICT_INCONCLUSIVE && shown.low >= 1 - margin &&
             shown.high <= 1 + margin)
        comparison->verdict = ASSAY_VERDICT_SAME;
    else if (it->verdict == ASSAY_VERDICT_INCONCLUSIVE)
        explain_width(it, &shown, &decision, margin, text, size);
}

static assay_status finish(assay_record *record, const trial *it, double margin,
                           assay_record_comparison *comparison)
{
    char text[2 * ASSAY__OBSTACLE_BYTES] = "";
    assay__record_comparison_init(comparison);
    comparison->baseline = it->baseline->name;
    comparison->candidate = it->candidate->name;
    comparison->baseline_origin = it->baseline->origin;
    comparison->candidate_origin = it->candidate->origin;
    comparison->paired = it->log_ratio.paired;
    comparison->pairs = it->log_ratio.pairs;
    comparison->baseline_samples = it->log_ratio.baseline_samples;
    comparison->candidate_samples = it->log_ratio.candidate_samples;
    comparison->margin = margin;
    comparison->decision_level = it->level;
    assay_reading missing = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    comparison->ratio = comparison->low = comparison->high = missing;
    comparison->decision_low = comparison->decision_high = missing;
    if (it->log_ratio.known)
        judge(it, margin, comparison, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", it->log_ratio.obstacle);
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s%s",
             length > 0 && it->log_ratio.remark[0] != '\0' ? "; " : "", it->log_ratio.remark);
    if (text[0] == '\0')
        return ASSAY_OK;
    comparison->reason = assay_record_text(record, text);
    return comparison->reason != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

/* One comparison for each pairing, into `comparisons`; their texts belong to `record`. */
static assay_status compare_all(assay_record *record, const assay__pairing *pairings, size_t count,
                                double margin, assay_record_comparison *comparisons)
{
    trial *trials = calloc(count > 0 ? count : 1, sizeof *trials);
    if (trials == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        trials[i].baseline = pairings[i].baseline;
        trials[i].candidate = pairings[i].candidate;
        status = assay__log_ratio_init(&trials[i].log_ratio, pairings[i].baseline,
                                       pairings[i].candidate, margin);
    }
    if (status == ASSAY_OK)
        decide(trials, count, margin);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = finish(record, &trials[i], margin, &comparisons[i]);
    for (size_t i = 0; i < count; i++)
        assay__log_ratio_release(&trials[i].log_ratio);
    free(trials);
    return status;
}

assay_status assay__compare_into(assay_record *record, const assay__pairing *pairings, size_t count,
                                 double margin)
{
    record->comparisons = NULL;
    record->comparison_count = 0;
    assay_record_comparison *made = assay_record_allocate(record, count, sizeof *made);
    if (made == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = compare_all(record, pairings, count, margin, made);
    if (status == ASSAY_OK) {
        record->comparisons = made;
        record->comparison_count = count;
    }
    return status;
}

assay_status assay_subjects_compare(assay_record *record, const assay_record_subject *baseline,
                                    const assay_record_subject *candidate,
                                    const assay_compare_options *options,
                                    assay_record_comparison *comparison)
{
    assay_compare_options chosen;
    assay_status status = assay__compare_options_read(options, NULL, &chosen);
    const assay__pairing pairing = {baseline, candidate};
    return status == ASSAY_OK ? compare_all(record, &pairing, 1, chosen.margin, comparison)
                              : status;
}
