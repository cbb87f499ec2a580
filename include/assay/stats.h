/* Statistics: plain arrays in, numbers out.
 *
 *     assay_interval mean;
 *     if (assay_stats_mean_interval(seconds, count, 0.95, &mean) != ASSAY_OK) ...
 *     if (mean.validity == ASSAY_VALID)
 *         printf("%g s (%g to %g)\n", mean.estimate, mean.low, mean.high);
 *
 * Nothing here knows clocks, records or units; every method names its source at the top of its .c.
 * Arrays are borrowed and never changed. Too few values give ASSAY_E_DATA or a result whose
 * validity says so. A NaN, an infinity or a value beyond 1e100 is ASSAY_E_ARGUMENT, and so is a
 * NULL array with a count above 0. Negative values are allowed. Functions that compute squares
 * treat values as equal if they differ by less than 1e-150. After a failure the result is
 * untouched. Calls that need memory say so and may return ASSAY_E_MEMORY.
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

/* The mean with a two-sided interval, corrected for autocorrelation and for skewness (so it need
 * not be symmetric around the mean). Fewer than two values: ASSAY_OK and ASSAY_NOT_ENOUGH_DATA.
 * All equal: an interval of width 0. 0 < level < 1. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_mean_interval(const double *values, size_t count,
                                                                double level,
                                                                assay_interval *interval);

/* ── stopping ──────────────────────────────────────────────────────────────────────────────────
 * These calls decide when to stop measuring. They look at the series a few times, stop when the
 * interval of the mean is narrow enough, and see early when it never will be. Report the interval
 * of the last look; repeated looks cost no coverage. */

typedef enum assay_stopping_decision {
    ASSAY_STOPPING_CONTINUE,    /* measure on, up to next_look values */
    ASSAY_STOPPING_PRECISE,     /* the interval is as narrow as asked */
    ASSAY_STOPPING_UNREACHABLE, /* too much noise to reach the precision within the maximum */
    ASSAY_STOPPING_EXHAUSTED    /* the maximum is reached, the precision is not */
} assay_stopping_decision;

typedef struct assay_stopping {
    double level;
    double relative_precision; /* half the interval's width over the mean */
    double absolute_precision; /* or half the width itself, whichever comes first; 0: not used */
    size_t minimum;            /* values before the first stop, default 30; less costs coverage */
    size_t maximum;            /* may change between looks, as a budget of time runs out */
    size_t next_look;          /* number of values at which the next look is made */
    size_t predicted;          /* expected total number of values; 0 before the first look */
    assay_interval interval;   /* of the last look; ASSAY_NOT_ENOUGH_DATA before the first */
    size_t mode_minimum;       /* values before a stop for the relative precision, so that a slow
                                  mode shows: one value in 50 is missed by 200, the default, in 2 %
                                  of series and by 30 in 55 %. All equal: they stop sooner */
    uint64_t reserved[3];      /* zero */
} assay_stopping;

/* 0 < level < 1, precision > 0 (0.01 for 1 %), maximum ≥ 1. You may set the other members after. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stopping_init(assay_stopping *stopping, double level,
                                                          double relative_precision,
                                                          size_t maximum);

/* Look at the series so far. With fewer than next_look values (and than the maximum) nothing is
 * computed and the decision is to continue, so this may be called after every value. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stopping_look(assay_stopping *stopping,
                                                          const double *values, size_t count,
                                                          assay_stopping_decision *decision);

/* ── steady state ──────────────────────────────────────────────────────────────────────────────
 * Where a warm-up ends, where the level steps or keeps stepping, whether it drifts or wanders. */

typedef enum assay_steady_state {
    ASSAY_STEADY,        /* constant level from `from` to the end */
    ASSAY_STEADY_DRIFTS, /* the last segment still rises or falls, or wanders like a random walk */
    ASSAY_STEADY_STEPS, /* the level changed too near the end to be sure of the new one, or so often
                           that it will probably change again */
    ASSAY_STEADY_UNKNOWN /* too few values */
} assay_steady_state;

typedef struct assay_steady {
    assay_steady_state state;
    size_t from;     /* first value of the steady state; the count where there is none */
    size_t segments; /* of constant level or slope, into which the series was cut */
    double noise;    /* standard deviation of a value around its segment; where most values equal
                        their neighbours, at least 1/√12 of the smallest step between the others */
    uint64_t reserved[4]; /* zero */
} assay_steady;

