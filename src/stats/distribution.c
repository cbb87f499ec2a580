/* Distribution functions and their inverses.
 *
 * Normal: erfc(), and its inverse from the rational approximation of Abramowitz and Stegun 26.2.23,
 * refined by Halley steps, which keep the relative accuracy of erfc far into the tail. Student and
 * F: the regularised incomplete beta function by its continued fraction (DLMF 8.17.22) with Lentz's
 * method. Chi-square: the incomplete gamma function by series or continued fraction (DLMF 8.7.1,
 * 8.9.2). Quantiles of Student's t bracket the root first and then take Newton steps that may not
 * leave the bracket, because expansions around the normal quantile fail for degrees of freedom near
 * 1, which strong autocorrelation gives. With many degrees of freedom the fraction loses as many
 * digits as their number has, so the normalising transform of Hill (1970, "Algorithm 395: Student's
 * t-distribution") is used, which is then exact. */
#include "stats/distribution.h"

#include <float.h>
#include <math.h>

enum { ITERATIONS_MAX = 1000000 };

static const double TINY = 1e-300;
static const double NEARLY_NORMAL = 1e4; /* degrees of freedom */

static double log_gamma(double x)
{
    int sign; /* lgamma() would write to a global variable */
    return lgamma_r(x, &sign);
}

double assay__stats_normal_cdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

double assay__stats_normal_quantile(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    double tail = fmin(p, 1 - p);
    double t = sqrt(-2 * log(tail));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; i++) {
        double density = exp(-0.5 * x * x) / sqrt(2 * M_PI);
        double step = (0.5 * erfc(x * M_SQRT1_2) - tail) / density;
        x += step / (1 - 0.5 * x * step);
    }
    return p < 0.5 ? -x : x;
}

static double away_from_zero(double x)
{
    return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of I_x(a, b); converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int m = 1; m < ITERATIONS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        result *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        result *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return result;
}

/* I_x(a, b). The caller passes y = 1 - x, because it can compute y without cancellation. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0 || y <= 0)
        return x <= 0 ? 0 : 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

/* P(T > t) for t ≥ 0. */
static double student_tail(double t, double df)
{
    double square = t * t;
    if (isinf(df))
        return 0.5 * erfc(t * M_SQRT1_2);
    if (isinf(square))
        return 0;
    if (df > NEARLY_NORMAL) {
        double z = sqrt((df - 0.5) * log1p(square / df));
        return 0.5 * erfc((z + z * (z * z + 3) / (48 * df * df)) * M_SQRT1_2);
    }
    return 0.5 * incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

static double student_density(double t, double df)
{
    if (isinf(df))
        return exp(-0.5 * t * t) / sqrt(2 * M_PI);
    return exp(log_gamma((df + 1) / 2) - log_gamma(df / 2) - 0.5 * log(df * M_PI) -
               (df + 1) / 2 * log1p(t * t / df));
}

double assay__stats_student_cdf(double t, double degrees_of_freedom)
{
    if (isnan(t) || !(degrees_of_freedom > 0))
        return NAN;
    double tail = student_tail(fabs(t), degrees_of_freedom);
    return t > 0 ? 1 - tail : tail;
}

/* t > 0 with P(T > t) = tail, 0 < tail < 0.5. */
static double student_tail_quantile(double tail, double df)
{
    double low = 0, t = -assay__stats_normal_quantile(tail), high = t;
    while (student_tail(high, df) > tail) {
        low = high;
        high *= 2;
        if (high > 1e150) /* its square would overflow */
            return INFINITY;
    }
    t += (t * t * t + t) / (4 * df); /* first term of the Cornish-Fisher expansion */
    for (int i = 0; i < 200; i++) {
        if (!(t > low && t < high))
            t = 0.5 * (low + high);
        double excess = student_tail(t, df) - tail;
        if (excess > 0)
            low = t;
        else
            high = t;
        double step = excess / student_density(t, df);
        t += step;
        if (fabs(step) <= 1e-14 * t || high - low <= 1e-14 * high)
            break;
    }
    return t;
}

double assay__stats_student_quantile(double p, double degrees_of_freedom)
{
    if (!(p >= 0 && p <= 1) || !(degrees_of_freedom > 0))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    if (p == 0.5)
        return 0;
    double t = student_tail_quantile(fmin(p, 1 - p), degrees_of_freedom);
    return p < 0.5 ? -t : t;
}

double assay__stats_f_cdf(double f, double numerator_df, double denominator_df)
{
    if (isnan(f) || !(numerator_df > 0) || !(denominator_df > 0))
        return NAN;
    if (f <= 0 || isinf(f))
        return f <= 0 ? 0 : 1;
    if (isinf(numerator_df) && isinf(denominator_df))
        return f < 1 ? 0 : 1;
    if (isinf(denominator_df))
        return assay__stats_chi_square_cdf(f * numerator_df, numerator_df);
    if (isinf(numerator_df))
        return 1 - assay__stats_chi_square_cdf(denominator_df / f, denominator_df);
    double whole = numerator_df * f + denominator_df;
    return incomplete_beta(numerator_df / 2, denominator_df / 2, numerator_df * f / whole,
                           denominator_df / whole);
}

/* P(a, x) by its series; for x < a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < ITERATIONS_MAX && term > sum * DBL_EPSILON; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(a * log(x) - x - log_gamma(a));
}

/* 1 - P(a, x) by its continued fraction; for x ≥ a + 1. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / TINY, d = 1 / away_from_zero(b), result = d;
    for (int n = 1; n < ITERATIONS_MAX; n++) {
        double factor = -n * (n - a);
        b += 2;
        d = 1 / away_from_zero(factor * d + b);
        c = away_from_zero(b + factor / c);
        result *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return result * exp(a * log(x) - x - log_gamma(a));
}

double assay__stats_chi_square_cdf(double x, double degrees_of_freedom)
{
    if (isnan(x) || !(degrees_of_freedom > 0))
        return NAN;
    if (x <= 0 || isinf(degrees_of_freedom))
        return 0; /* an infinite sum of squares exceeds every x */
    if (isinf(x))
        return 1;
    double a = degrees_of_freedom / 2;
    return x / 2 < a + 1 ? gamma_series(a, x / 2) : 1 - gamma_fraction(a, x / 2);
}

double assay__stats_binomial_cdf(double successes, double trials, double probability)
{
    if (successes < 0)
        return 0;
    double k = floor(successes);
    if (k >= trials)
        return 1;
    return incomplete_beta(trials - k, k + 1, 1 - probability, probability);
}
