/* Statistics: plain arrays in, numbers out.
 *
 *     assay_interval mean;
 *     if (assay_stats_mean_interval(seconds, count, 0.95, &mean) != ASSAY_OK) ...
 *     if (mean.validity == ASSAY_VALID)
 *         printf("%g s (%g to %g)\n", mean.estimate, mean.low, mean.high);
 *
 * Nothing here depends on clocks, records or units. The source of every method is named at the top
 * of its .c file. Arrays are borrowed and never changed. Too few values give ASSAY_E_DATA, or a
 * result whose validity says so. A NaN, an infinity or a value beyond 1e100 gives ASSAY_E_ARGUMENT,
 * and so does a NULL array with a count above 0. Negative values are allowed. Functions that
 * compute squares treat values as equal if they differ by less than 1e-150. After a failure the
 * result is unchanged. Calls that need memory say so and may return ASSAY_E_MEMORY.
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

/* ── the mean ──────────────────────────────────────────────────────────────────────────────────
 * Values are a series in the order of measuring. They may be autocorrelated, which makes the
 * interval wider. */

/* An estimate and its confidence interval. The figures are meaningful only when validity is
 * ASSAY_VALID. */
typedef struct assay_interval {
    double estimate, low, high;
    double level; /* 0.95 for 95 % */
    assay_validity validity;
} assay_interval;

/* Compute the mean with a two-sided interval, 0 < level < 1. The interval is corrected for
 * autocorrelation and for skewness, so it need not be symmetric around the mean. If there are fewer
 * than two values, the call returns ASSAY_OK and the validity is ASSAY_NOT_ENOUGH_DATA. If all
 * values are equal, the interval has the width 0. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_mean_interval(const double *values, size_t count,
                                                                double level,
                                                                assay_interval *interval);

/* ── stopping ──────────────────────────────────────────────────────────────────────────────────
 * These calls decide when to stop measuring. They look at the series a few times, stop when the
 * interval of the mean is narrow enough, and find out early if it never will be. Report the
 * interval of the last look; repeated looks cost no coverage. */

typedef enum assay_stopping_decision {
    ASSAY_STOPPING_CONTINUE,    /* continue to measure, up to next_look values */
    ASSAY_STOPPING_PRECISE,     /* the interval is narrow enough */
    ASSAY_STOPPING_UNREACHABLE, /* too much noise to reach the precision within the maximum */
    ASSAY_STOPPING_EXHAUSTED    /* the maximum is reached, the precision is not */
} assay_stopping_decision;

typedef struct assay_stopping {
    double level;
    double relative_precision; /* half the interval's width over the mean */
    double absolute_precision; /* half the interval's width; one of the two is enough. 0: unused */
    size_t minimum;            /* values before the first stop; default 30; fewer cost coverage */
    size_t maximum;            /* number of values; may change between looks, with a time budget */
    size_t next_look;          /* number of values at which the next look is made */
    size_t predicted;          /* expected total number of values; 0 before the first look */
    assay_interval interval;   /* of the last look; ASSAY_NOT_ENOUGH_DATA before the first */
    size_t mode_minimum;       /* values before a stop for the relative precision; default 200. It
                                  makes sure that a slow mode shows: a mode of one value in 50 is
                                  missed by 200 values in 2 % of series, by 30 values in 55 %. If
                                  all values are equal, the stop comes sooner */
    uint64_t reserved[3];      /* zero */
} assay_stopping;

/* Initialise the rule: 0 < level < 1, precision > 0 (0.01 for 1 %), maximum ≥ 1. You may set the
 * other members afterwards. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stopping_init(assay_stopping *stopping, double level,
                                                          double relative_precision,
                                                          size_t maximum);

/* Look at the series so far. You may call this after every value: if there are fewer than next_look
 * values, and fewer than the maximum, nothing is computed and the decision is to continue. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stopping_look(assay_stopping *stopping,
                                                          const double *values, size_t count,
                                                          assay_stopping_decision *decision);

/* ── steady state ──────────────────────────────────────────────────────────────────────────────
 * These calls find the end of a warm-up, steps of the level, and whether the level drifts or
 * wanders. */

typedef enum assay_steady_state {
    ASSAY_STEADY,        /* constant level from `from` to the end */
    ASSAY_STEADY_DRIFTS, /* the last segment still rises or falls, or wanders like a random walk */
    ASSAY_STEADY_STEPS, /* the level changed too near the end to be sure of the new one, or so often
                           that it will probably change again */
    ASSAY_STEADY_UNKNOWN /* too few values */
} assay_steady_state;

typedef struct assay_steady {
    assay_steady_state state;
    size_t from;     /* first value of the steady state; the count if there is no steady state */
    size_t segments; /* number of segments of constant level or slope */
    double noise;    /* standard deviation of a value around its segment; where most values equal
                        their neighbours, at least 1/√12 of the smallest step between the others */
    uint64_t reserved[4]; /* zero */
} assay_steady;

/* The smallest number of values in which a steady state can be found. A steady state has at least
 * this many values, or up to three fewer if the very first values are slow. */
enum { ASSAY_STEADY_LEAST = 10 };

