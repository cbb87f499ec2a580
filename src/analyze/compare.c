/* The verdict, word for word as it is promised, and the risk of several shared between them.
 *
 * Each metric is a question of its own: a gate that looks at the time alone must not lose power
 * because memory was measured too. Several comparisons of one metric share a risk of 1 % by Holm's
 * step-down procedure (1979, "A simple sequentially rejective multiple test procedure"): with m
 * undecided comparisons each is tried at 1 − 0.01/m; those decided leave, and the rest is tried
 * again with the smaller m, until nobody leaves. Trying all at once instead of in the order of
 * their p-values gives the same decisions and needs no p-values, which the skewness-corrected
 * interval does not have in closed form. */
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
#include "record/append.h"
#include "record/build.h"
#include "record/metric.h"

static const double DEFAULT_MARGIN = 0.01, RISK = 0.01, SHOWN_LEVEL = 0.95;

/* More of the same is no advice beyond this many times the samples. */
static const double WORTHWHILE_FACTOR = 50;

/* One comparison on its way to its verdict. */
typedef struct trial {
    const assay_record_subject *baseline, *candidate;
    const char *metric;
    assay__log_ratio log_ratio;
    assay__log_ratio relative; /* of the times over those of the yardstick; may be unknown */
    assay_verdict verdict;     /* decided: faster or slower */
    double level;              /* at which it was, or was last tried */
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

/* Runs that did not take turns are compared relative to the speed of the machine, where a yardstick
 * beside the samples tells it. */
static const assay__log_ratio *leading(const trial *it)
{
    bool usable = it->relative.known && it->relative.obstacle[0] == '\0';
    return usable && it->log_ratio.known ? &it->relative : &it->log_ratio;
}

static bool can_be_judged(const trial *it)
{
    return leading(it)->known && leading(it)->obstacle[0] == '\0';
}

static bool is_of(const trial *it, const char *metric)
{
    return strcmp(it->metric, metric) == 0;
}

static assay_verdict beyond(const assay_interval *interval, double margin)
{
    if (interval->validity != ASSAY_VALID)
        return ASSAY_VERDICT_INCONCLUSIVE;
    if (interval->low > 1 + margin)
        return ASSAY_VERDICT_SLOWER;
    return interval->high < 1 - margin ? ASSAY_VERDICT_FASTER : ASSAY_VERDICT_INCONCLUSIVE;
}

/* Relative to the yardstick, work that does not depend on the processor's speed seems faster
 * whenever the processor is slow. So a verdict is dropped if the times themselves point the other
 * way. */
static bool is_plausible(const trial *it, assay_verdict verdict)
{
    return verdict == ASSAY_VERDICT_SLOWER ? it->log_ratio.mean > 0 : it->log_ratio.mean < 0;
}

static bool is_within(const assay_interval *interval, double margin)
{
    return interval->low >= 1 - margin && interval->high <= 1 + margin;
}

/* Holm's procedure. Trials that an obstacle keeps from being judged share the risk as well: what
 * the data forbid is chance too, and those left over are those that hid it. */
static void decide(trial *trials, size_t count, const char *metric, double margin)
{
    size_t open = 0, decided = 0;
    for (size_t i = 0; i < count; i++)
        open += is_of(&trials[i], metric) && trials[i].log_ratio.known;
    do {
        double level = 1 - RISK / (double)(open > 0 ? open : 1);
        decided = 0;
        for (size_t i = 0; i < count; i++) {
            if (!is_of(&trials[i], metric) || trials[i].verdict != ASSAY_VERDICT_INCONCLUSIVE)
                continue;
            trials[i].level = level;
            if (!can_be_judged(&trials[i]))
                continue;
            assay_interval interval = assay__log_ratio_interval(leading(&trials[i]), level);
            assay_verdict found = beyond(&interval, margin);
            if (is_plausible(&trials[i], found))
                trials[i].verdict = found;
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

/* Neither faster nor slower: the same, or not to be told, and why. */
static void look_for_equality(const trial *it, const assay_interval *shown,
                              const assay_interval *decision, double margin,
                              assay_record_comparison *comparison, char *text, size_t size)
{
    double machine = exp(it->log_ratio.mean - leading(it)->mean);
    assay_interval judged = assay__log_ratio_interval(leading(it), SHOWN_LEVEL);
    bool near = shown->estimate >= 1 - margin && shown->estimate <= 1 + margin;
    if (is_within(&judged, margin) && near)
        comparison->verdict = ASSAY_VERDICT_SAME;
    else if (is_within(&judged, margin) || beyond(decision, margin) != ASSAY_VERDICT_INCONCLUSIVE)
        snprintf(
            text, size,
            "the machine was %.0f %% %s for the candidate, as the yardstick beside the samples "
            "says: give several runs a side, or let both take turns",
            100 * fabs(machine - 1), machine > 1 ? "slower" : "faster");
    else
        explain_width(it, &judged, decision, margin, text, size);
}

/* Figures and verdict of a decided trial, with the reason in `text`. */
static void judge(const trial *it, double margin, assay_record_comparison *comparison, char *text,
                  size_t size)
{
    assay_interval shown = assay__log_ratio_interval(&it->log_ratio, SHOWN_LEVEL);
    assay_interval decision = assay__log_ratio_interval(leading(it), it->level);
    if (isfinite(shown.estimate))
        comparison->ratio = assay_reading_of(shown.estimate);
    show_interval(shown, &comparison->low, &comparison->high);
    show_interval(decision, &comparison->decision_low, &comparison->decision_high);
    comparison->verdict = it->verdict;
    if (leading(it)->obstacle[0] != '\0')
        snprintf(text, size, "%s", leading(it)->obstacle);
    else if (it->verdict == ASSAY_VERDICT_INCONCLUSIVE)
        look_for_equality(it, &shown, &decision, margin, comparison, text, size);
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
    comparison->metric = it->metric;
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
    if (it->log_ratio.bare_ratio > 0)
        comparison->ratio = assay_reading_of(it->log_ratio.bare_ratio);
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s%s",
             length > 0 && it->log_ratio.remark[0] != '\0' ? "; " : "", it->log_ratio.remark);
    if (text[0] == '\0')
        return ASSAY_OK;
    comparison->reason = assay_record_text(record, text);
    return comparison->reason != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

/* ---- metrics -------------------------------------------------------------------------------- */

static const char WALL[] = ASSAY__METRIC_WALL, YARDSTICK[] = ASSAY__METRIC_YARDSTICK;

static bool is_time(const char *metric)
{
    size_t length = strlen(metric), ending = strlen("seconds");
    return length >= ending && strcmp(metric + length - ending, "seconds") == 0;
}

/* The subject as if the metric were its time. */
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

/* The subject's times over those of the yardstick beside them; NULL without memory. */
static double *over_yardstick(const assay_record_subject *subject)
{
    const double *yardstick = assay__record_measure_samples(subject, YARDSTICK);
    double *quotients = calloc(subject->sample_count + 1, sizeof *quotients);
    for (size_t i = 0; quotients != NULL && i < subject->sample_count; i++)
        quotients[i] = subject->samples_seconds[i] / yardstick[i];
    return quotients;
}

/* Samples that took turns need no yardstick, since what slowed the machine slowed both; and runs of
 * their own show by themselves how much runs differ. */
static assay_status begin_relative(trial *it, const assay__pairing *pairing, double margin)
{
    assay_record_subject baseline = *pairing->baseline, candidate = *pairing->candidate;
    if (pairing->runs || it->log_ratio.paired ||
        assay__record_measure_samples(&baseline, YARDSTICK) == NULL ||
        assay__record_measure_samples(&candidate, YARDSTICK) == NULL)
        return ASSAY_OK;
    double *of_baseline = over_yardstick(&baseline), *of_candidate = over_yardstick(&candidate);
    assay_status status = ASSAY_E_MEMORY;
    baseline.samples_seconds = of_baseline;
    candidate.samples_seconds = of_candidate;
    if (of_baseline != NULL && of_candidate != NULL)
        status = assay__log_ratio_init(&it->relative, &baseline, &candidate, margin,
                                       ASSAY__SAMPLES_BOOKED);
    free(of_baseline);
    free(of_candidate);
    return status;
}

static assay_status begin(trial *it, const assay__pairing *pairing, const char *metric,
                          double margin)
{
    const assay_record_subject baseline = seen_as(pairing->baseline, metric);
    const assay_record_subject candidate = seen_as(pairing->candidate, metric);
    it->baseline = pairing->baseline;
    it->candidate = pairing->candidate;
    it->metric = metric;
    assay_status status = assay__log_ratio_init(&it->log_ratio, &baseline, &candidate, margin,
                                                nature_of(pairing, metric));
    return status == ASSAY_OK && metric == WALL ? begin_relative(it, pairing, margin) : status;
}

/* One comparison for each trial that was begun, into `comparisons`; their texts belong to
 * `record`. */
static assay_status conclude(assay_record *record, trial *trials, size_t count, double margin,
                             assay_record_comparison *comparisons)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (!is_of(&trials[first], trials[i].metric))
            first++;
        if (first == i)
            decide(trials, count, trials[i].metric, margin);
    }
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = finish(record, &trials[i], margin, &comparisons[i]);
    return status;
}

static void release(trial *trials, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assay__log_ratio_release(&trials[i].log_ratio);
        assay__log_ratio_release(&trials[i].relative);
    }
    free(trials);
}

/* Which metrics of the pairings both sides have: with `trials` they are begun. */
static assay_status begin_measures(const assay__pairing *pairings, size_t count, double margin,
                                   trial *trials, size_t *begun)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < pairings[i].baseline->measure_count && status == ASSAY_OK; k++) {
            const char *metric = pairings[i].baseline->measures[k].metric;
            if (strcmp(metric, YARDSTICK) == 0 ||
                assay__record_measure_samples(pairings[i].candidate, metric) == NULL)
                continue;
            if (trials != NULL)
                status = begin(&trials[*begun], &pairings[i], metric, margin);
            *begun += 1;
        }
    return status;
}

