/* Decides comparisons by the rule of assay/compare.h, and divides the risk among them.
 *
 * Several comparisons by one metric share a risk by Holm's step-down procedure (1979, "A simple
 * sequentially rejective multiple test procedure"). Each of m undecided comparisons is tried at 1/m
 * of the risk. Those that are decided leave, and the others are tried again with the smaller m,
 * until none is decided any more. Trying all at once instead of in the order of their p-values
 * gives the same decisions. If the interval was computed several times while the samples grew, each
 * risk is also shared between these looks (stats/looks.h). */
#include "analyze/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/build.h"
#include "stats/looks.h"
#include "stats/rule.h"

/* The reason advises more samples only up to this many times the present number. */
static const double WORTHWHILE_FACTOR = 50;

/* The figures that are judged. Runs that did not take turns are compared relative to the speed of
 * the machine, if there is a yardstick beside their samples. */
static const assay__log_ratio *judged(const assay__trial *it)
{
    return it->relative.known ? &it->relative : &it->log_ratio;
}

static bool can_be_judged(const assay__trial *it)
{
    return judged(it)->known && judged(it)->obstacle[0] == '\0';
}

/* The part of a risk that belongs to the last of the looks. */
static double risk_now(const assay__trial *it, double risk)
{
    const assay_record_subject *subject = it->baseline;
    assay__look looks[ASSAY__LOOKS_MAX];
    if (!it->log_ratio.paired || subject->look_count == 0 || subject->look_count > ASSAY__LOOKS_MAX)
        return risk;
    for (size_t i = 0; i < subject->look_count; i++)
        looks[i] = (assay__look){subject->look_pairs[i], subject->look_spent[i]};
    return assay__looks_risk(looks, subject->look_count, risk);
}

static double upper(const assay__trial *it)
{
    return log1p(it->margin);
}

static double lower(const assay__trial *it)
{
    return log1p(-it->margin);
}

static assay_verdict beyond(const assay__trial *it, const assay__location *location, double risk)
{
    int side = assay__location_beyond(location, lower(it), upper(it), risk);
    return side > 0   ? ASSAY_VERDICT_SLOWER
           : side < 0 ? ASSAY_VERDICT_FASTER
                      : ASSAY_VERDICT_INCONCLUSIVE;
}

/* Whether the times themselves point in the direction of the verdict. Relative to the yardstick,
 * work that does not depend on the processor's speed seems faster whenever the processor is slow.
 * So a verdict is dropped if the times point the other way. */
static bool is_plausible(const assay__trial *it, assay_verdict verdict)
{
    double mean = assay__location_centre(&it->log_ratio.location);
    return verdict == ASSAY_VERDICT_SLOWER ? mean > 0 : mean < 0;
}

/* ---- disturbances -----------------------------------------------------------------------------
 */

static bool agrees(const assay__trial *it, assay_verdict verdict, double centre)
{
    int side = verdict == ASSAY_VERDICT_SLOWER ? 1 : verdict == ASSAY_VERDICT_FASTER ? -1 : 0;
    return verdict == ASSAY_VERDICT_INCONCLUSIVE ||
           assay__location_agrees(side, centre, lower(it), upper(it));
}

/* Whether the verdict would be another one without the disturbances of the samples. If so, writes
 * the reason, and the verdict is withheld. */
static bool is_contested(const assay__trial *it, assay_verdict verdict, char *text, size_t size)
{
    double undisturbed = judged(it)->undisturbed, rested = judged(it)->without_waiting;
    if (!agrees(it, verdict, undisturbed))
        snprintf(text, size, "disturbed %s make the difference: without them the ratio is %.3f",
                 it->log_ratio.paired ? "pairs" : "samples", exp(undisturbed));
    else if (!agrees(it, verdict, rested))
        snprintf(text, size,
                 "time spent waiting for a processor makes the difference: without it the ratio is "
                 "%.3f",
                 exp(rested));
    else
        return false;
    return true;
}

/* ---- the decision --------------------------------------------------------------------------- */

static assay_verdict try(const assay__trial *it)
{
    char unused[ASSAY__OBSTACLE_BYTES];
    assay_verdict found = beyond(it, &judged(it)->location, it->risk);
    bool stands = is_plausible(it, found) && !is_contested(it, found, unused, sizeof unused);
    return stands ? found : ASSAY_VERDICT_INCONCLUSIVE;
}

/* Trials with an obstacle count in the division of the risk as well. Whether an obstacle is found
 * depends on chance, so leaving those trials out would favour the others. */