/* Find the steady state. The boundary is exact to a few values, depending on the noise. With more
 * than 2048 values, it is also not more exact than 1/2048 of the series. A random walk of 30 values
 * or more is called steady in 1 of 20 cases, one of 15 values in 1 of 6. In 60 values, noise whose
 * neighbours are correlated by 0.8 cannot be told from a random walk: half of such series are
 * called steady. At 200 values it is 92 %. The time grows with the square of the count up to 2048
 * values (50 ms), and hardly beyond. Needs memory for six copies. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_find_steady(const double *values, size_t count,
                                                              assay_steady *steady);

/* Find where a series steps from one level to another, such as one figure over many runs. Pass the
 * logarithms of times, because their noise is proportional to them. `points` receives the index of
 * the first value of each level but the first, ascending. At most `capacity` indices are stored,
 * but `*point_count` counts all.
 *
 * Outliers are drawn in, and correlation between neighbours is allowed for. A slope becomes a
 * staircase. A level has at least three values. In about one of 40 series of 200 independent values
 * without a step, a step is found. A step as large as the standard deviation, 50 values from either
 * end, is found within 10 values of its place in 92 of 100 series (bench/changes.c also has
 * correlated and heavy-tailed noise). ASSAY_E_ARGUMENT for values that are not finite. The cost is
 * that of assay_stats_find_steady. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_find_steps(const double *values, size_t count,
                                                             size_t *points, size_t capacity,
                                                             size_t *point_count);

/* ── summaries ───────────────────────────────────────────────────────────────────────────────── */

typedef struct assay_summary {
    size_t count;
    assay_reading mean;
    assay_reading std; /* sample standard deviation; needs 2 values */
    assay_reading min, max;
    assay_reading median;
    assay_reading mad;      /* median absolute deviation from the median, not scaled */
    assay_reading p25, p75; /* quantiles as by assay_stats_quantile */
    assay_reading p90, p95, p99;
    size_t slow_count;        /* values of a slow mode: at least two, well separated above the
                                 others; 0: there is none, or there are fewer than 20 values */
    assay_reading slow_ratio; /* median of the slow mode over that of the other values */
    uint64_t reserved[1];     /* zero */
} assay_summary;

/* Compute a summary. Without values the call returns ASSAY_OK, and every figure is
 * ASSAY_NOT_ENOUGH_DATA. Needs memory for a copy. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_summarize(const double *values, size_t count,
                                                            assay_summary *summary);

/* Compute the quantile 0 ≤ q ≤ 1, interpolated (type 7 of Hyndman and Fan 1996, the default of R
 * and NumPy). The result is ASSAY_NOT_ENOUGH_DATA unless at least one value is expected beyond the
 * quantile on either side: count × min(q, 1 − q) ≥ 1. So p99.9 needs 1000 values. The median and
 * both ends are exceptions. Needs memory for a copy. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_quantile(const double *values, size_t count,
                                                           double q, assay_reading *quantile);

/* Compute a quantile 0 < q < 1 with an interval that holds for any distribution, if the values are
 * independent. Both ends of the interval are values of the sample. ASSAY_NOT_ENOUGH_DATA if the
 * sample is too small for an interval: a 95 % interval of p99.9 needs 3688 values. Needs memory for
 * a copy. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_quantile_interval(const double *values,
                                                                    size_t count, double q,
                                                                    double level,
                                                                    assay_interval *interval);

/* ── tests ─────────────────────────────────────────────────────────────────────────────────────
 * All tests are two-sided. Values must be independent; for autocorrelated series use intervals of
 * the mean. */

typedef struct assay_test {
    double statistic;
    double p_value;
    bool exact; /* the p-value is from the exact distribution, not from an approximation */
} assay_test;

/* Mann and Whitney's test: do values of `a` tend to be larger or smaller than those of `b`? The
 * statistic is U of `a`; ties count half. Up to 50 values in all, the test is exact, also with
 * ties. Beyond that it uses the normal approximation with corrections for ties and continuity.
 * ASSAY_E_DATA if a side is empty or if all values are equal. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_mann_whitney(const double *a, size_t a_count,
                                                               const double *b, size_t b_count,
                                                               assay_test *test);

/* Wilcoxon's signed-rank test: are differences of pairs centred at 0? The statistic is the sum of
 * the ranks of positive differences. Zeros are left out. The test is exact, also with ties, up to
 * 50 differences. ASSAY_E_DATA if there are only zeros. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_signed_rank(const double *differences,
                                                              size_t count, assay_test *test);

/* The sign test answers the same question from the signs alone. The statistic is the number of
 * positive differences. The test is always exact. ASSAY_E_DATA if there are only zeros. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_sign_test(const double *differences, size_t count,
                                                            assay_test *test);

/* Student's t test of differences of pairs. ASSAY_E_DATA if there are fewer than 2, or if all are
 * equal. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_paired_t(const double *differences, size_t count,
                                                           assay_test *test);

/* Welch's t test of two samples with different variances. ASSAY_E_DATA if a side has fewer than 2
 * values, or if neither side has any variance. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_welch_t(const double *a, size_t a_count,
                                                          const double *b, size_t b_count,
                                                          assay_test *test);

/* The permutation test: how often does a random relabelling of the values separate the means at
 * least as far? The statistic is the difference of means, a − b. The test is exact if there are no
 * more relabellings than `permutations`. Otherwise it draws that many at random, and the p-value is
 * never 0. ASSAY_E_DATA if a side is empty, ASSAY_E_ARGUMENT if `permutations` is 0. Needs memory
 * for a copy. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_permutation(const double *a, size_t a_count,
                                                              const double *b, size_t b_count,
                                                              size_t permutations, uint64_t seed,
                                                              assay_test *test);

#ifdef __cplusplus
}
#endif

#endif
