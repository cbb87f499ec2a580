/* Estimates the location of one or two series with noise of unknown autocorrelation. The noise is
 * modelled as an autoregression of order 1 plus white noise. Its autocorrelation at lag k is
 * (1 − λ) ρ^k. For each ρ and λ of a grid, one pass of the Kalman filter over the values and over a
 * series of ones (Harvey 1989, "Forecasting, structural time series models and the Kalman filter",
 * ch. 3) gives the restricted likelihood (Patterson and Thompson 1971) of the series, the best
 * linear estimate of the mean, and its error. The scale is integrated out, which gives the estimate
 * Student's distribution. The weights of the grid are prior times restricted likelihood. For two
 * series the likelihoods are multiplied, so that both contribute to the estimate of the
 * autocorrelation, and the difference has Welch's degrees of freedom.
 *
 * The priors are chosen by simulation (bench/verdicts.c). Pairs are independent with a probability
 * of 97 %, because their random order destroys the autocorrelation of the machine's noise. Two
 * series are independent with a probability of 40 %. The rest is shared evenly over every ρ up to
 * 0.95 and every λ, with two exceptions. They concern strong autocorrelation in two series, and
 * depend on the number of values:
 * - Strong autocorrelation without much white noise (ρ > 0.9, λ < 0.3) counts in full with 20
 *   values, and with an eighth from 40 values on. Otherwise noise with ρ = 0.8 would need 1.5 times
 *   the samples, because 40 values cannot distinguish it from noise with ρ = 0.95.
 * - Strong autocorrelation in much white noise (ρ > 0.85, λ > 0.5) counts three times from 80
 *   values on. Fewer values cannot show it, and independent noise would need more samples because
 *   of it.
 *
 * A grid up to ρ = 0.985 was tried. Noise with ρ = 0.95 then causes 3 % of false alarms with 20
 * values instead of 7 %, but noise with ρ = 0.8 needs twice the samples. The rule before this one
 * fitted each series by itself and made the interval of few values up to 3.5 times wider; it needed
 * three times the samples.
 *
 * Outliers are pulled in first: a value beyond some (robust) standard deviations counts as one at
 * that distance (Huber 1964), and the deviations are then scaled so that a shift of the whole
 * series keeps its size. This costs a few per cent of the efficiency under normal noise, and halves
 * the number of samples under Student's t with 3 degrees of freedom. For pairs, the narrowest of
 * several trimmed means (Jaeckel 1971) was tried and dropped: it was no better, and made false
 * alarms when it chose by chance. */
#include "stats/location.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stats/moments.h"
#include "stats/sorted.h"

/* The grid, and the width of the range that each ρ stands for. */
static const double RHO[] = {0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.92, 0.95};
static const double RHO_WIDTH[] = {0.15, 0.15, 0.15, 0.125, 0.1, 0.085, 0.06, 0.04, 0.03};
static const double WHITE[] = {0, 0.2, 0.4, 0.6, 0.8};
enum { RHOS = sizeof RHO / sizeof *RHO, WHITES = sizeof WHITE / sizeof *WHITE };
_Static_assert(RHOS *WHITES + 1 == ASSAY__LOCATION_TERMS,
               "one term for each autocorrelation, and one for none");

/* The prior probability that the values of two series, of one series, and of pairs are independent.
 * One series has half the values of two series of its length, so it shows an autocorrelation less
 * well. */
static const double NO_MEMORY_OF_SERIES = 0.4, NO_MEMORY_OF_ONE_SERIES = 0.05,
                    NO_MEMORY_OF_PAIRS = 0.97;

/* An autocorrelation that white noise does not hide shows in one series as well as in two series of
 * its length divided by this. Found by simulating equals (bench/verdicts.c). */
static const double OPEN_IN_ONE_SERIES = 2.5;

/* Autocorrelation is searched in at most this many values; longer series are averaged in groups. */
enum { MEMORY_IN = 1024 };

/* A value beyond this many standard deviations is pulled in. Levels that last for a while must not
 * be taken for outliers, so the limit is wider for series than for pairs, and wider for long series
 * than for short ones. */
static const double OUTLYING_OF_SHORT_SERIES = 1.85, OUTLYING_OF_LONG_SERIES = 2.2;
static const double OUTLYING_OF_PAIRS = 1.2;
static const double MEDIAN_TO_SIGMA = 1.4826;

/* A weight below this cannot matter at any risk that is used. */
static const double NEGLIGIBLE = 1e-7;

/* The position of `count` between `from` and `to`: from 0 to 1. */
static double way_from(double from, double to, double count)
{
    return fmin(fmax((count - from) / (to - from), 0), 1);
}

/* ---- outliers ------------------------------------------------------------------------------- */

/* The median of |value − centre|, converted to a standard deviation. `room` needs space for `count`
 * values. */
