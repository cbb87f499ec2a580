/* Decides whether every comparison with the first subject has its verdict.
 *
 * The samples are looked at several times while they are taken, and sampling ends as soon as every
 * comparison has a verdict. A difference shows in a tenth of the samples that an interval of a
 * given width would take. Stopping early is safe because all looks share the risk of a false alarm
 * (stats/looks.h). Each look comes when there are a quarter more samples than at the look before,
 * and all looks get about the same part of the risk. The last look, when the budget is spent, gets
 * the rest. The record contains the looks, and the comparison that is made from the record uses the
 * same confidence levels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/metric.h"
#include "sampling/sampler.h"
#include "stats/drift.h"
#include "stats/location.h"
#include "stats/rule.h"

/* Factor between the numbers of samples at two looks. */
static const double GROWTH = 1.25;

/* The share of the budget that is spent, by time or by rounds. */
static double progress_of(const assay__sampler *sampler)
{
    const assay_sampling_options *options = &sampler->options;
    double time = assay__sampler_elapsed(sampler) / options->budget_seconds;
    return fmin(fmax(time, (double)sampler->rounds / (double)options->max_rounds), 1);
}

/* The share of the risk that may be spent by now. The time of the first look determines how many
 * looks are expected. */
static double share_spent(assay__judgement *judgement, double progress)
{
    if (progress >= 1)
        return 1;
    if (judgement->look_count == 0)
        judgement->first_progress = progress;
    double first = judgement->first_progress, looks = 1 + log(1 / first) / log(GROWTH);
    return (1 + log(progress / first) / log(GROWTH)) / looks;
}

/* Note a look. False if there were too many looks, or if there are no new samples; the last look is
 * always made. */
static bool note_look(assay__judgement *judgement, double progress)
{
    assay__look *looks = judgement->looks;
    size_t count = judgement->look_count;
    double seen = (double)judgement->kept;
    bool last = progress >= 1;
    if (count > 0 && (seen <= looks[count - 1].seen || count == ASSAY__LOOKS_MAX)) {
        looks[count - 1].spent = last ? 1 : looks[count - 1].spent;
        return last;
    }
    looks[count] = (assay__look){seen, share_spent(judgement, progress)};
    judgement->look_count = count + 1;
    return true;
}

/* The chosen metric, if it is not wall time; NAN if it was not measured. */
static double chosen(const assay__sampler *sampler, const assay__shot *shot)
{
    const char *metric = sampler->options.metric;
    return metric == NULL                                ? (double)NAN
           : strcmp(metric, ASSAY__METRIC_CPU) == 0      ? shot->cpu_seconds
           : strcmp(metric, ASSAY__METRIC_PEAK_RSS) == 0 ? shot->peak_rss_bytes
           : strcmp(metric, ASSAY__METRIC_ENERGY) == 0   ? assay__shot_joules(shot)
                                                         : (double)NAN;
}

/* The metric by which the subjects are compared. Wall time if the chosen metric was not
 * measured. */
static double cost(const assay__sampler *sampler, const assay__shot *shot)
{
    double other = chosen(sampler, shot);
    return isnan(other) ? shot->seconds : other;
}

/* Collect the log ratios of a candidate in the rounds that count. False if one of them has no
 * logarithm. */
static bool gather(const assay__sampler *sampler, const assay__judgement *judgement,
                   size_t candidate, double *ratios, uint32_t *rounds)
{
    size_t used = 0;
    for (size_t i = 0; i < sampler->rounds; i++) {
        const assay__shot *shots = sampler->shots + i * sampler->count;
        if (!assay__sampler_counts(sampler, judgement, i))
            continue;
        double above = cost(sampler, &shots[candidate]), below = cost(sampler, &shots[0]);
        if (!(above > 0) || !(below > 0))
            return false;
        rounds[used] = (uint32_t)i;
        ratios[used++] = log(above / below);
    }
    return true;
}

/* Collect the log ratios of wall time without the disturbed rounds or, with `rested`, without the
 * time spent waiting for a processor. Returns their number; 0 if the waiting is not known. */
