/* Statistics: plain arrays in, numbers out.
 *
 * Nothing here knows clocks, records or units; every method names its source at the top of its .c.
 * Arrays are borrowed and never changed. A call that has too little to go on says so, by
 * ASSAY_E_DATA or by a validity, and never with a made-up number; a NaN or an infinity among the
 * values is ASSAY_E_ARGUMENT, as is a NULL array with a count above 0. After a failure the result
 * is untouched. Calls that need memory say so and may return ASSAY_E_MEMORY.
 *
 * Threads: every function may be called from any thread; nothing is kept between calls.
 */
#ifndef ASSAY_STATS_H
#define ASSAY_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ── distributions ─────────────────────────────────────────────────────────────────────────────
 * P(X ≤ x) and its inverse, to about 12 digits. An argument outside the domain gives NaN.
 * Degrees of freedom need not be whole; infinite ones give the normal distribution. */
ASSAY_API double assay_stats_normal_cdf(double x);
ASSAY_API double assay_stats_normal_quantile(double p);
ASSAY_API double assay_stats_student_cdf(double t, double degrees_of_freedom);
ASSAY_API double assay_stats_student_quantile(double p, double degrees_of_freedom);
ASSAY_API double assay_stats_f_cdf(double f, double numerator_df, double denominator_df);
ASSAY_API double assay_stats_chi_square_cdf(double x, double degrees_of_freedom);

/* ── the mean ──────────────────────────────────────────────────────────────────────────────────
 * Values are a series in the order of measuring: neighbours may resemble each other, and the
 * interval pays for it. */

/* An estimate and the range that holds the true value in a share `level` of all uses. Meaningful
 * only when validity is ASSAY_VALID. */
typedef struct assay_interval {
    double estimate, low, high;
    double level; /* 0.95 for 95 % */
    assay_validity validity;
} assay_interval;

/* The mean, its standard error corrected for autocorrelation, and the degrees of freedom with
 * which a Student quantile makes an interval of it: for those who combine several series. Needs
 * two values (else ASSAY_E_DATA); all equal gives an error of 0. Cost: 20 passes over the values
 * at most, no memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_mean_error(const double *values, size_t count,
                                                             double *mean, double *standard_error,
                                                             double *degrees_of_freedom);

/* The mean with a two-sided interval, corrected for autocorrelation and for skewness (so it need
 * not be symmetric around the mean). Fewer than two values: ASSAY_OK and ASSAY_NOT_ENOUGH_DATA.
 * All equal: an interval of width 0. 0 < level < 1. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_mean_interval(const double *values, size_t count,
                                                                double level,
                                                                assay_interval *interval);

/* ── summaries ───────────────────────────────────────────────────────────────────────────────── */

typedef struct assay_summary {
    size_t count;
    assay_reading mean;
    assay_reading std; /* sample standard deviation; from 2 values on */
    assay_reading min, max;
    assay_reading median;
    assay_reading mad;      /* median absolute deviation from the median, not scaled */
    assay_reading p25, p75; /* quantiles as by assay_stats_quantile */
    assay_reading p90, p95, p99;
} assay_summary;

/* No values: ASSAY_OK, and every figure is ASSAY_NOT_ENOUGH_DATA. Needs memory for a copy. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_summarize(const double *values, size_t count,
                                                            assay_summary *summary);

/* The quantile 0 ≤ q ≤ 1, interpolated (type 7 of Hyndman and Fan 1996, the default of R and
 * NumPy). ASSAY_NOT_ENOUGH_DATA unless at least one value is expected beyond it on either side
 * (count × min(q, 1 − q) ≥ 1, the median and both ends excepted): p99.9 takes 1000 values. Needs
 * memory for a copy. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_quantile(const double *values, size_t count,
                                                           double q, assay_reading *quantile);

#ifdef __cplusplus
}
#endif

#endif