static double robust_spread(const double *values, size_t count, double centre, double *room)
{
    for (size_t i = 0; i < count; i++)
        room[i] = fabs(values[i] - centre);
    assay__stats_sort(room, count);
    return MEDIAN_TO_SIGMA * assay__stats_sorted_median(room, count);
}

static double median_of(const double *values, size_t count, double *room)
{
    memcpy(room, values, count * sizeof *room);
    assay__stats_sort(room, count);
    return assay__stats_sorted_median(room, count);
}

static double clamp(double value, double limit)
{
    return fmin(fmax(value, -limit), limit);
}

/* Huber's estimate of location: the centre at which the deviations, cut off at `limit`, sum to 0.
 * `inside` is the share of values that were not cut off. */
static double huber_centre(const double *values, size_t count, double start, double limit,
                           double *inside)
{
    enum { STEPS = 50 };
    double centre = start, step = limit;
    for (int k = 0; k < STEPS && fabs(step) > 1e-9 * limit; k++) {
        size_t within = 0;
        step = 0;
        for (size_t i = 0; i < count; i++) {
            double deviation = values[i] - centre;
            within += fabs(deviation) <= limit;
            step += clamp(deviation, limit);
        }
        *inside = fmax((double)within, 1) / (double)count;
        step /= (double)count;
        centre += step;
    }
    return centre;
}

/* Replace the values by values whose mean is Huber's estimate and whose spread gives its standard
 * error. A limit of 0 changes nothing. */
static void draw_in(const double *values, size_t count, double median, double limit, double *drawn)
{
    double inside = 1;
    if (!(limit > 0)) {
        memcpy(drawn, values, count * sizeof *drawn);
        return;
    }
    double centre = huber_centre(values, count, median, limit, &inside);
    for (size_t i = 0; i < count; i++)
        drawn[i] = centre + clamp(values[i] - centre, limit) / inside;
}

/* Replace groups of neighbours by their means, in place. The values that are left over are dropped.
 * Returns the number of means. */
static size_t group(double *values, size_t count)
{
    size_t size = (count + MEMORY_IN - 1) / MEMORY_IN;
    for (size_t i = 0; size > 1 && i < count / size; i++) {
        double sum = 0;
        for (size_t k = 0; k < size; k++)
            sum += values[i * size + k];
        values[i] = sum / (double)size;
    }
    return size > 1 ? count / size : count;
}

/* ---- one autocorrelation --------------------------------------------------------------------- */

/* A series under one autocorrelation: the weighted sums that give its mean and its likelihood. */
typedef struct filtered {
    double ones, mean, squares; /* weighted sums: of 1; the estimate; of squared residuals */
    double log_likelihood;      /* restricted log likelihood, without the scale */
} filtered;

static filtered filter(const double *values, size_t count, double rho, double white)
{
    double state = 0, state_of_ones = 0, variance = 1 - white, step = variance * (1 - rho * rho);
    double a = 0, b = 0, c = 0, determinant = 1, log_determinant = 0;
    for (size_t i = 0; i < count; i++) {
        double total = variance + white, weight = 1 / total, gain = variance * weight;
        double surprise = values[i] - state, surprise_of_one = 1 - state_of_ones;
        a += surprise_of_one * surprise_of_one * weight;
        b += surprise_of_one * surprise * weight;
        c += surprise * surprise * weight;
        determinant *= total;
        if (determinant < 1e-250) {
            log_determinant += log(determinant);
            determinant = 1;
        }
        state = rho * (state + gain * surprise);
        state_of_ones = rho * (state_of_ones + gain * surprise_of_one);
        variance = rho * rho * variance * (1 - gain) + step;
    }
    log_determinant += log(determinant);
    double squares = fmax(c - b * b / a, 0), n = (double)count;
    return (filtered){a, b / a, squares,
                      -0.5 * (log_determinant + log(a) + (n - 1) * log(squares))};
}

/* The autocorrelation of term `at`; the first term has none. Returns its prior weight. */
static double memory_at(size_t at, double none, double *rho, double *white)
{
    if (at == 0) {
        *rho = *white = 0;
        return none;
    }
    double widths = 0;
    for (size_t i = 0; i < RHOS; i++)
        widths += RHO_WIDTH[i];
    *rho = RHO[(at - 1) / WHITES];
    *white = WHITE[(at - 1) % WHITES];
    return (1 - none) * RHO_WIDTH[(at - 1) / WHITES] / widths / WHITES;
}

/* The factor by which a strong autocorrelation of two series counts more or less than the others.
 */
static double emphasis(double rho, double white, double count)
{
    static const double OPEN = 0.12, HIDDEN = 3;
    if (rho > 0.9 && white < 0.3)
        return 1 + (OPEN - 1) * way_from(20, 40, count);
    if (rho > 0.85 && white > 0.5)
        return 1 + (HIDDEN - 1) * way_from(40, 80, count);
    return 1;
}