assay_status assay__compare_into(assay_record *record, const assay__pairing *pairings, size_t count,
                                 double margin)
{
    size_t all = count, begun = 0;
    assay_status status = begin_measures(pairings, count, margin, NULL, &all);
    record->comparisons = NULL;
    record->comparison_count = 0;
    assay_record_comparison *made = assay_record_allocate(record, all, sizeof *made);
    trial *trials = calloc(all > 0 ? all : 1, sizeof *trials);
    if (made == NULL || trials == NULL)
        status = ASSAY_E_MEMORY;
    for (; begun < count && status == ASSAY_OK; begun++)
        status = begin(&trials[begun], &pairings[begun], WALL, margin);
    if (status == ASSAY_OK)
        status = begin_measures(pairings, count, margin, trials, &begun);
    if (status == ASSAY_OK)
        status = conclude(record, trials, all, margin, made);
    if (status == ASSAY_OK) {
        record->comparisons = made;
        record->comparison_count = all;
    }
    if (trials != NULL)
        release(trials, all);
    return status;
}

assay_status assay_subjects_compare(assay_record *record, const assay_record_subject *baseline,
                                    const assay_record_subject *candidate,
                                    const assay_compare_options *options,
                                    assay_record_comparison *comparison)
{
    assay_compare_options chosen;
    assay_status status = assay__compare_options_read(options, NULL, &chosen);
    const assay__pairing pairing = {baseline, candidate, false};
    if (status != ASSAY_OK)
        return status;
    trial *it = calloc(1, sizeof *it);
    if (it == NULL)
        return ASSAY_E_MEMORY;
    status = begin(it, &pairing, WALL, chosen.margin);
    if (status == ASSAY_OK)
        status = conclude(record, it, 1, chosen.margin, comparison);
    release(it, 1);
    return status;
}
