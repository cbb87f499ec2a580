/* Estimates the ratio of two subjects' times from the logarithms of the times. The mean of log
 * ratios is the logarithm of a ratio whichever side is the baseline. Noise that is proportional to
 * the time, as that of computers is, has the same size on both sides.
 *
 * stats/location.h estimates the ratio from the logarithms. For subjects that took turns the
 * estimate relies on their random order; for other series it relies on a model of their
 * autocorrelation. A plain t test would treat 40 autocorrelated samples as 40 independent
 * observations and see differences everywhere. No model can allow for everything. The following are
 * obstacles to a verdict: two levels between which a machine seldom jumps, and a step or a drift as
 * large as the difference. bench/verdicts.c simulates the result. */
#include "analyze/log_ratio.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "record/append.h"
#include "record/metric.h"
#include "stats/drift.h"
#include "stats/levels.h"
#include "stats/moments.h"
#include "stats/rule.h"

ASSAY_PRINTF(2, 3)
static void forbid(assay__log_ratio *log_ratio, const char *format, ...)
{
    if (log_ratio->obstacle[0] != '\0')
        return; /* the first obstacle is reported */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(log_ratio->obstacle, sizeof log_ratio->obstacle, format, arguments);
    va_end(arguments);
}

/* ---- single sides --------------------------------------------------------------------------- */

static const char *how_to_repeat(const assay_record_subject *subject)
{
    static const char *const hints[][2] = {
        {"google-benchmark", " (--benchmark_repetitions)"},
        {"hyperfine", " (--runs)"},
        {"pyperf", " (--processes)"},
    };
    for (size_t i = 0; subject->source != NULL && i < sizeof hints / sizeof *hints; i++)
        if (strcmp(subject->source, hints[i][0]) == 0)
            return hints[i][1];
    return "";
}

/* Failed runs that were timed on request do not forbid a verdict; a remark tells the reader about
 * them. */
static void remark_failures(assay__log_ratio *log_ratio, const char *side,
                            const assay_record_subject *subject)
{
    size_t length = strlen(log_ratio->remark);
    uint64_t runs = subject->sample_count + subject->warmup_samples + subject->rejected_samples;
    snprintf(log_ratio->remark + length, sizeof log_ratio->remark - length,
             "%s%llu of %llu runs of the %s failed and are timed all the same",
             length > 0 ? "; " : "", (unsigned long long)subject->failed_runs,
             (unsigned long long)runs, side);
}

/* Whether times can be compared: there are some, they are positive and finite, and they are not all
 * equal. */
static bool usable(assay__log_ratio *log_ratio, const char *side,
                   const assay_record_subject *subject)
{
    size_t count = subject->sample_count, equal = 0;
    if (subject->failed_runs > 0 && subject->failures_timed)
        remark_failures(log_ratio, side, subject);
    else if (subject->failed_runs > 0)
        forbid(log_ratio, "%llu of %llu runs of the %s failed",
               (unsigned long long)subject->failed_runs,
               (unsigned long long)(subject->failed_runs + count), side);
    if (count == 0) {
        bool hidden = subject->mean_seconds.validity == ASSAY_VALID;
        forbid(log_ratio, "the %s has no samples%s", side,
               hidden ? ", only aggregates of them" : how_to_repeat(subject));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        double seconds = subject->samples_seconds[i];
        bool counted = (log_ratio->nature & ASSAY__SAMPLES_EXACT) != 0;
        if (!isfinite(seconds) || seconds <= 0) {
            forbid(log_ratio, "sample %zu of the %s is %s", i + 1, side,
                   !isfinite(seconds) ? "not a number"
                   : counted          ? "not above 0"
                   : seconds < 0      ? "a negative time"
                                      : "0 s: too short for the clock");
            return false;
        }
        equal += seconds == subject->samples_seconds[0];
    }
    if ((log_ratio->nature & ASSAY__SAMPLES_EXACT) != 0)
        return true;
    if (count > 1 && equal == count)
        forbid(log_ratio,
               (log_ratio->nature & ASSAY__SAMPLES_INDEPENDENT) != 0
                   ? "all %zu runs of the %s are equal: are they copies of one run?"
                   : "all %zu samples of the %s are equal: the clock is too coarse",
               count, side);
    return count == 1 || equal < count;
}

/* A drift as text. The JSON writer formats the number, because it ignores the locale. */
static void format_percent(double drift, char percent[ASSAY__JSON_NUMBER_BYTES])
{
    assay__json_format_number(percent, round(1000 * expm1(drift)) / 10);
}