/* Turn logarithms into weights that sum to 1, and drop terms that cannot matter. */
static void normalise(assay__location *location)
{
    double best = -INFINITY, sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < location->count; i++)
        best = fmax(best, location->terms[i].weight);
    for (size_t i = 0; i < location->count; i++) {
        assay__location_term term = location->terms[i];
        term.weight = exp(term.weight - best);
        if (term.weight < NEGLIGIBLE)
            continue;
        sum += term.weight;
        location->terms[kept++] = term;
    }
    location->count = kept;
    for (size_t i = 0; i < kept; i++)
        location->terms[i].weight /= sum;
}

static assay__location_term welch(double centre, double a, double a_freedom, double b,
                                  double b_freedom)
{
    double below = a * a / a_freedom + b * b / b_freedom;
    return (assay__location_term){
        1, centre, sqrt(a + b), below > 0 ? (a + b) * (a + b) / below : fmin(a_freedom, b_freedom)};
}

/* ---- independent values ---------------------------------------------------------------------- */

void assay__location_of_independent(const double *values, size_t count, assay__location *location)
{
    assay__moments moments = assay__sample_moments(values, count);
    double n = (double)count, error = sqrt(moments.square_sum / (n - 1) / n);
    location->count = 1;
    location->terms[0] = (assay__location_term){1, moments.mean, error, n - 1};
}

void assay__location_of_independent_difference(const double *a, size_t a_count, const double *b,
                                               size_t b_count, assay__location *location)
{
    assay__location first, second;
    assay__location_of_independent(a, a_count, &first);
    assay__location_of_independent(b, b_count, &second);
    const assay__location_term *x = &first.terms[0], *y = &second.terms[0];
    location->count = 1;
    location->terms[0] = welch(y->centre - x->centre, x->error * x->error, x->degrees_of_freedom,
                               y->error * y->error, y->degrees_of_freedom);
}

void assay__location_of_one_more(const double *a, size_t a_count, double b,
                                 assay__location *location)
{
    assay__location_of_independent(a, a_count, location);
    location->terms[0].centre = b - location->terms[0].centre;
    location->terms[0].error *= sqrt((double)a_count + 1); /* s √(1 + 1/n) for s / √n */
}

/* ---- two series ----------------------------------------------------------------------------- */

/* A series ready for the filter: its outliers are pulled in, a long series is grouped, and the mean
 * is subtracted. */
typedef struct series {
    double *values, mean;
    size_t count;
} series;

static assay_status measure_spread(const double *values, size_t count, double *median,
                                   double *spread)
{
    double *room = malloc(count * sizeof *room);
    if (room == NULL)
        return ASSAY_E_MEMORY;
    *median = median_of(values, count, room);
    *spread = robust_spread(values, count, *median, room);
    free(room);
    return ASSAY_OK;
}

static assay_status prepare(const double *values, size_t count, double median, double limit,
                            series *ready)
{
    ready->values = malloc(count * sizeof *ready->values);
    if (ready->values == NULL)
        return ASSAY_E_MEMORY;
    draw_in(values, count, median, limit, ready->values);
    ready->count = group(ready->values, count);
    ready->mean = assay__sample_moments(ready->values, ready->count).mean;
    for (size_t i = 0; i < ready->count; i++)
        ready->values[i] -= ready->mean;
    return ASSAY_OK;
}

static double outlying_of_series(double count)
{
    return OUTLYING_OF_SHORT_SERIES +
           (OUTLYING_OF_LONG_SERIES - OUTLYING_OF_SHORT_SERIES) * way_from(40, 200, count);
}

/* Prepare two series. If their spreads are alike, the outliers of both are pulled in to the same
 * distance: if all outliers are on one side, a distance that differs by chance would move the mean.
 */
static assay_status prepare_two(const double *a, size_t a_count, const double *b, size_t b_count,
                                series *first, series *second)
{
    static const double ALIKE = 2.5;
    double medians[2], spreads[2], na = (double)a_count, nb = (double)b_count;
    assay_status status = measure_spread(a, a_count, &medians[0], &spreads[0]);
    if (status == ASSAY_OK)
        status = measure_spread(b, b_count, &medians[1], &spreads[1]);
    if (status != ASSAY_OK)
        return status;
    if (spreads[0] < ALIKE * spreads[1] && spreads[1] < ALIKE * spreads[0])
        spreads[0] = spreads[1] =
            sqrt((na * spreads[0] * spreads[0] + nb * spreads[1] * spreads[1]) / (na + nb));
    double outlying = outlying_of_series(fmin(na, nb));
    status = prepare(a, a_count, medians[0], outlying * spreads[0], first);
    if (status == ASSAY_OK)
        status = prepare(b, b_count, medians[1], outlying * spreads[1], second);
    return status;
}

