#include "stats/autoregression.h"

#include <math.h>

static void autocovariances(const double *values, size_t count, double mean, size_t lags,
                            double *covariance)
{
    for (size_t lag = 0; lag <= lags; lag++) {
        double sum = 0;
        for (size_t i = lag; i < count; i++)
            sum += (values[i] - mean) * (values[i - lag] - mean);
        covariance[lag] = sum / (double)count;
    }
}

/* Hurvich and Tsai (1989), with the mean and the variance among the parameters. */
static double aicc(double variance, size_t order, size_t count)
{
    double n = (double)count, k = (double)order + 2;
    return n * log(variance) + 2 * k * n / (n - k - 1);
}

/* Yule-Walker by the recursion of Levinson and Durbin; keeps the order of the smallest AICc. */
static void choose_order(const double *covariance, size_t count, size_t order_max,
                         assay__autoregression *fit)
{
    double phi[ASSAY__AR_ORDER_MAX] = {0}, previous[ASSAY__AR_ORDER_MAX];
    double variance = covariance[0], best = INFINITY;
    for (size_t p = 0; p <= order_max; p++) {
        if (p > 0) {
            double reflection = covariance[p];
            for (size_t j = 0; j + 1 < p; j++)
                reflection -= phi[j] * covariance[p - 1 - j];
            reflection /= variance;
            for (size_t j = 0; j + 1 < p; j++)
                previous[j] = phi[j];
            for (size_t j = 0; j + 1 < p; j++)
                phi[j] = previous[j] - reflection * previous[p - 2 - j];
            phi[p - 1] = reflection;
            variance *= 1 - reflection * reflection;
        }
        double criterion = order_max == 0 ? 0 : aicc(variance, p, count);
        if (!(variance > 0) || !(criterion < best))
            continue;
        best = criterion;
        fit->order = p;
        fit->innovation_variance = variance;
        for (size_t j = 0; j < p; j++)
            fit->coefficients[j] = phi[j];
    }
}

/* count × the variance of the sum of the estimated coefficients: 1' (σ² Γ⁻¹) 1, with the inverse of
 * Γ written out (Galbraith and Galbraith 1974). For one coefficient it is 1 − φ². */
static double sum_variance(const assay__autoregression *fit)
{
    double below = 0, above = 0, total = 0;
    for (size_t k = 0; k < fit->order; k++) {
        below += k == 0 ? 1 : -fit->coefficients[k - 1];
        above += -fit->coefficients[fit->order - 1 - k];
        total += below * below - above * above;
    }
    return total;
}

static double innovation(const double *values, size_t i, double mean,
                         const assay__autoregression *fit)
{
    double rest = values[i] - mean;
    for (size_t j = 0; j < fit->order; j++)
        rest -= fit->coefficients[j] * (values[i - 1 - j] - mean);
    return rest;
}

/* Of the innovations, since the mean of a linear process inherits theirs; with the usual correction
 * of its size for small samples. */
static double skewness(const double *values, size_t count, double mean,
                       const assay__autoregression *fit)
{
    double n = (double)(count - fit->order), centre = 0, square = 0, cube = 0;
    for (size_t i = fit->order; i < count; i++)
        centre += innovation(values, i, mean, fit) / n;
    for (size_t i = fit->order; i < count; i++) {
        double deviation = innovation(values, i, mean, fit) - centre;
        square += deviation * deviation;
        cube += deviation * deviation * deviation;
    }
    if (n < 3 || !(square > 0))
        return 0;
    return cube / n / pow(square / n, 1.5) * sqrt(n * (n - 1)) / (n - 2);
}

void assay__autoregression_fit(const double *values, size_t count, double mean,
                               assay__autoregression *fit)
{
    double covariance[ASSAY__AR_ORDER_MAX + 1], n = (double)count;
    size_t order_max = count / 10 < ASSAY__AR_ORDER_MAX ? count / 10 : ASSAY__AR_ORDER_MAX;
    *fit = (assay__autoregression){0};
    autocovariances(values, count, mean, order_max, covariance);
    choose_order(covariance, count, order_max, fit);
    double p = (double)fit->order, sum = 0;
    for (size_t j = 0; j < fit->order; j++)
        sum += fit->coefficients[j];
    fit->innovation_variance *= n / (n - p - 1);
    fit->innovation_skewness = skewness(values, count, mean, fit);
    double spread = sum_variance(fit);
    if (fit->order > 0)
        sum = (n * sum + 1) / (n - 4);
    sum = fmin(fmax(sum, 0), 1 - 1 / sqrt(n));
    if (fit->order == 1)
        spread = 1 - sum * sum;
    fit->coefficient_sum = sum;
    fit->long_run_variance = fit->innovation_variance / ((1 - sum) * (1 - sum));
    double wobble = 2 * spread / ((1 - sum) * (1 - sum));
    fit->degrees_of_freedom = fmax(1, (n - p - 1) / (1 + wobble));
}
