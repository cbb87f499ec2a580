/* Times are compared as logarithms: the mean of log ratios is the log of a ratio whichever side is
 * the baseline, and noise that is proportional to the time, as that of computers is, has the same
 * size on both sides.
 *
 * Paired samples give one series of log ratios; its mean and interval are those of
 * assay_stats_mean_interval, which pays for autocorrelation. Series that were not interleaved are
 * combined as by Welch (1947) from the corrected error and the degrees of freedom of each. A plain
 * t test would take 40 samples that resemble their neighbours for 40 observations and see
 * differences everywhere.
 *
 * Guards, chosen by simulation (bench/compare_simulated.c) so that identical subjects are called
 * different in less than 0.5 % of comparisons: */
#include "analyze/log_ratio.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "stats/distribution.h"
#include "stats/mean.h"
#include "stats/segments.h"

enum {
    /* Fewer pairs show no autocorrelation even where there is some. */
    PAIRS_MIN = 10,
    /* The same for each of two series that were not interleaved, where nothing cancels. */
    SAMPLES_MIN = 10,
    /* Runs of their own have none to show. */
    INDEPENDENT_MIN = 3,
};

/* Independent observations that a series must be worth: below, the fitted memory is itself so
 * uncertain that its interval is too short too often. */
static const double WORTH_MIN = 8;

/* A difference of this many standard deviations of a single sample needs no such care: memory does
 * not carry samples so far that stay so close together. Twenty samples without any are worth less
 * than 8 by chance in one series of 13. */
static const double CLEAR_DEVIATIONS = 4;

/* Samples from which on a memory of ρ = 0.8 shows in the fit. In fewer it may hide, and the
 * interval is made wider: by 15 % at 40 samples, up to 1.85 times at 20. Below 20 the fit need not
 * have a coefficient at all (autoregression.c), and 3.5 times is what keeps false alarms of ten
 * samples with ρ = 0.8 below 1 % (7 % at 1.85). It costs power: of ten samples with 2 % noise a
 * slowdown of 10 % is found in 2 of 5 cases (always at 1.85), one of 20 % still always. */
enum { SAMPLES_ENOUGH = 80, SAMPLES_SOME = 40, SAMPLES_FEW = 20 };
static const double WIDENING_LEAST = 1.15, WIDENING_MOST = 1.85, WIDENING_BLIND = 3.5;

/* One side is disturbed more often if chance would do this in fewer than one case in a hundred. */
static const double IMBALANCE_RISK = 0.01;

/* The same for a drift within one series. */
static const double DRIFT_LEVEL = 0.99;

/* Most values in which steps are looked for: the search takes time that grows with the square of
 * the count, so longer series are averaged in groups first. A stretch of less than an eighth of
 * them, a warm-up or an episode, hardly moves the mean, and the interval pays for what it does. */
enum { STEPS_IN = 128, STRETCHES_MOST = 8 };

ASSAY_PRINTF(2, 3)
static void forbid(assay__log_ratio *log_ratio, const char *format, ...)
{
    if (log_ratio->obstacle[0] != '\0')
        return; /* the first says most */
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

/* Failures that somebody asked to time forbid no verdict; who reads it is told. */
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

/* Can times be compared: are there some, all positive and finite, and not all the same? */
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
        forbid(log_ratio, "all %zu samples of the %s are equal: the clock is too coarse", count,
               side);
    return count == 1 || equal < count;
}

/* For how long a subject could be disturbed: who runs longer is hit more often, and that is no
 * fault of his. Processor time where it is known, for who sleeps is not switched out. */
static double exposure(const assay_record_subject *subject, bool processor)
{
    double tried = (double)subject->sample_count + (double)subject->rejected_samples, sum = 0;
    for (size_t i = 0; i < subject->sample_count; i++)
        sum += subject->samples_seconds[i];
    double mean = processor ? subject->user_seconds.value + subject->sys_seconds.value
                            : sum / (double)subject->sample_count;
    return tried * mean * (subject->iterations > 0 ? (double)subject->iterations : 1);
}