/* Forbid a verdict if the drift may explain the difference. */
static void forbid_drift(assay__log_ratio *log_ratio, const char *what, const char *within,
                         double drift, double margin)
{
    char percent[ASSAY__JSON_NUMBER_BYTES];
    if (!assay__stats_may_be_drift(assay__location_centre(&log_ratio->location), drift, margin))
        return;
    format_percent(drift, percent);
    forbid(log_ratio, "the %s by %s %% within %s, which may be the difference", what, percent,
           within);
}

static void forbid_levels(assay__log_ratio *log_ratio, double apart, double margin)
{
    char percent[ASSAY__JSON_NUMBER_BYTES];
    if (!(apart > 0) || fabs(assay__location_centre(&log_ratio->location)) + apart <= log1p(margin))
        return;
    format_percent(apart, percent);
    forbid(log_ratio,
           "the times jump between two levels %s %% apart, and too seldom to tell whose they are: "
           "let both take turns in one run",
           percent);
}

/* ---- paired --------------------------------------------------------------------------------- */

/* The samples of a subject that are used, and the part of their time that counts. */
typedef struct reading_of {
    const assay_record_subject *subject;
    const double *disturbed; /* NULL: use all samples; else only those with a 0 here */
    const double *waited;    /* NULL: all time counts; else this is subtracted */
} reading_of;

static bool counts(const reading_of *side, size_t at)
{
    return side->disturbed == NULL || side->disturbed[at] == 0;
}

static double time_at(const reading_of *side, size_t at)
{
    return side->subject->samples_seconds[at] - (side->waited != NULL ? side->waited[at] : 0);
}

/* Collect the log ratios of the pairs, and their rounds. A pair with a time that has no logarithm
 * is skipped. */
static size_t gather_pairs(const reading_of *baseline, const reading_of *candidate, double *ratios,
                           uint32_t *rounds)
{
    const assay_record_subject *b = baseline->subject, *c = candidate->subject;
    size_t pairs = 0;
    for (size_t i = 0, k = 0; i < b->sample_count && k < c->sample_count;) {
        if (b->rounds[i] < c->rounds[k]) {
            i++;
        } else if (b->rounds[i] > c->rounds[k]) {
            k++;
        } else {
            bool whole = counts(baseline, i) && counts(candidate, k);
            double below = time_at(baseline, i++), above = time_at(candidate, k++);
            if (!whole || !(below > 0) || !(above > 0))
                continue;
            rounds[pairs] = b->rounds[i - 1];
            ratios[pairs++] = log(above) - log(below);
        }
    }
    return pairs;
}

/* Estimate the location of the pairs. `*pairs` receives their number; with fewer than two there is
 * no location. `drift` receives the drift of the ratio within the run, and may be NULL. */
static assay_status locate_pairs(const reading_of *baseline, const reading_of *candidate,
                                 size_t *pairs, assay__location *location, double *drift)
{
    size_t most = baseline->subject->sample_count;
    double *ratios = calloc(most, sizeof *ratios);
    uint32_t *rounds = calloc(most, sizeof *rounds);
    assay_status status = ratios != NULL && rounds != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    *pairs = 0;
    if (status == ASSAY_OK)
        *pairs = gather_pairs(baseline, candidate, ratios, rounds);
    if (status == ASSAY_OK && *pairs >= 2)
        status = assay__location_of_pairs(ratios, rounds, *pairs, location);
    if (status == ASSAY_OK && drift != NULL)
        status = assay__stats_drift(ratios, *pairs, drift);
    free(ratios);
    free(rounds);
    return status;
}

/* Writes the centre of the log ratio; *centre is unchanged if too few samples are left. */
typedef assay_status find_centre(const reading_of *baseline, const reading_of *candidate,
                                 double *centre);

static assay_status centre_of_pairs(const reading_of *baseline, const reading_of *candidate,
                                    double *centre)
{
    assay__location location;
    size_t pairs;
    assay_status status = locate_pairs(baseline, candidate, &pairs, &location, NULL);
    if (status == ASSAY_OK && pairs >= ASSAY__RULE_PAIRS_LEAST)
        *centre = assay__location_centre(&location);
    return status;
}

/* Compute the ratio without the disturbed samples, and the ratio without the time spent waiting for
 * a processor. A side on which no disturbances are marked had none. */
