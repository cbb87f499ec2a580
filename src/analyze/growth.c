/* Chooses the growth class. docs/growth.md explains the same with figures.
 *
 * The choice is the named class with the best score among those that the lack-of-fit test does not
 * reject. If all are rejected, the power law is chosen, provided that it describes the data better
 * than the best named class: data that jump about fit nothing, and a free exponent would only hide
 * that. Without repeats nothing can be rejected for certain, so the chosen class also has to
 * compete with the curves of growth_rivals.c. */
#include "assay/growth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/growth.h"
#include "base/error.h"
#include "stats/distribution.h"

enum { NAMED = ASSAY_GROWTH_CANDIDATES - 1, CONSTANT = 0, POWER = NAMED, CONCLUSIVE_SIZES = 5 };
/* The largest probability that another class which is not rejected may have: beside a growth, and
 * beside no growth. For no growth the limit is larger: the bonus of the class `1` has already
 * lowered the probability of the others, and with a smaller limit few series would be called
 * constant. */
static const double OTHER_MOST = 0.02, OTHER_MOST_OF_CONSTANT = 0.1;
/* The answer is inconclusive if a power of n is more than POWER_ODDS times as probable as the
 * chosen named class, unless both have about the same exponent (n^2.01 is n^2). */
static const double POWER_ODDS = 3, SAME_EXPONENT = 0.1;
/* Without repeats, the answer is inconclusive if a curve that is no class is RIVAL_ODDS times as
 * probable as the named class, or if a power is not RIVAL_ODDS times as probable as that curve.
 * Relative deviations above UNREPEATED_ERROR_MOST make it inconclusive whatever the curve. */
static const double RIVAL_ODDS = 3, UNREPEATED_ERROR_MOST = 0.07;
/* The nominal level of the interval. With it, the interval covers at least 95 % for every class
 * (bench/growth.c). An interval of 95 % would be too narrow, because the noise looks a little
 * smaller once outliers are set aside, and because the overhead, which cannot fall below zero,
 * biases the exponent. */
static const double LEVEL = 0.975;

const char *assay_growth_class_name(assay_growth_class growth_class)
{
    static const char *const names[] = {NULL, "1", "log n", "n", "n log n", "n^2", "n^3", "power"};
    return growth_class >= ASSAY_GROWTH_UNKNOWN && growth_class <= ASSAY_GROWTH_POWER
               ? names[growth_class]
               : NULL;
}

static assay_status check_values(const double *sizes, const double *seconds, size_t count,
                                 assay_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!(sizes[i] > 0 && isfinite(sizes[i])))
            return assay__fail(error, ASSAY_E_ARGUMENT,
                               "size %zu is %g; sizes must be finite and above 0", i, sizes[i]);
        if (!(seconds[i] > 0 && isfinite(seconds[i])))
            return assay__fail(error, ASSAY_E_ARGUMENT,
                               "time %zu is %g s; times must be finite and above 0", i, seconds[i]);
    }
    return ASSAY_OK;
}

/* The index of the named class with the best score, only among those not rejected if `fitting`; -1
 * if none. */
static int best_named(const assay__growth_fits *fits, const assay_growth_candidate *candidates,
                      bool fitting)
{
    int best = -1;
    for (int i = 0; i < NAMED; i++)
        if (candidates[i].possible && !(fitting && candidates[i].rejected) &&
            (best < 0 || fits->classes[i].score < fits->classes[best].score))
            best = i;
    return best;
}

static int choose(const assay__growth_fits *fits, const assay_growth_candidate *candidates)
{
    int best = best_named(fits, candidates, true);
    if (best >= 0)
        return best;
    best = best_named(fits, candidates, false);
    return fits->classes[POWER].score < fits->classes[best].score ? POWER : best;
}

static int runner_up(const assay_growth_candidate *candidates, int chosen)
{
    int second = -1;
    for (int i = 0; i < NAMED; i++)
        if (i != chosen && candidates[i].possible && !candidates[i].rejected &&
            (second < 0 || candidates[i].weight > candidates[second].weight))
            second = i;
    return second;
}

/* Whether the interval of the exponent is so wide that log n with an equal overhead would go
 * unnoticed. */
static bool may_hide_log(const assay_growth *growth)
{
    double first = log(growth->sizes[0].n), last = log(growth->sizes[growth->size_count - 1].n);
    double log_slope = first > 1 ? log(last / first) / (last - first) : 1 / last;
    return growth->high.validity != ASSAY_VALID || growth->high.value > 0.5 * log_slope;
}

static bool power_is_better(const assay__growth_fits *fits, int chosen)
{
    static const double exponents[] = {0, NAN, 1, NAN, 2, 3, NAN}; /* in the order of the enum */
    bool same = fabs(fits->power.exponent - exponents[chosen]) < SAME_EXPONENT;
    return !same && fits->classes[chosen].score - fits->classes[POWER].score > 2 * log(POWER_ODDS);
}

