/* Decides which rounds count, and whether there are enough of them.
 *
 * For one subject there are enough if the interval of its mean is narrow enough, relative to the
 * mean. For several subjects there are enough if every comparison with the first has its verdict
 * (decide.c). */
#include <math.h>
#include <stdlib.h>

#include "assay/stats.h"
#include "sampling/sampler.h"

static const double level = 0.95; /* of the interval of the mean */

/* Sampling gives up if the precision could not be reached within this many budgets. */
static const double hopeless_budgets = 10.0;

/* The number of rounds in which the warm-up of several subjects is searched for. */
enum { BEGINNING = 200 };

/* The most values in which a steady state is searched for. Longer series are averaged in groups. */
enum { THIN = 256 };

static const assay__shot *shots_of(const assay__sampler *sampler, size_t round)
{
    return sampler->shots + round * sampler->count;
}

static bool round_disturbed(const assay__sampler *sampler, size_t round)
{
    for (size_t i = 0; i < sampler->count; i++)
        if (assay__shot_disturbed(&shots_of(sampler, round)[i]))
            return true;
    return false;
}

static bool round_lost(const assay__sampler *sampler, size_t round)
{
    for (size_t i = 0; i < sampler->count; i++)
        if (shots_of(sampler, round)[i].lost)
            return true;
    return false;
}

bool assay__sampler_counts(const assay__sampler *sampler, const assay__judgement *judgement,
                           size_t round)
{
    return round >= judgement->warmup_rounds && !round_lost(sampler, round) &&
           !(judgement->rejecting && round_disturbed(sampler, round));
}

static size_t collect(const assay__sampler *sampler, const assay__judgement *judgement,
                      size_t subject, double *values)
{
    size_t used = 0;
    for (size_t i = 0; i < sampler->rounds; i++)
        if (assay__sampler_counts(sampler, judgement, i))
            values[used++] = shots_of(sampler, i)[subject].seconds;
    return used;
}

/* The round of the sample with index `nth` among those that count. */
static size_t round_of(const assay__sampler *sampler, const assay__judgement *judgement, size_t nth)
{
    size_t round = 0;
    for (size_t seen = 0; round < sampler->rounds; round++)
        if (assay__sampler_counts(sampler, judgement, round) && seen++ == nth)
            break;
    return round;
}

/* Decide whether disturbed rounds are left out. */
static void choose_rejection(const assay__sampler *sampler, assay__judgement *judgement)
{
    size_t disturbed = 0;
    if (sampler->options.runs > 0) { /* a fixed number of runs: every one counts */
        judgement->rejecting = false;
        return;
    }
    for (size_t i = judgement->warmup_rounds; i < sampler->rounds; i++)
        disturbed += round_disturbed(sampler, i);
    size_t rounds = sampler->rounds - judgement->warmup_rounds;
    judgement->rejecting = 2 * disturbed <= rounds && rounds - disturbed >= 2;
}

/* Replace each group of `group` neighbours by its mean. An incomplete last group is dropped.
 * Finding the steady state takes a time that grows with the square of the count, and it happens
 * between samples. */
static size_t thin_out(double *values, size_t count, size_t group)
{
    for (size_t i = 0; i < count / group; i++) {
        double sum = 0;
        for (size_t k = 0; k < group; k++)
            sum += values[i * group + k];
        values[i] = sum / (double)group;
    }
    return count / group;
}

/* Turn the times of a candidate into log ratios. False if there are times without a logarithm. */
static bool make_ratios(double *candidate, const double *baseline, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(candidate[i] > 0) || !(baseline[i] > 0))
            return false;
        candidate[i] = log(candidate[i] / baseline[i]);
    }
    return true;
}

/* Find the steady state of a series. The values are changed. If there is too little data to tell,
 * `*from` is 0 and `*found` is true.
 *
 * For one subject, the mean must be that of a constant level. So the whole series is examined, and
 * a steady state that covers less than half of it does not count. For several subjects, the ratios
 * matter, and they do not change when all subjects become slower together. So only the beginning is
 * examined, and a later step (another program started or ended) does no harm. */