static bool knows_processor_time(const assay_record_subject *subject)
{
    return subject->user_seconds.validity == ASSAY_VALID &&
           subject->sys_seconds.validity == ASSAY_VALID;
}

/* Were the disturbances shared out by chance? */
static void look_at_disturbances(assay__log_ratio *log_ratio, const assay_record_subject *baseline,
                                 const assay_record_subject *candidate)
{
    uint64_t on_baseline = baseline->disturbed_samples;
    uint64_t on_candidate = candidate->disturbed_samples;
    bool processor = knows_processor_time(baseline) && knows_processor_time(candidate);
    double exposed_baseline = exposure(baseline, processor);
    double exposed_candidate = exposure(candidate, processor);
    uint64_t total = on_baseline + on_candidate;
    if (total == 0 || total < on_baseline || !(exposed_baseline > 0) || !(exposed_candidate > 0))
        return;
    double share = exposed_candidate / (exposed_baseline + exposed_candidate);
    /* P(at least as many on the candidate) = P(at most as many on the baseline), and the other way
     */
    double above = assay__stats_binomial_cdf((double)on_baseline, (double)total, 1 - share);
    double below = assay__stats_binomial_cdf((double)on_candidate, (double)total, share);
    bool candidate_more = above < below;
    if (2 * fmin(above, below) < IMBALANCE_RISK)
        forbid(log_ratio, "the %s was disturbed clearly more often: %llu times, the %s %llu times",
               candidate_more ? "candidate" : "baseline",
               (unsigned long long)(candidate_more ? on_candidate : on_baseline),
               candidate_more ? "baseline" : "candidate",
               (unsigned long long)(candidate_more ? on_baseline : on_candidate));
}

static double deviation(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / (double)(count - 1));
}

/* How many independent observations a series is worth: its variance over that of its mean. */
static double worth(double spread, double error, size_t count)
{
    return error > 0 ? spread * spread / (error * error) : (double)count;
}

static bool is_clear(double mean, double spread)
{
    return fabs(mean) > CLEAR_DEVIATIONS * spread;
}

/* How much of the way from few to enough is still to go. */
static double missing_share(size_t count, double few, double enough)
{
    return (enough - (double)count) / (enough - few);
}

double assay__log_ratio_widening(size_t count)
{
    if (count >= SAMPLES_ENOUGH)
        return 1;
    if (count >= SAMPLES_SOME)
        return 1 + (WIDENING_LEAST - 1) * missing_share(count, SAMPLES_SOME, SAMPLES_ENOUGH);
    if (count >= SAMPLES_FEW)
        return WIDENING_LEAST +
               (WIDENING_MOST - WIDENING_LEAST) * missing_share(count, SAMPLES_FEW, SAMPLES_SOME);
    return WIDENING_BLIND;
}

/* The change between the halves of a series that its own noise does not explain. */
static double find_slow_drift(const double *logs, size_t count)
{
    double means[2], errors[2], freedoms[2];
    size_t half = count / 2;
    if (assay__stats_mean_error(logs, half, &means[0], &errors[0], &freedoms[0]) != ASSAY_OK ||
        assay__stats_mean_error(logs + half, count - half, &means[1], &errors[1], &freedoms[1]) !=
            ASSAY_OK)
        return 0;
    double drift = fabs(means[1] - means[0]), freedom = fmin(freedoms[0], freedoms[1]);
    double chance =
        assay__stats_student_quantile(0.5 + DRIFT_LEVEL / 2, freedom) * hypot(errors[0], errors[1]);
    return drift > chance ? drift : 0;
}

