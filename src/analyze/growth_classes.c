/* Fits, scores and tests every class.
 *
 * Score: the Bayesian information criterion (Schwarz 1978) of log t under normal noise, of the
 * better of two curves, with and without overhead. The noise is estimated along with the curve, as
 * if there were one more value that deviates by 1 %. Otherwise a curve that happens to pass exactly
 * through a few values would count as infinitely good evidence.
 *
 * Test: with repeats, the lack-of-fit F test (Draper and Smith, Applied Regression Analysis, 2.1).
 * It asks whether the means of the sizes deviate from the curve by more than the repeats differ
 * among themselves, and does not assume which class is true. Without repeats the noise has to come
 * from a curve, and the curve with the best score is used. The F test then takes the squared
 * deviations that a class has in addition to those of that curve. */
#include <math.h>

#include "analyze/growth.h"
#include "stats/distribution.h"

/* The bonus of the class `1`, because a growth has to be shown: with no growth at all, each of the
 * five other curves can still bend a little to the noise. The bonus means odds of 12 to 1; with it,
 * constant data are called constant in 98 of 100 cases. */
static const double CONSTANT_BONUS = 5;
static const double PRIOR_SQUARES = 1e-4; /* 1 % */
static const double REJECTED_BELOW = 0.01;
enum { MIN_REPEAT_FREEDOM = 4 }; /* below it, an F test on repeats alone rejects nothing */

double assay__growth_log_shape(assay_growth_class growth_class, double log_n)
{
    switch (growth_class) {
    case ASSAY_GROWTH_LOG:
        return log(log_n);
    case ASSAY_GROWTH_LINEAR:
        return log_n;
    case ASSAY_GROWTH_LINEAR_LOG:
        return log_n + log(log_n);
    case ASSAY_GROWTH_QUADRATIC:
        return 2 * log_n;
    case ASSAY_GROWTH_CUBIC:
        return 3 * log_n;
    default:
        return 0;
    }
}

double assay__growth_score(const assay__growth_values *values, double squares, int parameters)
{
    double count = values->value_count;
    return (count + 1) * log(values->within_squares + squares + PRIOR_SQUARES) +
           parameters * log(count);
}

static assay__growth_class_fit fit_constant(const assay__growth_values *values)
{
    assay__fit_points points = assay__growth_points(values);
    for (size_t i = 0; i < values->count; i++)
        values->scratch[i] = 0;
    assay__fit_curve curve = assay__fit_scale(&points, values->scratch);
    return (assay__growth_class_fit){.curve = curve,
                                     .free_squares = curve.squares,
                                     .free_parameters = 1,
                                     .score = assay__growth_score(values, curve.squares, 1) -
                                              CONSTANT_BONUS};
}

/* The overhead is part of the answer only if it improves the score in spite of its additional
 * parameter. */
static assay__growth_class_fit better_of(const assay__growth_values *values, assay__fit_curve plain,
                                         assay__fit_curve with_overhead, int parameters)
{
    if (plain.squares <= with_overhead.squares)
        with_overhead = plain;
    double plain_score = assay__growth_score(values, plain.squares, parameters);
    double overhead_score = assay__growth_score(values, with_overhead.squares, parameters + 1);
    bool plainer = plain_score <= overhead_score;
    return (assay__growth_class_fit){
        .curve = plainer ? plain : with_overhead,
        .free_squares = with_overhead.squares,
        .free_parameters = parameters + (with_overhead.offset > 0),
        .score = plainer ? plain_score : overhead_score,
    };
}

static assay__growth_class_fit fit_named(const assay__growth_values *values,
                                         assay_growth_class growth_class)
{
    assay__fit_points points = assay__growth_points(values);
    for (size_t i = 0; i < values->count; i++) {
        values->scratch[i] = assay__growth_log_shape(growth_class, values->log_n[i]);
        if (isnan(values->scratch[i])) /* log n below n = 1 */
            return (assay__growth_class_fit){.score = INFINITY};
    }
    assay__fit_curve plain = assay__fit_scale(&points, values->scratch);
    return better_of(values, plain, assay__fit_offset_scale(&points, values->scratch), 1);
}

static assay__growth_class_fit fit_power(const assay__growth_values *values,
                                         assay__fit_curve *power)
{
    assay__fit_points points = assay__growth_points(values);
    *power = assay__fit_offset_power(&points, values->scratch);
    return better_of(values, assay__fit_power(&points), *power, 2);
}