static assay_status find_steady(const assay__sampler *sampler, double *values, size_t count,
                                size_t *from, bool *found)
{
    bool several = sampler->count > 1;
    size_t looked_at = several && count > BEGINNING ? BEGINNING : count;
    size_t group = (looked_at + THIN - 1) / THIN;
    assay_steady steady;
    *from = 0;
    *found = true;
    if (looked_at == 0)
        return ASSAY_OK;
    looked_at = thin_out(values, looked_at, group);
    assay_status status = assay_stats_find_steady(values, looked_at, &steady);
    if (status != ASSAY_OK || steady.state == ASSAY_STEADY_UNKNOWN)
        return status;
    *found = steady.state == ASSAY_STEADY && (several || steady.from <= looked_at / 2);
    *from = *found ? steady.from * group : 0;
    return ASSAY_OK;
}

/* Find the round from which on the series of every subject is steady. The series are the times or,
 * if `baseline` is given, the ratios to the baseline. The baseline has no ratio to itself. */
static assay_status find_last_steady(const assay__sampler *sampler, assay__judgement *judgement,
                                     const double *baseline, double *values, size_t *latest)
{
    *latest = 0;
    judgement->steady = true;
    for (size_t i = baseline != NULL; i < sampler->count; i++) {
        size_t count = collect(sampler, judgement, i, values), from = 0;
        bool found = true;
        if (baseline != NULL && !make_ratios(values, baseline, count))
            continue;
        assay_status status = find_steady(sampler, values, count, &from, &found);
        if (status != ASSAY_OK)
            return status;
        size_t round = from > 0 ? round_of(sampler, judgement, from) : 0;
        *latest = round > *latest ? round : *latest;
        judgement->steady = judgement->steady && found;
    }
    return ASSAY_OK;
}

/* Find the warm-up. It ends when the last of the subjects is steady. It is searched for among the
 * undisturbed samples. The share of disturbed samples is then computed again without the warm-up,
 * because warming up disturbs samples. If the warm-up of several subjects would take more than half
 * of the rounds, it is more likely a change of the machine, which slows all subjects down together.
 * In that case only the ratios must be steady. */
static assay_status find_warmup(const assay__sampler *sampler, assay__judgement *judgement,
                                double *baseline, double *values)
{
    judgement->warmup_rounds = 0;
    judgement->steady = true;
    choose_rejection(sampler, judgement);
    if (sampler->options.fixed_warmup) {
        size_t asked = sampler->options.warmup_rounds;
        judgement->warmup_rounds = asked < sampler->rounds ? asked : sampler->rounds;
        choose_rejection(sampler, judgement);
        return ASSAY_OK;
    }
    size_t latest = 0;
    assay_status status = find_last_steady(sampler, judgement, NULL, values, &latest);
    if (status == ASSAY_OK && sampler->count > 1 && latest > sampler->rounds / 2) {
        collect(sampler, judgement, 0, baseline);
        status = find_last_steady(sampler, judgement, baseline, values, &latest);
    }
    if (status != ASSAY_OK)
        return status;
    judgement->warmup_rounds = latest;
    choose_rejection(sampler, judgement);
    return ASSAY_OK;
}

static void take_interval(const assay_interval *interval, assay__judgement *judgement)
{
    if (interval->validity != ASSAY_VALID || !(interval->estimate > 0))
        return;
    judgement->relative_width = (interval->high - interval->low) / 2 / interval->estimate;
    judgement->estimate = assay_reading_of(interval->estimate);
    judgement->low = assay_reading_of(interval->low);
    judgement->high = assay_reading_of(interval->high);
}

/* The number of samples that `hopeless_budgets` budgets would give. */
static size_t utmost(const assay__sampler *sampler, size_t kept)
{
    double share = assay__sampler_elapsed(sampler) / sampler->options.budget_seconds;
    double most = (double)kept * hopeless_budgets / fmax(share, 1e-9);
    return most < (double)ASSAY_SAMPLING_MAX_ROUNDS * hopeless_budgets
               ? (size_t)most + 1
               : ASSAY_SAMPLING_MAX_ROUNDS * (size_t)hopeless_budgets;
}

/* Find out whether the series of one subject is long enough. Since the last look its beginning may
 * have become warm-up, so each look computes everything again. */