/* From the lowest to the highest level between which a series stepped; 0 if it did not. */
static assay_status find_steps(const double *logs, size_t count, double *steps)
{
    double means[STEPS_IN] = {0}, low = INFINITY, high = -INFINITY;
    size_t group = (count + STEPS_IN - 1) / STEPS_IN, points[STEPS_IN], found = 0;
    *steps = 0;
    if (count == 0)
        return ASSAY_OK;
    count /= group;
    for (size_t i = 0; i < count * group; i++)
        means[i / group] += logs[i] / (double)group;
    assay_status status = assay__stats_change_points(means, count, points, STEPS_IN, &found);
    for (size_t i = 0, begin = 0; i <= found && status == ASSAY_OK; i++) {
        size_t end = i < found ? points[i] : count;
        double level = 0;
        for (size_t k = begin; k < end; k++)
            level += means[k] / (double)(end - begin);
        bool counts = (end - begin) * STRETCHES_MOST >= count;
        low = counts ? fmin(low, level) : low;
        high = counts ? fmax(high, level) : high;
        begin = end;
    }
    *steps = high > low ? high - low : 0;
    return status;
}

static assay_status find_drift(const double *logs, size_t count, double *drift)
{
    double steps;
    assay_status status = find_steps(logs, count, &steps);
    *drift = fmax(find_slow_drift(logs, count), steps);
    return status;
}

/* Neither a difference that is smaller than the drift can be believed, nor an equality that the
 * drift may have left. */
static bool may_be_drift(double mean, double drift, double margin)
{
    return fabs(mean) < drift && fabs(mean) + drift > log1p(margin);
}

/* A drift as a text; by the writer of numbers, which knows no locale. */
static void format_percent(double drift, char percent[ASSAY__JSON_NUMBER_BYTES])
{
    assay__json_format_number(percent, round(1000 * expm1(drift)) / 10);
}

/* ---- paired --------------------------------------------------------------------------------- */

static size_t gather_pairs(const assay_record_subject *baseline,
                           const assay_record_subject *candidate, double *pair_ratios)
{
    size_t pairs = 0;
    for (size_t i = 0, k = 0; i < baseline->sample_count && k < candidate->sample_count;) {
        if (baseline->rounds[i] < candidate->rounds[k]) {
            i++;
        } else if (baseline->rounds[i] > candidate->rounds[k]) {
            k++;
        } else {
            pair_ratios[pairs++] =
                log(candidate->samples_seconds[k++]) - log(baseline->samples_seconds[i++]);
        }
    }
    return pairs;
}

static assay_status compare_pairs(assay__log_ratio *log_ratio, const assay_record_subject *baseline,
                                  const assay_record_subject *candidate, double margin)
{
    log_ratio->paired = true;
    log_ratio->pair_ratios = calloc(baseline->sample_count, sizeof *log_ratio->pair_ratios);
    if (log_ratio->pair_ratios == NULL)
        return ASSAY_E_MEMORY;
    log_ratio->pairs = gather_pairs(baseline, candidate, log_ratio->pair_ratios);
    log_ratio->baseline_samples = log_ratio->candidate_samples = log_ratio->pairs;
    if (log_ratio->pairs < PAIRS_MIN)
        forbid(log_ratio, "%zu pair%s of samples: at least %d are needed", log_ratio->pairs,
               log_ratio->pairs == 1 ? "" : "s", PAIRS_MIN);
    double drift, spread = 0;
    log_ratio->known =
        assay__stats_mean_error(log_ratio->pair_ratios, log_ratio->pairs, &log_ratio->mean,
                                &log_ratio->error, &log_ratio->degrees_of_freedom) == ASSAY_OK;
    if (log_ratio->known)
        spread = deviation(log_ratio->pair_ratios, log_ratio->pairs, log_ratio->mean);
    if (log_ratio->known && !is_clear(log_ratio->mean, spread) &&
        worth(spread, log_ratio->error, log_ratio->pairs) < WORTH_MIN)
        forbid(log_ratio, "strongly autocorrelated: needs more pairs than %zu", log_ratio->pairs);
    assay_status status = find_drift(log_ratio->pair_ratios, log_ratio->pairs, &drift);
    if (status == ASSAY_OK && log_ratio->known && may_be_drift(log_ratio->mean, drift, margin)) {
        char percent[ASSAY__JSON_NUMBER_BYTES];
        format_percent(drift, percent);
        forbid(log_ratio, "the ratio changed by %s %% within the run, which may be the difference",
               percent);
    }
    return status;
}