static assay_status look_beside(assay__log_ratio *log_ratio, const assay_record_subject *baseline,
                                const assay_record_subject *candidate, find_centre *find)
{
    reading_of b = {.subject = baseline}, c = {.subject = candidate};
    assay_status status = ASSAY_OK;
    b.disturbed = assay__record_measure_samples(baseline, ASSAY__METRIC_DISTURBED);
    c.disturbed = assay__record_measure_samples(candidate, ASSAY__METRIC_DISTURBED);
    if (b.disturbed != NULL || c.disturbed != NULL)
        status = find(&b, &c, &log_ratio->undisturbed);
    b.disturbed = c.disturbed = NULL;
    b.waited = assay__record_measure_samples(baseline, ASSAY__METRIC_WAITED);
    c.waited = assay__record_measure_samples(candidate, ASSAY__METRIC_WAITED);
    if (status == ASSAY_OK && b.waited != NULL && c.waited != NULL)
        status = find(&b, &c, &log_ratio->without_waiting);
    return status;
}

static assay_status compare_pairs(assay__log_ratio *log_ratio, const assay_record_subject *baseline,
                                  const assay_record_subject *candidate, double margin)
{
    const reading_of b = {.subject = baseline}, c = {.subject = candidate};
    double drift = 0;
    log_ratio->paired = true;
    assay_status status = locate_pairs(&b, &c, &log_ratio->pairs, &log_ratio->location, &drift);
    log_ratio->known = log_ratio->pairs >= 2;
    log_ratio->baseline_samples = log_ratio->candidate_samples = log_ratio->pairs;
    if (log_ratio->pairs < ASSAY__RULE_PAIRS_LEAST)
        forbid(log_ratio, "%zu pair%s of samples: at least %d are needed", log_ratio->pairs,
               log_ratio->pairs == 1 ? "" : "s", ASSAY__RULE_PAIRS_LEAST);
    if (status == ASSAY_OK && log_ratio->known)
        forbid_drift(log_ratio, "ratio changed", "the run", drift, margin);
    if (status == ASSAY_OK && log_ratio->known && (log_ratio->nature & ASSAY__SAMPLES_BOOKED) == 0)
        status = look_beside(log_ratio, baseline, candidate, centre_of_pairs);
    return status;
}

/* ---- not paired ----------------------------------------------------------------------------- */

/* The logarithms of the samples that are used and that have one. NULL when out of memory; caller
 * frees. */
static double *logs_of(const reading_of *side, size_t *found)
{
    double *logs = calloc(side->subject->sample_count, sizeof *logs);
    *found = 0;
    for (size_t i = 0; logs != NULL && i < side->subject->sample_count; i++)
        if (counts(side, i) && time_at(side, i) > 0)
            logs[(*found)++] = log(time_at(side, i));
    return logs;
}

static bool all_equal(const assay_record_subject *subject)
{
    for (size_t i = 1; i < subject->sample_count; i++)
        if (subject->samples_seconds[i] != subject->samples_seconds[0])
            return false;
    return true;
}

/* A single run may be judged against this many runs. Their spread is taken for the spread of the
 * single run. */
enum { ONE_AGAINST = 5 };

static bool is_one_run(const assay__log_ratio *log_ratio, size_t one, size_t others)
{
    return (log_ratio->nature & ASSAY__SAMPLES_INDEPENDENT) != 0 && one == 1 &&
           others >= ONE_AGAINST;
}

static void look_at_count(assay__log_ratio *log_ratio, const char *side, bool constant,
                          const assay_record_subject *subject)
{
    bool runs = (log_ratio->nature & ASSAY__SAMPLES_INDEPENDENT) != 0;
    size_t needed = constant ? 2 : runs ? ASSAY__RULE_RUNS_LEAST : ASSAY__RULE_SAMPLES_LEAST;
    if (subject->sample_count < needed)
        forbid(log_ratio, "%zu %s%s of the %s: at least %zu are needed%s", subject->sample_count,
               runs ? "run" : "sample", subject->sample_count == 1 ? "" : "s", side, needed,
               how_to_repeat(subject));
}

/* Look for obstacles in two series. If a series drifted within its run, it may also have drifted by
 * about as much between the two runs. If it jumped between two levels, the other run may have been
 * on the other level. */
static assay_status look_at_series(assay__log_ratio *log_ratio, const double *baseline,
                                   const double *candidate, double margin)
{
    double drifts[2] = {0}, apart = 0;
    assay_status status = assay__stats_seldom_levels(
        baseline, log_ratio->baseline_samples, candidate, log_ratio->candidate_samples, &apart);
    if (status == ASSAY_OK)
        status = assay__stats_drift(baseline, log_ratio->baseline_samples, &drifts[0]);
    if (status == ASSAY_OK)
        status = assay__stats_drift(candidate, log_ratio->candidate_samples, &drifts[1]);
    if (status != ASSAY_OK)
        return status;
    forbid_drift(log_ratio, drifts[0] > drifts[1] ? "baseline drifted" : "candidate drifted",
                 "its own run", fmax(drifts[0], drifts[1]), margin);
    forbid_levels(log_ratio, apart, margin);
    return ASSAY_OK;
}

