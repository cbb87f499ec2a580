/* How often the interval of the mean holds the true mean, when measuring stops as soon as the
 * interval is narrow enough: simulated series, every reported interval counted.
 *
 * Shared by bench/coverage.c (the bar, 10 000 replications a case) and the short form in
 * tests/accuracy. */
#ifndef ASSAY_BENCH_COVERAGE_H
#define ASSAY_BENCH_COVERAGE_H

#include "bench/draw.h"

#include <assay/stats.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { COVERAGE_SERIES_MAX = 20000 };

typedef enum coverage_kind {
    COVERAGE_NORMAL,
    COVERAGE_LOG_NORMAL, /* parameter: σ of the logarithm */
    COVERAGE_BIMODAL,    /* parameter: share of the lower mode */
    COVERAGE_AR1         /* parameter: ρ */
} coverage_kind;

typedef struct coverage_case {
    const char *name;
    coverage_kind kind;
    double parameter;
    double precision; /* relative half-width asked for */
    size_t maximum;
} coverage_case;

static const coverage_case coverage_cases[] = {
    {"iid normal, 1 %", COVERAGE_NORMAL, 0, 0.01, COVERAGE_SERIES_MAX},
    {"iid normal, 2 %", COVERAGE_NORMAL, 0, 0.02, COVERAGE_SERIES_MAX},
    {"iid normal, 1 %, at most 250", COVERAGE_NORMAL, 0, 0.01, 250},
    {"log-normal 0.5, 3 %", COVERAGE_LOG_NORMAL, 0.5, 0.03, COVERAGE_SERIES_MAX},
    {"log-normal 0.5, 10 %", COVERAGE_LOG_NORMAL, 0.5, 0.1, COVERAGE_SERIES_MAX},
    {"log-normal 1, 10 %", COVERAGE_LOG_NORMAL, 1, 0.1, COVERAGE_SERIES_MAX},
    {"log-normal 1, 10 %, at most 500", COVERAGE_LOG_NORMAL, 1, 0.1, 500},
    {"bimodal 50/50, 1 %", COVERAGE_BIMODAL, 0.5, 0.01, COVERAGE_SERIES_MAX},
    {"bimodal 90/10, 0.5 %", COVERAGE_BIMODAL, 0.9, 0.005, COVERAGE_SERIES_MAX},
    {"AR(1) 0.8, 1 %", COVERAGE_AR1, 0.8, 0.01, COVERAGE_SERIES_MAX},
    {"AR(1) 0.8, 2 %", COVERAGE_AR1, 0.8, 0.02, COVERAGE_SERIES_MAX},
    {"AR(1) 0.8, 1 %, at most 250", COVERAGE_AR1, 0.8, 0.01, 250},
    {"AR(1) 0.4, 1 %", COVERAGE_AR1, 0.4, 0.01, COVERAGE_SERIES_MAX},
};
enum { COVERAGE_CASES = sizeof coverage_cases / sizeof *coverage_cases };

typedef struct coverage_result {
    double covered_percent;
    double mean_count;
    double oracle_count; /* of one who knows the noise and its memory */
} coverage_result;

/* The next value; `memory` is the state of AR(1), which starts in its stationary distribution. */
static inline double coverage_draw(const coverage_case *what, size_t index, double *memory,
                                   uint64_t *seed)
{
    double z = draw_normal(seed), p = what->parameter;
    switch (what->kind) {
    case COVERAGE_NORMAL:
        return 10 + z;
    case COVERAGE_LOG_NORMAL:
        return exp(p * z);
    case COVERAGE_BIMODAL:
        return (draw_uniform(seed) < p ? 10 : 12) + 0.2 * z;
    case COVERAGE_AR1:
        *memory = index == 0 ? z / sqrt(1 - p * p) : p * *memory + z;
        return 10 / (1 - p) + *memory;
    }
    return NAN;
}

static inline double coverage_true_mean(const coverage_case *what)
{
    double p = what->parameter;
    return what->kind == COVERAGE_NORMAL       ? 10
           : what->kind == COVERAGE_LOG_NORMAL ? exp(p * p / 2)
           : what->kind == COVERAGE_BIMODAL    ? 10 * p + 12 * (1 - p)
                                               : 10 / (1 - p);
}

/* √count × the true standard error of the mean. */
static inline double coverage_true_spread(const coverage_case *what)
{
    double p = what->parameter;
    return what->kind == COVERAGE_NORMAL       ? 1
           : what->kind == COVERAGE_LOG_NORMAL ? exp(p * p / 2) * sqrt(expm1(p * p))
           : what->kind == COVERAGE_BIMODAL    ? sqrt(4 * p * (1 - p) + 0.04)
                                               : 1 / (1 - p);
}

/* One series, measured until the rule stops; how many values that took, 0 after a failure. */
static inline size_t coverage_replicate(const coverage_case *what, double *series, uint64_t *seed,
                                        assay_interval *interval)
{
    assay_stopping stopping;
    assay_stopping_decision decision = ASSAY_STOPPING_CONTINUE;
    double memory = 0;
    size_t count = 0;
    if (assay_stopping_init(&stopping, 0.95, what->precision, what->maximum) != ASSAY_OK)
        return 0;
    while (decision == ASSAY_STOPPING_CONTINUE) {
        for (; count < stopping.next_look && count < what->maximum; count++)
            series[count] = coverage_draw(what, count, &memory, seed);
        if (assay_stopping_look(&stopping, series, count, &decision) != ASSAY_OK)
            return 0;
    }
    *interval = stopping.interval;
    return count;
}

static inline int coverage_measure(const coverage_case *what, size_t replications,
                                   coverage_result *result)
{
    static double series[COVERAGE_SERIES_MAX];
    double truth = coverage_true_mean(what), covered = 0, values = 0;
    uint64_t seed = 20261115;
    for (size_t i = 0; i < replications; i++) {
        assay_interval interval;
        size_t count = coverage_replicate(what, series, &seed, &interval);
        if (count == 0 || interval.validity != ASSAY_VALID)
            return -1;
        covered += interval.low <= truth && truth <= interval.high;
        values += (double)count;
    }
    double ratio = 1.959964 * coverage_true_spread(what) / (truth * what->precision);
    *result = (coverage_result){
        .covered_percent = 100 * covered / (double)replications,
        .mean_count = values / (double)replications,
        .oracle_count = ratio * ratio,
    };
    return 0;
}

#endif