static size_t gather_beside(const assay__sampler *sampler, const assay__judgement *judgement,
                            size_t candidate, bool rested, double *ratios, uint32_t *rounds)
{
    size_t used = 0;
    for (size_t i = 0; i < sampler->rounds; i++) {
        const assay__shot *shots = sampler->shots + i * sampler->count;
        const assay__shot *a = &shots[candidate], *b = &shots[0];
        if (!assay__sampler_counts(sampler, judgement, i))
            continue;
        if (rested && (isnan(a->waited_seconds) || isnan(b->waited_seconds)))
            return 0;
        if (!rested && (assay__shot_disturbed(a) || assay__shot_disturbed(b)))
            continue;
        double above = a->seconds - (rested ? a->waited_seconds : 0);
        double below = b->seconds - (rested ? b->waited_seconds : 0);
        if (!(above > 0) || !(below > 0))
            continue;
        rounds[used] = (uint32_t)i;
        ratios[used++] = log(above / below);
    }
    return used;
}

/* Whether the verdict would be another one without the disturbances of the samples. The comparison
 * of the record withholds such a verdict (analyze/trial.c), so sampling has to go on. */
static assay_status is_contested(const assay__sampler *sampler, const assay__judgement *judgement,
                                 size_t candidate, int side, bool *contested)
{
    double low = log1p(-sampler->options.margin), high = log1p(sampler->options.margin);
    double *ratios = calloc(judgement->kept, sizeof *ratios);
    uint32_t *rounds = calloc(judgement->kept, sizeof *rounds);
    assay_status status = ratios != NULL && rounds != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    *contested = false;
    for (int rested = 0; rested < 2 && status == ASSAY_OK && !*contested; rested++) {
        assay__location beside;
        size_t used = gather_beside(sampler, judgement, candidate, rested, ratios, rounds);
        if (used < ASSAY__RULE_PAIRS_LEAST)
            continue;
        status = assay__location_of_pairs(ratios, rounds, used, &beside);
        *contested = status == ASSAY_OK &&
                     !assay__location_agrees(side, assay__location_centre(&beside), low, high);
    }
    free(ratios);
    free(rounds);
    return status;
}

/* Keep the ratio and its interval if it is the least certain one so far. The least certain ratio
 * decides how long sampling goes on. */
static void take_ratio(const assay__location *location, double same_risk,
                       assay__judgement *judgement)
{
    double low = assay__location_quantile(location, same_risk / 2);
    double high = assay__location_quantile(location, 1 - same_risk / 2);
    double width = expm1((high - low) / 2);
    if (judgement->estimate.validity == ASSAY_VALID && width <= judgement->relative_width)
        return;
    judgement->relative_width = width;
    judgement->estimate = assay_reading_of(exp(assay__location_centre(location)));
    judgement->low = assay_reading_of(exp(low));
    judgement->high = assay_reading_of(exp(high));
}

/* Whether processor time may give the verdict in place of wall time. Both then share the risk. */
static bool has_two_witnesses(const assay__sampler *sampler)
{
    return sampler->options.metric == NULL && sampler->rounds > 0 &&
           !isnan(sampler->shots[0].cpu_seconds);
}

/* Compute the risks at which the data of the last look are judged. If that look is repeated
 * (`anew`) because it has become the final one, the risks are computed again from the first look
 * on. */
static void spend_risks(const assay__sampler *sampler, assay__judgement *judgement, bool anew)
{
    double share = has_two_witnesses(sampler) ? ASSAY__RULE_WALL_SHARE : 1;
    double risk = ASSAY__RULE_RISK * share / (double)(sampler->count - 1);
    size_t count = judgement->look_count;
    if (anew) {
        judgement->beyond_risk = assay__looks_risk(judgement->looks, count, risk);
        judgement->same_risk = assay__looks_risk(judgement->looks, count, ASSAY__RULE_SAME_RISK);
        return;
    }
    assay__look look = judgement->looks[count - 1];
    judgement->beyond_risk = assay__looks_next(&judgement->beyond, look, risk);
    judgement->same_risk = assay__looks_next(&judgement->same, look, ASSAY__RULE_SAME_RISK);
}