static assay_status look(const assay__sampler *sampler, assay__judgement *judgement,
                         const double *values)
{
    size_t kept = judgement->kept;
    assay_stopping stopping;
    assay_stopping_decision decision = ASSAY_STOPPING_CONTINUE;
    assay_status status =
        assay_stopping_init(&stopping, level, sampler->options.precision, utmost(sampler, kept));
    if (status != ASSAY_OK)
        return status;
    stopping.next_look = 0;
    status = kept < stopping.minimum
                 ? assay_stats_mean_interval(values, kept, level, &stopping.interval)
                 : assay_stopping_look(&stopping, values, kept, &decision);
    if (status != ASSAY_OK)
        return status;
    take_interval(&stopping.interval, judgement);
    judgement->precise = decision == ASSAY_STOPPING_PRECISE;
    judgement->hopeless = decision == ASSAY_STOPPING_UNREACHABLE;
    judgement->next_samples =
        stopping.next_look > stopping.minimum ? stopping.next_look : stopping.minimum;
    judgement->needed_samples = stopping.predicted > 0 ? stopping.predicted : stopping.minimum;
    return ASSAY_OK;
}

static assay_status look_at_all(const assay__sampler *sampler, assay__judgement *judgement,
                                double *values)
{
    assay_reading none = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    judgement->estimate = judgement->low = judgement->high = none;
    judgement->relative_width = 0;
    judgement->precise = judgement->hopeless = false;
    judgement->kept = collect(sampler, judgement, 0, values);
    return sampler->count == 1 ? look(sampler, judgement, values)
                               : assay__sampler_decide(sampler, judgement);
}

/* The number of rounds that will give `samples` samples, if as many of the further rounds are left
 * out as so far. */
static size_t rounds_for(const assay__sampler *sampler, const assay__judgement *judgement,
                         size_t samples)
{
    size_t after = sampler->rounds - judgement->warmup_rounds;
    double yield = after > 0 && judgement->kept > 0 ? (double)judgement->kept / (double)after : 1;
    double more = samples > judgement->kept ? (double)(samples - judgement->kept) / yield : 1;
    return sampler->rounds + (size_t)fmin(ceil(more), ASSAY_SAMPLING_MAX_ROUNDS);
}

static assay_sampling_end decide(const assay__sampler *sampler, const assay__judgement *judgement)
{
    const assay_sampling_options *options = &sampler->options;
    double budgets = assay__sampler_elapsed(sampler) / options->budget_seconds;
    bool several = sampler->count > 1;
    if (sampler->interrupted)
        return ASSAY_SAMPLING_INTERRUPTED;
    if (sampler->rounds >= options->max_rounds)
        return ASSAY_SAMPLING_COUNT;
    if (sampler->rounds < options->min_rounds)
        return ASSAY_SAMPLING_GOING;
    if (options->fixed_rounds)
        return budgets >= 1 ? ASSAY_SAMPLING_BUDGET : ASSAY_SAMPLING_GOING;
    if (several && judgement->decided)
        return ASSAY_SAMPLING_VERDICT;
    if (several)
        return budgets >= 1 ? ASSAY_SAMPLING_BUDGET : ASSAY_SAMPLING_GOING;
    if (judgement->steady && judgement->precise)
        return ASSAY_SAMPLING_PRECISION;
    if (budgets >= 1)
        return judgement->hopeless || !judgement->steady ? ASSAY_SAMPLING_NOISE
                                                         : ASSAY_SAMPLING_BUDGET;
    return budgets >= 0.5 && judgement->hopeless ? ASSAY_SAMPLING_NOISE : ASSAY_SAMPLING_GOING;
}

assay_status assay__sampler_judge(const assay__sampler *sampler, assay__judgement *judgement)
{
    double *baseline = calloc(sampler->rounds, sizeof *baseline);
    double *values = calloc(sampler->rounds, sizeof *values);
    assay_status status = ASSAY_E_MEMORY;
    if (baseline == NULL || values == NULL)
        goto cleanup;
    status = find_warmup(sampler, judgement, baseline, values);
    if (status == ASSAY_OK)
        status = look_at_all(sampler, judgement, values);
    if (status != ASSAY_OK)
        goto cleanup;
    judgement->next_look = rounds_for(sampler, judgement, judgement->next_samples);
    if (sampler->rounds < sampler->options.min_rounds &&
        judgement->next_look > sampler->options.min_rounds)
        judgement->next_look = sampler->options.min_rounds;
    judgement->needed_rounds = rounds_for(sampler, judgement, judgement->needed_samples);
    judgement->end = decide(sampler, judgement);
cleanup:
    free(baseline);
    free(values);
    return status;
}