/* Without repeats: whether the times may follow another curve as well. If so, writes the reason. */
static bool doubt_without_repeats(const assay__growth_values *values,
                                  const assay__growth_fits *fits, assay_growth *growth, int chosen)
{
    const char *name = chosen == POWER ? "a power" : assay_growth_class_name(growth->growth_class);
    double deviation = growth->candidates[chosen].relative_error;
    double needed = 2 * log(chosen == POWER ? 1 / RIVAL_ODDS : RIVAL_ODDS);
    assay__growth_rival rival = assay__growth_find_rival(values);
    double lead = fits->classes[chosen].score - rival.score;
    if (lead > needed)
        snprintf(growth->reason, sizeof growth->reason,
                 "without repeats the noise is not known, and %s fits %s %s; measure every size at "
                 "least three times",
                 rival.name, lead > 0 ? "better than" : "about as well as", name);
    else if (deviation > UNREPEATED_ERROR_MOST)
        snprintf(growth->reason, sizeof growth->reason,
                 "the times deviate from %s by %.0f %%, and without repeats nothing tells noise "
                 "from a wrong curve; measure every size at least three times",
                 name, 100 * deviation);
    else
        return false;
    return true;
}

static void judge(const assay__growth_values *values, const assay__growth_fits *fits,
                  assay_growth *growth, int chosen)
{
    const assay_growth_candidate *candidates = growth->candidates;
    const char *name = assay_growth_class_name(growth->growth_class);
    int second = runner_up(candidates, chosen);
    double other_most = chosen == CONSTANT ? OTHER_MOST_OF_CONSTANT : OTHER_MOST;
    if (growth->size_count < CONCLUSIVE_SIZES)
        snprintf(growth->reason, sizeof growth->reason,
                 "only %zu different sizes; measure at least %d, over two decades",
                 growth->size_count, CONCLUSIVE_SIZES);
    else if (candidates[chosen].rejected && chosen == POWER)
        snprintf(growth->reason, sizeof growth->reason,
                 "no class fits: the growth changes within these sizes; look at the table, or fit "
                 "its parts");
    else if (candidates[chosen].rejected)
        snprintf(growth->reason, sizeof growth->reason,
                 "no class fits, %s comes nearest: some sizes deviate by more than the noise",
                 name);
    else if (growth->growth_class == ASSAY_GROWTH_CONSTANT && may_hide_log(growth))
        snprintf(growth->reason, sizeof growth->reason,
                 "no growth is seen, but the noise could hide one as slow as log n; measure more "
                 "repeats or a wider range of sizes");
    else if (second >= 0 && candidates[second].weight > other_most)
        snprintf(growth->reason, sizeof growth->reason,
                 "%s fits about as well as %s; more repeats or a wider range of sizes would tell "
                 "them apart",
                 assay_growth_class_name(candidates[second].growth_class), name);
    else if (power_is_better(fits, chosen))
        snprintf(growth->reason, sizeof growth->reason,
                 "a power of n fits better than %s, which is not rejected either; more repeats or "
                 "a wider range of sizes would tell them apart",
                 name);
    else
        growth->conclusive =
            fits->noise_from_repeats || !doubt_without_repeats(values, fits, growth, chosen);
}

/* The exponent of constant times, by a power without overhead: the squared deviations grow with the
 * square of the distance from the best exponent. */
static void constant_exponent(const assay__growth_values *values, double variance, double quantile,
                              assay_growth *growth)
{
    assay__fit_points points = assay__growth_points(values);
    assay__fit_curve line = assay__fit_power(&points);
    double weight = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < values->count; i++) {
        double change = values->log_n[i] - mean;
        weight += values->weight[i];
        mean += change * values->weight[i] / weight;
        squares += values->weight[i] * change * (values->log_n[i] - mean);
    }
    double margin = quantile * sqrt(variance / squares);
    growth->exponent = assay_reading_of(line.exponent);
    growth->low = assay_reading_of(line.exponent - margin);
    growth->high = assay_reading_of(line.exponent + margin);
}