/* Whether a ratio has its verdict. A verdict that a drift of the ratio or disturbances may explain
 * does not count. */
static assay_status is_answered(const assay__sampler *sampler, const assay__judgement *judgement,
                                size_t candidate, const double *ratios,
                                const assay__location *location, bool *answered)
{
    double margin = sampler->options.margin, low = log1p(-margin), high = log1p(margin), drift;
    int side = assay__location_beyond(location, low, high, judgement->beyond_risk);
    bool contested = false;
    *answered = side != 0 || assay__location_within(location, low, high, judgement->same_risk);
    if (!*answered)
        return ASSAY_OK;
    assay_status status = assay__stats_drift(ratios, judgement->kept, &drift);
    double mean = assay__location_centre(location);
    if (status == ASSAY_OK && isnan(chosen(sampler, &sampler->shots[0])))
        status = is_contested(sampler, judgement, candidate, side, &contested);
    *answered = status == ASSAY_OK && !contested && !assay__stats_may_be_drift(mean, drift, margin);
    return status;
}

static assay_status judge_ratio(const assay__sampler *sampler, assay__judgement *judgement,
                                size_t candidate, const double *ratios,
                                const assay__location *location)
{
    const assay_sampling_options *options = &sampler->options;
    double kept = (double)judgement->kept, most = 100 * kept;
    bool answered;
    if (options->precision > 0 || options->progress != NULL)
        take_ratio(location, judgement->same_risk, judgement);
    assay_status status = is_answered(sampler, judgement, candidate, ratios, location, &answered);
    bool precise = options->precision == 0 || judgement->relative_width <= options->precision;
    if (status != ASSAY_OK || (answered && precise))
        return status;
    judgement->decided = false;
    if (options->progress == NULL)
        return ASSAY_OK;
    double needed =
        assay__location_forecast(location, kept, log1p(-options->margin), log1p(options->margin),
                                 judgement->beyond_risk, judgement->same_risk, most);
    judgement->needed_samples = (size_t)fmax(fmin(needed, most), (double)judgement->needed_samples);
    return ASSAY_OK;
}

/* Go through the ratios of all candidates. They are judged if this is a look; otherwise they are
 * computed for the progress display only. */
static assay_status go_through(const assay__sampler *sampler, assay__judgement *judgement,
                               bool judging)
{
    double *ratios = calloc(judgement->kept, sizeof *ratios);
    uint32_t *rounds = calloc(judgement->kept, sizeof *rounds);
    assay_status status = ratios != NULL && rounds != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    judgement->decided = judging;
    for (size_t i = 1; i < sampler->count && status == ASSAY_OK; i++) {
        assay__location location;
        if (!gather(sampler, judgement, i, ratios, rounds)) {
            judgement->decided = false;
            continue;
        }
        status = assay__location_of_pairs(ratios, rounds, judgement->kept, &location);
        if (status == ASSAY_OK && judging)
            status = judge_ratio(sampler, judgement, i, ratios, &location);
        else if (status == ASSAY_OK)
            take_ratio(&location, ASSAY__RULE_SAME_RISK, judgement);
    }
    free(ratios);
    free(rounds);
    return status;
}

assay_status assay__sampler_decide(const assay__sampler *sampler, assay__judgement *judgement)
{
    const assay_sampling_options *options = &sampler->options;
    double kept = (double)judgement->kept, progress = progress_of(sampler);
    size_t before = judgement->look_count;
    judgement->next_samples = (size_t)fmax(ceil(GROWTH * kept), ASSAY__RULE_PAIRS_LEAST);
    judgement->needed_samples = judgement->next_samples;
    judgement->decided = false;
    if (judgement->kept < ASSAY__RULE_PAIRS_LEAST)
        return ASSAY_OK;
    bool early = sampler->rounds < options->min_rounds || (options->fixed_rounds && progress < 1);
    if (early && !sampler->interrupted)
        return options->progress != NULL ? go_through(sampler, judgement, false) : ASSAY_OK;
    if (!note_look(judgement, progress))
        return ASSAY_OK;
    spend_risks(sampler, judgement, judgement->look_count == before);
    return go_through(sampler, judgement, true);
}