static assay_status locate_series(assay__log_ratio *log_ratio, const double *baseline,
                                  const double *candidate, double margin)
{
    size_t before = log_ratio->baseline_samples, after = log_ratio->candidate_samples;
    if (is_one_run(log_ratio, after, before)) {
        assay__location_of_one_more(baseline, before, *candidate, &log_ratio->location);
        return ASSAY_OK;
    }
    if ((log_ratio->nature & ASSAY__SAMPLES_INDEPENDENT) != 0) {
        assay__location_of_independent_difference(baseline, before, candidate, after,
                                                  &log_ratio->location);
        return ASSAY_OK;
    }
    assay_status status =
        assay__location_of_difference(baseline, before, candidate, after, &log_ratio->location);
    return status == ASSAY_OK ? look_at_series(log_ratio, baseline, candidate, margin) : status;
}

/* The centre of the difference between two sides. *centre is unchanged if too few samples are left.
 */
static assay_status centre_of_series(const reading_of *baseline, const reading_of *candidate,
                                     double *centre)
{
    size_t before_count, after_count;
    double *before = logs_of(baseline, &before_count), *after = logs_of(candidate, &after_count);
    assay_status status = before != NULL && after != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    if (status == ASSAY_OK && before_count >= ASSAY__RULE_SAMPLES_LEAST &&
        after_count >= ASSAY__RULE_SAMPLES_LEAST) {
        assay__location location;
        status = assay__location_of_difference(before, before_count, after, after_count, &location);
        if (status == ASSAY_OK)
            *centre = assay__location_centre(&location);
    }
    free(before);
    free(after);
    return status;
}

static assay_status compare_series(assay__log_ratio *log_ratio,
                                   const assay_record_subject *baseline,
                                   const assay_record_subject *candidate, double margin)
{
    const reading_of b = {.subject = baseline}, c = {.subject = candidate};
    double *before = logs_of(&b, &log_ratio->baseline_samples);
    double *after = logs_of(&c, &log_ratio->candidate_samples);
    assay_status status = before != NULL && after != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    bool one = is_one_run(log_ratio, candidate->sample_count, baseline->sample_count);
    log_ratio->known = one || (baseline->sample_count >= 2 && candidate->sample_count >= 2);
    bool constant = log_ratio->known && all_equal(baseline) && all_equal(candidate);
    look_at_count(log_ratio, "baseline", constant, baseline);
    if (!one)
        look_at_count(log_ratio, "candidate", constant, candidate);
    if (status == ASSAY_OK && log_ratio->known)
        status = locate_series(log_ratio, before, after, margin);
    else if (status == ASSAY_OK && (log_ratio->nature & ASSAY__SAMPLES_INDEPENDENT) != 0)
        log_ratio->bare_ratio = exp(assay__sample_moments(after, candidate->sample_count).mean -
                                    assay__sample_moments(before, baseline->sample_count).mean);
    if (status == ASSAY_OK && log_ratio->known &&
        (log_ratio->nature & (ASSAY__SAMPLES_BOOKED | ASSAY__SAMPLES_INDEPENDENT)) == 0)
        status = look_beside(log_ratio, baseline, candidate, centre_of_series);
    free(before);
    free(after);
    return status;
}

/* Whether the samples can be paired. Subjects of one record may come from samplings without a
 * common round. */
static bool have_common_rounds(const assay_record_subject *baseline,
                               const assay_record_subject *candidate)
{
    if (baseline->rounds == NULL || candidate->rounds == NULL)
        return false;
    if (baseline->sample_count == 0 || candidate->sample_count == 0)
        return true;
    return baseline->rounds[0] <= candidate->rounds[candidate->sample_count - 1] &&
           candidate->rounds[0] <= baseline->rounds[baseline->sample_count - 1];
}

/* ---- input by input ---------------------------------------------------------------------------
 */

bool assay__have_common_inputs(const assay_record_subject *baseline,
                               const assay_record_subject *candidate)
{
    return baseline->inputs != NULL && candidate->inputs != NULL &&
           strcmp(baseline->inputs, candidate->inputs) == 0 &&
           baseline->sample_count == candidate->sample_count;
}

/* The log ratios of the inputs that are used and that have one on both sides, in the order of
 * measuring. NULL when out of memory; caller frees. */