/* The variance of one value, from the repeats or, without them, about the curve with the best
 * score. */
static void estimate_noise(const assay__growth_values *values, assay__growth_fits *fits,
                           const assay__growth_class_fit **best)
{
    double repeats = values->value_count - (double)values->count;
    fits->noise_from_repeats = repeats >= MIN_REPEAT_FREEDOM;
    double squares = values->within_squares, freedom = repeats;
    *best = &fits->classes[0];
    for (int i = 1; i < ASSAY_GROWTH_CANDIDATES; i++)
        if (fits->classes[i].score < (*best)->score)
            *best = &fits->classes[i];
    if (!fits->noise_from_repeats) {
        squares += (*best)->free_squares;
        freedom = values->value_count - (*best)->free_parameters;
    }
    fits->noise_freedom = freedom;
    fits->noise_squares = freedom > 0 ? squares / freedom : 0;
    fits->noise_squares =
        fmax(fits->noise_squares, ASSAY__GROWTH_LEAST_NOISE * ASSAY__GROWTH_LEAST_NOISE);
}

/* The probability of deviating this much or more if the class were true. */
static assay_reading lack_of_fit(const assay__growth_values *values, const assay__growth_fits *fits,
                                 const assay__growth_class_fit *fit,
                                 const assay__growth_class_fit *best)
{
    double squares = fit->free_squares;
    double freedom = (double)values->count - fit->free_parameters;
    if (!fits->noise_from_repeats) {
        squares = fmax(0, squares - best->free_squares);
        freedom = fmax(1, best->free_parameters - fit->free_parameters);
    }
    if (freedom < 1 || fits->noise_freedom < 1)
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    double f = squares / freedom / fits->noise_squares;
    /* The upper tail of F(a, b) is the lower tail of its reciprocal. */
    return assay_reading_of(f > 0 ? assay__stats_f_cdf(1 / f, fits->noise_freedom, freedom) : 1);
}

static void fill_candidate(const assay__growth_values *values, const assay__growth_class_fit *fit,
                           assay_reading p_value, assay_growth_candidate *candidate)
{
    candidate->possible = !isinf(fit->score);
    if (!candidate->possible) {
        candidate->p_value = assay_reading_missing(ASSAY_UNSUPPORTED);
        return;
    }
    bool constant = candidate->growth_class == ASSAY_GROWTH_CONSTANT;
    candidate->overhead_seconds = fit->curve.offset;
    candidate->coefficient = fit->curve.coefficient;
    candidate->exponent = fit->curve.exponent;
    if (constant)
        candidate->exponent = 0;
    candidate->relative_error =
        sqrt((fit->curve.squares + values->within_squares) / values->value_count);
    candidate->p_value = p_value;
    candidate->rejected = p_value.validity == ASSAY_VALID && p_value.value < REJECTED_BELOW;
}

static void weigh(const assay__growth_fits *fits, assay_growth_candidate *candidates)
{
    double best = INFINITY, sum = 0;
    for (int i = 0; i < ASSAY_GROWTH_CANDIDATES - 1; i++)
        best = fmin(best, fits->classes[i].score);
    for (int i = 0; i < ASSAY_GROWTH_CANDIDATES - 1; i++)
        sum += candidates[i].weight = exp(0.5 * (best - fits->classes[i].score));
    for (int i = 0; i < ASSAY_GROWTH_CANDIDATES - 1; i++)
        candidates[i].weight /= sum;
}

void assay__growth_fit_classes(const assay__growth_values *values, assay__growth_fits *fits,
                               assay_growth_candidate *candidates)
{
    const assay__growth_class_fit *best;
    *fits = (assay__growth_fits){.noise_freedom = 0};
    fits->classes[0] = fit_constant(values);
    for (int i = 1; i < ASSAY_GROWTH_CANDIDATES - 1; i++)
        fits->classes[i] = fit_named(values, (assay_growth_class)(i + 1));
    fits->classes[ASSAY_GROWTH_CANDIDATES - 1] = fit_power(values, &fits->power);
    estimate_noise(values, fits, &best);
    for (int i = 0; i < ASSAY_GROWTH_CANDIDATES; i++) {
        candidates[i] = (assay_growth_candidate){.growth_class = (assay_growth_class)(i + 1)};
        fill_candidate(values, &fits->classes[i],
                       lack_of_fit(values, fits, &fits->classes[i], best), &candidates[i]);
    }
    weigh(fits, candidates);
}