/* The smallest number of values in which a steady state can be found. A steady state has at least
 * as many values, less up to three slow ones at the very start. */
enum { ASSAY_STEADY_LEAST = 10 };

/* Find the steady state. The time grows with the square of the count up to 2048 values (50 ms), and
 * hardly beyond. Needs memory for six copies. The boundary is exact to a few values, depending on
 * the noise; with more than 2048 values also only to 1/2048 of the series. A random walk of 30
 * values or more is called steady once in 20 times (one of 15 once in six). Noise whose neighbours
 * are correlated by 0.8 cannot be told from a walk in 60 values: half of such series are called
 * steady, and 92 % at 200 values. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_find_steady(const double *values, size_t count,
                                                              assay_steady *steady);

/* Find where a series steps from one level to another: the index of the first value of each level
 * but the first, ascending. At most `capacity` are stored in `points`, all are counted. For one
 * figure over many runs; take logarithms of times, whose noise is proportional to them. Outliers
 * are drawn in and correlation between neighbours is allowed for. A slope becomes a staircase. A
 * level has three values at least. Of 200 independent values without a step about one series in 40
 * is given one; a step as large as the standard deviation, 50 values from either end, is found
 * within 10 values of its place in 92 of 100 (bench/changes.c also has correlated and heavy-tailed
 * noise). ASSAY_E_ARGUMENT for values that are not finite. Cost as for assay_stats_find_steady. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_find_steps(const double *values, size_t count,
                                                             size_t *points, size_t capacity,
                                                             size_t *point_count);

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
    size_t slow_count;        /* values of a slow mode: two at least, which stand apart above the
                                 others; 0: none do, or there are fewer than 20 values */
    assay_reading slow_ratio; /* median of the slow mode over that of the other values */
    uint64_t reserved[1];     /* zero */
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

/* A quantile 0 < q < 1 with an interval that holds for any distribution, if the values are
 * independent; both ends are values of the sample. ASSAY_NOT_ENOUGH_DATA where the sample cannot
 * bound it: a 95 % interval of p99.9 takes 3688 values. Needs memory for a copy. */
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
    bool exact; /* from the exact distribution, not an approximation */
} assay_test;

/* Mann and Whitney's test: do values of a tend to be larger or smaller than those of b? The
 * statistic is U of a (ties count half). The test is exact, ties included, up to 50 values in all;
 * beyond, it uses the normal approximation with corrections for ties and continuity. An empty side
 * or all values equal: ASSAY_E_DATA. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_mann_whitney(const double *a, size_t a_count,
                                                               const double *b, size_t b_count,
                                                               assay_test *test);

/* Wilcoxon's signed-rank test: are differences of pairs centred at 0? The statistic is the sum of
 * the ranks of positive differences. Zeros are left out. The test is exact, ties included, up to 50
 * differences. Only zeros: ASSAY_E_DATA. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_signed_rank(const double *differences,
                                                              size_t count, assay_test *test);

/* The sign test answers the same question from signs alone. The statistic is the number of positive
 * differences. The test is always exact. Only zeros: ASSAY_E_DATA. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_sign_test(const double *differences, size_t count,
                                                            assay_test *test);

/* Student's t on differences of pairs. Fewer than 2, or all equal: ASSAY_E_DATA. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_paired_t(const double *differences, size_t count,
                                                           assay_test *test);

/* Welch's t of two samples with variances of their own. Fewer than 2 on a side, or no variance at
 * all: ASSAY_E_DATA. */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_welch_t(const double *a, size_t a_count,
                                                          const double *b, size_t b_count,
                                                          assay_test *test);

/* The permutation test: how often does a random relabelling separate the means at least as far? The
 * statistic is the difference of means, a − b. The test is exact where there are no more
 * relabellings than `permutations`. Otherwise it draws that many at random, and the p-value is
 * never 0. An empty side: ASSAY_E_DATA; no permutations: ASSAY_E_ARGUMENT. Needs memory for a copy.
 */
ASSAY_API ASSAY_MUST_USE assay_status assay_stats_permutation(const double *a, size_t a_count,
                                                              const double *b, size_t b_count,
                                                              size_t permutations, uint64_t seed,
                                                              assay_test *test);

#ifdef __cplusplus
}
#endif

#endif