static bool is_constant(const series *it)
{
    for (size_t i = 0; i < it->count; i++)
        if (it->values[i] != it->values[0])
            return false;
    return true;
}

static assay__location_term mean_under(const series *it, double rho, double white)
{
    double freedom = (double)it->count - 1;
    filtered x = filter(it->values, it->count, rho, white);
    return (assay__location_term){x.log_likelihood, it->mean + x.mean,
                                  sqrt(x.squares / freedom / x.ones), freedom};
}

static assay__location_term difference_under(const series *a, const series *b, double rho,
                                             double white)
{
    double a_freedom = (double)a->count - 1, b_freedom = (double)b->count - 1;
    filtered x = filter(a->values, a->count, rho, white);
    filtered y = filter(b->values, b->count, rho, white);
    assay__location_term term =
        welch(b->mean + y.mean - a->mean - x.mean, x.squares / a_freedom / x.ones, a_freedom,
              y.squares / b_freedom / y.ones, b_freedom);
    term.weight = x.log_likelihood + y.log_likelihood;
    return term;
}

assay_status assay__location_of_difference(const double *a, size_t a_count, const double *b,
                                           size_t b_count, assay__location *location)
{
    series first = {0}, second = {0};
    assay_status status = prepare_two(a, a_count, b, b_count, &first, &second);
    if (status == ASSAY_OK && (is_constant(&first) || is_constant(&second))) {
        assay__location_of_independent_difference(a, a_count, b, b_count, location);
    } else if (status == ASSAY_OK) {
        double count = (double)(a_count < b_count ? a_count : b_count);
        location->count = ASSAY__LOCATION_TERMS;
        for (size_t i = 0; i < location->count; i++) {
            double rho, white, prior = memory_at(i, NO_MEMORY_OF_SERIES, &rho, &white);
            location->terms[i] = difference_under(&first, &second, rho, white);
            location->terms[i].weight += log(prior * emphasis(rho, white, count));
        }
        normalise(location);
    }
    free(first.values);
    free(second.values);
    return status;
}

assay_status assay__location_of_series(const double *values, size_t count,
                                       assay__location *location)
{
    series ready = {0};
    double median, spread;
    assay_status status = measure_spread(values, count, &median, &spread);
    if (status == ASSAY_OK)
        status = prepare(values, count, median, outlying_of_series((double)count) * spread, &ready);
    if (status == ASSAY_OK && is_constant(&ready)) {
        assay__location_of_independent(values, count, location);
    } else if (status == ASSAY_OK) {
        location->count = ASSAY__LOCATION_TERMS;
        for (size_t i = 0; i < location->count; i++) {
            double rho, white, prior = memory_at(i, NO_MEMORY_OF_ONE_SERIES, &rho, &white);
            double shown = (double)count / (white < 0.5 ? OPEN_IN_ONE_SERIES : 1);
            location->terms[i] = mean_under(&ready, rho, white);
            location->terms[i].weight += log(prior * emphasis(rho, white, shown));
        }
        normalise(location);
    }
    free(ready.values);
    return status;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* The factor by which the variance of the mean grows because the two pairs of a block resemble each
 * other: in the order ABBA, a disturbance that lasts for two samples affects one side twice. The
 * factor is at least 1. */
static double block_factor(const double *values, const uint32_t *rounds, size_t count,
                           double centre)
{
    double products = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        double own = values[i] - centre;
        squares += own * own;
        if (i + 1 < count && rounds[i] / 2 == rounds[i + 1] / 2)
            products += own * (values[i + 1] - centre);
    }
    return squares > 0 && products > 0 ? 1 + 2 * products / squares : 1;
}

assay_status assay__location_of_pairs(const double *differences, const uint32_t *rounds,
                                      size_t count, assay__location *location)
{
    series ready = {0};
    double median, spread;
    assay_status status = measure_spread(differences, count, &median, &spread);
    if (status == ASSAY_OK)
        status = prepare(differences, count, median, OUTLYING_OF_PAIRS * spread, &ready);
    if (status != ASSAY_OK)
        goto cleanup;
    if (is_constant(&ready)) {
        assay__location_of_independent(differences, count, location);
        goto cleanup;
    }
    location->count = ASSAY__LOCATION_TERMS;
    for (size_t i = 0; i < location->count; i++) {
        double rho, white, prior = memory_at(i, NO_MEMORY_OF_PAIRS, &rho, &white);
        location->terms[i] = mean_under(&ready, rho, white);
        location->terms[i].weight += log(prior);
    }
    location->terms[0].error *=
        sqrt(block_factor(differences, rounds, count, location->terms[0].centre));
    normalise(location);
cleanup:
    free(ready.values);
    return status;
}