void assay__trials_decide(assay__trial *const *trials, size_t count, double risk)
{
    size_t open = 0, decided = 0;
    for (size_t i = 0; i < count; i++)
        open += trials[i]->log_ratio.known;
    do {
        double shared = risk / (double)(open > 0 ? open : 1);
        decided = 0;
        for (size_t i = 0; i < count; i++) {
            assay__trial *it = trials[i];
            if (it->verdict != ASSAY_VERDICT_INCONCLUSIVE)
                continue;
            const assay__trial *last = i > 0 ? trials[i - 1] : NULL;
            bool alike = last != NULL && last->verdict == ASSAY_VERDICT_INCONCLUSIVE &&
                         last->baseline == it->baseline &&
                         last->log_ratio.paired == it->log_ratio.paired;
            it->risk = alike ? last->risk : risk_now(it, shared);
            if (can_be_judged(it))
                it->verdict = try(it);
            decided += it->verdict != ASSAY_VERDICT_INCONCLUSIVE;
        }
        open -= decided;
    } while (decided > 0 && open > 0);
}

/* ---- figures and reasons ----------------------------------------------------------------------
 */

static void explain_machine(const assay__trial *it, char *text, size_t size)
{
    double machine = assay__location_centre(&it->log_ratio.location) -
                     assay__location_centre(&judged(it)->location);
    snprintf(text, size,
             "the machine was %.0f %% %s for the candidate, as the yardstick beside the samples "
             "says: give several runs a side, or let both take turns",
             100 * fabs(expm1(machine)), machine > 0 ? "slower" : "faster");
}

static void explain_width(const assay__trial *it, double same_risk, char *text, size_t size)
{
    const assay__log_ratio *ratio = judged(it);
    size_t count = it->log_ratio.baseline_samples < it->log_ratio.candidate_samples
                       ? it->log_ratio.baseline_samples
                       : it->log_ratio.candidate_samples;
    const char *what = it->log_ratio.paired ? "pair" : it->log_ratio.by_input ? "input" : "sample";
    const char *each = it->log_ratio.paired || it->log_ratio.by_input ? "" : " of each";
    double needed =
        assay__location_forecast(&ratio->location, (double)count, lower(it), upper(it), it->risk,
                                 same_risk, WORTHWHILE_FACTOR * (double)count);
    double more = fmax(1, ceil(needed - (double)count));
    double error = assay__location_error(&ratio->location);
    bool between_runs = 2 * ratio->between * ratio->between > error * error;
    if (between_runs && ratio->between > 2 * it->log_ratio.between)
        explain_machine(it, text, size);
    else if (between_runs)
        snprintf(text, size,
                 "the interval is too wide for one run of each: give several runs a "
                 "side, or let both take turns");
    else if (isinf(needed))
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

/* Neither faster nor slower: *same*, or *inconclusive* with the reason. */
static void look_for_equality(const assay__trial *it, double same_risk,
                              assay_record_comparison *comparison, char *text, size_t size)
{
    double mean = assay__location_centre(&it->log_ratio.location);
    bool same = assay__location_within(&judged(it)->location, lower(it), upper(it), same_risk);
    bool near = mean >= lower(it) && mean <= upper(it);
    assay_verdict apart = beyond(it, &judged(it)->location, it->risk);
    if (same && near && !is_contested(it, ASSAY_VERDICT_SAME, text, size))
        comparison->verdict = ASSAY_VERDICT_SAME;
    else if ((same && near) || (!same && is_contested(it, apart, text, size)))
        return;
    else if (same || apart != ASSAY_VERDICT_INCONCLUSIVE)
        explain_machine(it, text, size);
    else
        explain_width(it, same_risk, text, size);
}

/* Figures and verdict of a decided trial, with the reason in `text`. */
static void judge(const assay__trial *it, assay_record_comparison *comparison, char *text,
                  size_t size)
{
    double same_risk = risk_now(it, ASSAY__RULE_SAME_RISK);
    assay_interval shown = assay__log_ratio_interval(&it->log_ratio, same_risk);
    assay_interval decision = assay__log_ratio_interval(judged(it), it->risk);
    if (isfinite(shown.estimate))
        comparison->ratio = assay_reading_of(shown.estimate);
    show_interval(shown, &comparison->low, &comparison->high);
    show_interval(decision, &comparison->decision_low, &comparison->decision_high);
    comparison->verdict = it->verdict;
    if (judged(it)->obstacle[0] != '\0')
        snprintf(text, size, "%s", judged(it)->obstacle);
    else if (it->verdict == ASSAY_VERDICT_INCONCLUSIVE)
        look_for_equality(it, same_risk, comparison, text, size);
}

assay_status assay__trial_finish(const assay__trial *it, assay_record *record,
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
    comparison->margin = it->margin;
    comparison->decision_level = 1 - it->risk;
    assay_reading missing = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    comparison->ratio = comparison->low = comparison->high = missing;
    comparison->decision_low = comparison->decision_high = missing;
    if (it->log_ratio.known)
        judge(it, comparison, text, sizeof text);
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