static assay_reading end_of(bool found, double value)
{
    return found ? assay_reading_of(value) : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static void free_exponent(const assay__growth_values *values, const assay__fit_curve *power,
                          double variance, double quantile, assay_growth *growth)
{
    assay__fit_points points = assay__growth_points(values);
    assay__fit_range range = assay__fit_power_range(
        &points, power, power->squares + quantile * quantile * variance, values->scratch);
    growth->exponent = assay_reading_of(power->exponent);
    growth->low = end_of(range.has_low, range.low);
    growth->high = end_of(range.has_high, range.high);
}

static void find_exponent(const assay__growth_values *values, const assay__growth_fits *fits,
                          assay_growth *growth)
{
    bool constant = growth->growth_class == ASSAY_GROWTH_CONSTANT;
    double freedom = values->value_count - (constant ? 2 : 3);
    assay__fit_points points = assay__growth_points(values);
    double squares = constant ? assay__fit_power(&points).squares : fits->power.squares;
    if (freedom < 1) {
        growth->exponent = assay_reading_of(fits->power.exponent);
        return;
    }
    double variance = fmax((squares + values->within_squares) / freedom,
                           ASSAY__GROWTH_LEAST_NOISE * ASSAY__GROWTH_LEAST_NOISE);
    double quantile = assay__stats_student_quantile(0.5 + LEVEL / 2, freedom);
    if (constant)
        constant_exponent(values, variance, quantile, growth);
    else
        free_exponent(values, &fits->power, variance, quantile, growth);
}

static void describe(const assay__growth_values *values, const assay__growth_fits *fits, int chosen,
                     assay_growth *growth)
{
    const assay_growth_candidate *candidate = &growth->candidates[chosen];
    double all = fits->classes[0].curve.squares + values->within_squares;
    double left = fits->classes[chosen].curve.squares + values->within_squares;
    growth->overhead_seconds = assay_reading_of(candidate->overhead_seconds);
    growth->coefficient = assay_reading_of(candidate->coefficient);
    if (growth->growth_class != ASSAY_GROWTH_CONSTANT && all > 0)
        growth->r_squared = assay_reading_of(1 - left / all);
    if (fits->noise_freedom >= 1)
        growth->noise = assay_reading_of(sqrt(fits->noise_squares));
    for (size_t i = 0; i < growth->size_count; i++)
        growth->sizes[i].fitted_seconds = assay_growth_predict(growth, growth->sizes[i].n).value;
}

static void analyze(const assay__growth_values *values, assay_growth *growth)
{
    assay__growth_fits fits;
    if (values->count < ASSAY_GROWTH_MIN_SIZES) {
        snprintf(growth->reason, sizeof growth->reason,
                 "%zu different size%s; a growth needs at least %d, better %d over two decades",
                 values->count, values->count == 1 ? "" : "s", ASSAY_GROWTH_MIN_SIZES,
                 CONCLUSIVE_SIZES);
        return;
    }
    assay__growth_fit_classes(values, &fits, growth->candidates);
    int chosen = choose(&fits, growth->candidates);
    growth->growth_class = growth->candidates[chosen].growth_class;
    find_exponent(values, &fits, growth);
    judge(values, &fits, growth, chosen);
    describe(values, &fits, chosen, growth);
}

static assay_growth *blank(void)
{
    assay_growth *growth = calloc(1, sizeof *growth);
    if (growth == NULL)
        return NULL;
    assay_reading missing = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    growth->exponent = growth->low = growth->high = missing;
    growth->overhead_seconds = growth->coefficient = missing;
    growth->r_squared = growth->noise = missing;
    for (int i = 0; i < ASSAY_GROWTH_CANDIDATES; i++) {
        growth->candidates[i].growth_class = (assay_growth_class)(i + 1);
        growth->candidates[i].p_value = missing;
    }
    return growth;
}

assay_status assay_growth_fit(const double *sizes, const double *seconds, size_t count,
                              assay_error *error, assay_growth **growth)
{
    if (growth == NULL || (count > 0 && (sizes == NULL || seconds == NULL)))
        return assay__fail(error, ASSAY_E_ARGUMENT, "sizes, seconds and growth must not be NULL");
    *growth = NULL;
    assay_status status = check_values(sizes, seconds, count, error);
    if (status != ASSAY_OK)
        return status;
    assay_growth *result = blank();
    if (result == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a growth fit");
    assay__growth_values values;
    status = assay__growth_values_init(&values, sizes, seconds, count, error, result);
    if (status == ASSAY_OK) {
        analyze(&values, result);
        *growth = result;
        result = NULL;
    }
    assay__growth_values_release(&values);
    assay_growth_free(result);
    return status;
}

void assay_growth_free(assay_growth *growth)
{
    if (growth == NULL)
        return;
    free(growth->sizes);
    free(growth);
}

assay_reading assay_growth_predict(const assay_growth *growth, double n)
{
    if (growth->growth_class == ASSAY_GROWTH_UNKNOWN || !(n > 0))
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    const assay_growth_candidate *chosen = &growth->candidates[growth->growth_class - 1];
    double log_shape = growth->growth_class == ASSAY_GROWTH_POWER
                           ? chosen->exponent * log(n)
                           : assay__growth_log_shape(growth->growth_class, log(n));
    return assay_reading_of(chosen->overhead_seconds + chosen->coefficient * exp(log_shape));
}