/* ---- not paired ----------------------------------------------------------------------------- */

typedef struct series {
    double mean, error, degrees_of_freedom; /* of the logs */
    double spread;                          /* standard deviation of a single one */
    double worth, widening;
    double drift; /* within it, if it cannot be chance; else 0 */
} series;

/* Runs of their own: Student's mean. */
static void describe_runs(const double *logs, size_t count, series *side, bool *known)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += logs[i];
    side->mean = sum / (double)count;
    *known = *known && count >= 2;
    if (count < 2)
        return;
    side->spread = deviation(logs, count, side->mean);
    side->error = side->spread / sqrt((double)count);
    side->degrees_of_freedom = (double)count - 1;
    side->worth = (double)count;
    side->widening = 1;
}

static assay_status describe(const assay_record_subject *subject, unsigned nature, series *side,
                             bool *known)
{
    size_t count = subject->sample_count;
    assay_status status = ASSAY_OK;
    double *logs = calloc(count, sizeof *logs);
    if (logs == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        logs[i] = log(subject->samples_seconds[i]);
    if ((nature & ASSAY__SAMPLES_INDEPENDENT) != 0) {
        describe_runs(logs, count, side, known);
        free(logs);
        return ASSAY_OK;
    }
    *known = *known && assay__stats_mean_error(logs, count, &side->mean, &side->error,
                                               &side->degrees_of_freedom) == ASSAY_OK;
    if (*known) {
        side->spread = deviation(logs, count, side->mean);
        side->worth = worth(side->spread, side->error, count);
        side->widening = assay__log_ratio_widening(count);
        status = find_drift(logs, count, &side->drift);
    }
    free(logs);
    return status;
}

/* Welch (1947) and Satterthwaite (1946). */
static void combine(assay__log_ratio *log_ratio, const series *baseline, const series *candidate)
{
    double b = pow(baseline->error * baseline->widening, 2);
    double c = pow(candidate->error * candidate->widening, 2);
    double below = b * b / baseline->degrees_of_freedom + c * c / candidate->degrees_of_freedom;
    log_ratio->mean = candidate->mean - baseline->mean;
    log_ratio->error = sqrt(b + c);
    log_ratio->degrees_of_freedom =
        below > 0 ? (b + c) * (b + c) / below
                  : fmin(baseline->degrees_of_freedom, candidate->degrees_of_freedom);
}

static void look_at_series(assay__log_ratio *log_ratio, const char *side, const series *it,
                           const series *other, const assay_record_subject *subject)
{
    bool runs = (log_ratio->nature & ASSAY__SAMPLES_INDEPENDENT) != 0;
    bool constant = log_ratio->known && it->spread == 0 && other->spread == 0;
    size_t needed = constant ? 2 : runs ? INDEPENDENT_MIN : SAMPLES_MIN;
    if (subject->sample_count < needed)
        forbid(log_ratio, "%zu %s%s of the %s: at least %zu are needed%s", subject->sample_count,
               runs ? "run" : "sample", subject->sample_count == 1 ? "" : "s", side, needed,
               how_to_repeat(subject));
    else if (log_ratio->known && !runs && it->worth < WORTH_MIN &&
             !is_clear(log_ratio->mean, hypot(it->spread, other->spread)))
        forbid(
            log_ratio,
            "strongly autocorrelated: needs more samples of the %s than %zu, which are worth %.0f",
            side, subject->sample_count, floor(it->worth));
}

/* A series that drifted by itself may have done so between the two runs as well. */
static void look_at_drift(assay__log_ratio *log_ratio, const series *baseline,
                          const series *candidate, double margin)
{
    if (!log_ratio->known ||
        !may_be_drift(log_ratio->mean, baseline->drift + candidate->drift, margin))
        return;
    char percent[ASSAY__JSON_NUMBER_BYTES];
    format_percent(fmax(baseline->drift, candidate->drift), percent);
    forbid(log_ratio, "the %s drifted by %s %% within its own run, which may be the difference",
           baseline->drift > candidate->drift ? "baseline" : "candidate", percent);
}

static assay_status compare_series(assay__log_ratio *log_ratio,
                                   const assay_record_subject *baseline,
                                   const assay_record_subject *candidate, double margin)
{
    series b = {0}, c = {0};
    log_ratio->known = true;
    log_ratio->baseline_samples = baseline->sample_count;
    log_ratio->candidate_samples = candidate->sample_count;
    assay_status status = describe(baseline, log_ratio->nature, &b, &log_ratio->known);
    if (status == ASSAY_OK)
        status = describe(candidate, log_ratio->nature, &c, &log_ratio->known);
    if (status != ASSAY_OK)
        return status;
    if (log_ratio->known)
        combine(log_ratio, &b, &c);
    else if ((log_ratio->nature & ASSAY__SAMPLES_INDEPENDENT) != 0)
        log_ratio->bare_ratio = exp(c.mean - b.mean);
    look_at_series(log_ratio, "baseline", &b, &c, baseline);
    look_at_series(log_ratio, "candidate", &c, &b, candidate);
    look_at_drift(log_ratio, &b, &c, margin);
    return ASSAY_OK;
}

/* Subjects of one record may come from samplings that have no round in common. */
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

/* ---- both ----------------------------------------------------------------------------------- */

assay_status assay__log_ratio_init(assay__log_ratio *log_ratio,
                                   const assay_record_subject *baseline,
                                   const assay_record_subject *candidate, double margin,
                                   unsigned nature)
{
    *log_ratio = (assay__log_ratio){.known = false, .nature = nature};
    bool both = usable(log_ratio, "baseline", baseline);
    both = usable(log_ratio, "candidate", candidate) && both;
    if (!both)
        return ASSAY_OK;
    if ((nature & ASSAY__SAMPLES_BOOKED) == 0)
        look_at_disturbances(log_ratio, baseline, candidate);
    if (have_common_rounds(baseline, candidate))
        return compare_pairs(log_ratio, baseline, candidate, margin);
    return compare_series(log_ratio, baseline, candidate, margin);
}

void assay__log_ratio_release(assay__log_ratio *log_ratio)
{
    free(log_ratio->pair_ratios);
    log_ratio->pair_ratios = NULL;
}

/* Student's interval; of pairs not narrower on either side than with the correction for skewness.
 * That correction is right on average, but cuts off a side as far out as several comparisons at
 * once have to look, where a few pairs seem skewed by chance. */
assay_interval assay__log_ratio_interval(const assay__log_ratio *log_ratio, double level)
{
    double reach = log_ratio->error *
                   assay__stats_student_quantile(0.5 + level / 2, log_ratio->degrees_of_freedom);
    assay_interval skewed, interval = {log_ratio->mean, log_ratio->mean - reach,
                                       log_ratio->mean + reach, level, ASSAY_VALID};
    if (log_ratio->paired) {
        if (assay_stats_mean_interval(log_ratio->pair_ratios, log_ratio->pairs, level, &skewed) !=
            ASSAY_OK)
            return (assay_interval){.validity = ASSAY_NOT_ENOUGH_DATA, .level = level};
        double wider = assay__log_ratio_widening(log_ratio->pairs);
        interval.low = log_ratio->mean - wider * fmax(reach, log_ratio->mean - skewed.low);
        interval.high = log_ratio->mean + wider * fmax(reach, skewed.high - log_ratio->mean);
    }
    interval.estimate = exp(interval.estimate);
    interval.low = exp(interval.low);
    interval.high = exp(interval.high);
    return interval;
}