static double *ratios_of_inputs(const reading_of *baseline, const reading_of *candidate,
                                size_t *found)
{
    size_t count = baseline->subject->sample_count;
    double *ratios = calloc(count + 1, sizeof *ratios);
    *found = 0;
    for (size_t i = 0; ratios != NULL && i < count; i++) {
        double below = time_at(baseline, i), above = time_at(candidate, i);
        if (counts(baseline, i) && counts(candidate, i) && below > 0 && above > 0)
            ratios[(*found)++] = log(above) - log(below);
    }
    return ratios;
}

static assay_status centre_of_inputs(const reading_of *baseline, const reading_of *candidate,
                                     double *centre)
{
    size_t count;
    assay__location location;
    double *ratios = ratios_of_inputs(baseline, candidate, &count);
    assay_status status = ratios != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    if (status == ASSAY_OK && count >= ASSAY__RULE_INPUTS_LEAST) {
        status = assay__location_of_series(ratios, count, &location);
        if (status == ASSAY_OK)
            *centre = assay__location_centre(&location);
    }
    free(ratios);
    return status;
}

/* Look for obstacles in the ratios of the inputs: a drift, or two levels, of either run. */
static assay_status look_at_ratios(assay__log_ratio *log_ratio, const double *ratios, size_t count,
                                   double margin)
{
    double drift = 0, apart = 0;
    assay_status status = assay__stats_seldom_levels(ratios, count, ratios, count, &apart);
    if (status == ASSAY_OK)
        status = assay__stats_drift(ratios, count, &drift);
    if (status != ASSAY_OK)
        return status;
    forbid_drift(log_ratio, "ratio of equal inputs changed", "the runs", drift, margin);
    forbid_levels(log_ratio, apart, margin);
    return ASSAY_OK;
}

/* Compare the same input on both sides. The inputs may differ as much as they like, because each is
 * compared with itself. The ratios are a series in the order of measuring: the noise of either run
 * may be autocorrelated, and it is the noise of the ratios. */
static assay_status compare_inputs(assay__log_ratio *log_ratio,
                                   const assay_record_subject *baseline,
                                   const assay_record_subject *candidate, double margin)
{
    const reading_of b = {.subject = baseline}, c = {.subject = candidate};
    size_t count;
    double *ratios = ratios_of_inputs(&b, &c, &count);
    assay_status status = ratios != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    log_ratio->by_input = true;
    log_ratio->baseline_samples = log_ratio->candidate_samples = count;
    log_ratio->known = count >= 2;
    if (count < ASSAY__RULE_INPUTS_LEAST)
        forbid(log_ratio, "%zu input%s on both sides: at least %d are needed", count,
               count == 1 ? "" : "s", ASSAY__RULE_INPUTS_LEAST);
    if (status == ASSAY_OK && log_ratio->known)
        status = assay__location_of_series(ratios, count, &log_ratio->location);
    if (status == ASSAY_OK && log_ratio->known)
        status = look_at_ratios(log_ratio, ratios, count, margin);
    if (status == ASSAY_OK && log_ratio->known && (log_ratio->nature & ASSAY__SAMPLES_BOOKED) == 0)
        status = look_beside(log_ratio, baseline, candidate, centre_of_inputs);
    free(ratios);
    return status;
}

/* ---- both ----------------------------------------------------------------------------------- */

assay_status assay__log_ratio_init(assay__log_ratio *log_ratio,
                                   const assay_record_subject *baseline,
                                   const assay_record_subject *candidate, double margin,
                                   unsigned nature)
{
    *log_ratio = (assay__log_ratio){
        .known = false, .nature = nature, .undisturbed = NAN, .without_waiting = NAN};
    bool both = usable(log_ratio, "baseline", baseline);
    both = usable(log_ratio, "candidate", candidate) && both;
    if (!both)
        return ASSAY_OK;
    if (have_common_rounds(baseline, candidate))
        return compare_pairs(log_ratio, baseline, candidate, margin);
    if (assay__have_common_inputs(baseline, candidate) &&
        (nature & ASSAY__SAMPLES_INDEPENDENT) == 0)
        return compare_inputs(log_ratio, baseline, candidate, margin);
    return compare_series(log_ratio, baseline, candidate, margin);
}

assay_interval assay__log_ratio_interval(const assay__log_ratio *log_ratio, double risk)
{
    return (assay_interval){
        .estimate = exp(assay__location_centre(&log_ratio->location)),
        .low = exp(assay__location_quantile(&log_ratio->location, risk / 2)),
        .high = exp(assay__location_quantile(&log_ratio->location, 1 - risk / 2)),
        .level = 1 - risk,
        .validity = ASSAY_VALID,
    };
}
