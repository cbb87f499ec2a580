/* Simulates how often the interval of the mean contains the true mean if measuring stops as soon as
 * the interval is narrow enough, and how often the summary says that the interval cannot be
 * trusted. Every reported interval counts.
 *
 * This header is shared by bench/coverage.c (the bar, 10 000 replications in each case) and the
 * short form in tests/accuracy. */
#ifndef ASSAY_BENCH_COVERAGE_H
#define ASSAY_BENCH_COVERAGE_H

#include "bench/draw.h"

#include <assay/sampling.h>
#include <assay/stats.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { COVERAGE_SERIES_MAX = 20000, COVERAGE_FLAGS = 100 };

typedef enum coverage_kind {
    COVERAGE_NORMAL,     /* parameter: σ; the mean is 10 */
    COVERAGE_LOG_NORMAL, /* parameter: σ of the logarithm */
    COVERAGE_BIMODAL,    /* parameter: share of the lower mode; the other is a fifth slower */
    COVERAGE_AR1,        /* parameter: ρ */
    COVERAGE_SLOW_MODE,  /* parameter: share of values that are twice as large; 1 % noise */
    COVERAGE_SPIKES,     /* parameter: share of values up to twice as large; 2 % noise */
    COVERAGE_STICKY,     /* two levels 10 % apart, changed with this probability; 0.5 % noise */
    COVERAGE_STUDENT     /* three degrees of freedom; parameter: σ; the mean is 10 */
} coverage_kind;

typedef struct coverage_case {
    const char *name;
    coverage_kind kind;
    double parameter;
    double precision; /* requested relative half-width */
    size_t maximum;
    double bar; /* percent that are covered or flagged */
} coverage_case;

static const coverage_case coverage_cases[] = {
    {"iid normal, 1 %", COVERAGE_NORMAL, 1, 0.01, COVERAGE_SERIES_MAX, 94},
    {"iid normal, 2 %", COVERAGE_NORMAL, 1, 0.02, COVERAGE_SERIES_MAX, 94},
    {"iid normal of 2 %, 1 %", COVERAGE_NORMAL, 0.2, 0.01, COVERAGE_SERIES_MAX, 94},
    {"iid normal, 1 %, at most 250", COVERAGE_NORMAL, 1, 0.01, 250, 94},
    {"log-normal 0.5, 3 %", COVERAGE_LOG_NORMAL, 0.5, 0.03, COVERAGE_SERIES_MAX, 94},
    {"log-normal 0.5, 10 %", COVERAGE_LOG_NORMAL, 0.5, 0.1, COVERAGE_SERIES_MAX, 94},
    {"log-normal 1, 10 %", COVERAGE_LOG_NORMAL, 1, 0.1, COVERAGE_SERIES_MAX, 92},
    {"log-normal 1, 10 %, at most 500", COVERAGE_LOG_NORMAL, 1, 0.1, 500, 92},
    {"bimodal 50/50, 1 %", COVERAGE_BIMODAL, 0.5, 0.01, COVERAGE_SERIES_MAX, 94},
    {"bimodal 90/10, 0.5 %", COVERAGE_BIMODAL, 0.9, 0.005, COVERAGE_SERIES_MAX, 94},
    {"AR(1) 0.8, 1 %", COVERAGE_AR1, 0.8, 0.01, COVERAGE_SERIES_MAX, 94},
    {"AR(1) 0.8, 2 %", COVERAGE_AR1, 0.8, 0.02, COVERAGE_SERIES_MAX, 94},
    {"AR(1) 0.8, 1 %, at most 250", COVERAGE_AR1, 0.8, 0.01, 250, 94},
    {"AR(1) 0.4, 1 %", COVERAGE_AR1, 0.4, 0.01, COVERAGE_SERIES_MAX, 94},
    {"one in 50 twice as long, 1 %", COVERAGE_SLOW_MODE, 0.02, 0.01, COVERAGE_SERIES_MAX, 92},
    {"one in 50 twice as long, 5 %", COVERAGE_SLOW_MODE, 0.02, 0.05, COVERAGE_SERIES_MAX, 92},
    {"one in 20 twice as long, 1 %", COVERAGE_SLOW_MODE, 0.05, 0.01, COVERAGE_SERIES_MAX, 92},
    {"5 % spikes, 1 %", COVERAGE_SPIKES, 0.05, 0.01, COVERAGE_SERIES_MAX, 92},
    {"sticky levels of 20, 1 %", COVERAGE_STICKY, 0.05, 0.01, COVERAGE_SERIES_MAX, 92},
    {"sticky levels of 5, 1 %", COVERAGE_STICKY, 0.2, 0.01, COVERAGE_SERIES_MAX, 92},
    {"Student 3, 1 %", COVERAGE_STUDENT, 1, 0.01, COVERAGE_SERIES_MAX, 92},
};
enum { COVERAGE_CASES = sizeof coverage_cases / sizeof *coverage_cases };

typedef struct coverage_result {
    double covered_percent;
    double safe_percent;    /* covered or flagged */
    double flagged_percent; /* flagged, of the first COVERAGE_FLAGS series */
    double mean_count;
    double oracle_count; /* for a sampler that knows the noise and its autocorrelation */
} coverage_result;

static inline double coverage_student(uint64_t *seed)
{
    double square = 0, z = draw_normal(seed);
    for (int i = 0; i < 3; i++)
        square += pow(draw_normal(seed), 2);
    return z / sqrt(square); /* this has σ = 1, because Student's t with 3 degrees has variance 3 */
}

/* Draws the next value. `memory` is the state of the noises whose values depend on the value
 * before. Its first value is drawn from the distribution that it has later. */
static inline double coverage_draw(const coverage_case *what, size_t index, double *memory,
                                   uint64_t *seed)
{
    double z = draw_normal(seed), p = what->parameter;
    switch (what->kind) {
    case COVERAGE_NORMAL:
        return 10 + p * z;
    case COVERAGE_LOG_NORMAL:
        return exp(p * z);
    case COVERAGE_BIMODAL:
        return (draw_uniform(seed) < p ? 10 : 12) + 0.2 * z;
    case COVERAGE_AR1:
        *memory = index == 0 ? z / sqrt(1 - p * p) : p * *memory + z;
        return 10 / (1 - p) + *memory;
    case COVERAGE_SLOW_MODE:
        return (draw_uniform(seed) < p ? 20 : 10) + 0.1 * z;
    case COVERAGE_SPIKES:
        return (10 + 0.2 * z) * (draw_uniform(seed) < p ? 1 + draw_uniform(seed) : 1);
    case COVERAGE_STICKY:
        if (draw_uniform(seed) < (index == 0 ? 0.5 : p))
            *memory = 1 - *memory;
        return 9.5 + *memory + 0.05 * z;
    case COVERAGE_STUDENT:
        return 10 + p * coverage_student(seed);
    }
    return NAN;
}

static inline double coverage_true_mean(const coverage_case *what)
{
    double p = what->parameter;
    switch (what->kind) {
    case COVERAGE_LOG_NORMAL:
        return exp(p * p / 2);
    case COVERAGE_BIMODAL:
        return 10 * p + 12 * (1 - p);
    case COVERAGE_AR1:
        return 10 / (1 - p);
    case COVERAGE_SLOW_MODE:
        return 10 + 10 * p;
    case COVERAGE_SPIKES:
        return 10 + 5 * p;
    default:
        return 10;
    }
}

/* √count times the true standard error of the mean. */
static inline double coverage_true_spread(const coverage_case *what)
{
    double p = what->parameter;
    switch (what->kind) {
    case COVERAGE_LOG_NORMAL:
        return exp(p * p / 2) * sqrt(expm1(p * p));
    case COVERAGE_BIMODAL:
        return sqrt(4 * p * (1 - p) + 0.04);
    case COVERAGE_AR1:
        return 1 / (1 - p);
    case COVERAGE_SLOW_MODE:
        return sqrt(100 * p * (1 - p) + 0.01);
    case COVERAGE_SPIKES:
        return sqrt(100 * p * (1.0 / 3 - p / 4) + 0.04);
    case COVERAGE_STICKY: /* ρ = 1 − 2 p */
        return sqrt(0.25 * (1 - p) / p + 0.0025);
    default:
        return p;
    }
}

/* Draws one series until the rule stops. Returns the number of values, or 0 after a failure. */
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

/* Whether the summary of the series says that its interval cannot be trusted. Returns −1 after a
 * failure. */
static inline int coverage_flagged(const double *series, size_t count)
{
    assay_timing timing;
    if (assay_timing_summarize(series, count, &timing) != ASSAY_OK)
        return -1;
    return timing.doubt != NULL;
}

static inline int coverage_measure(const coverage_case *what, size_t replications,
                                   coverage_result *result)
{
    static double series[COVERAGE_SERIES_MAX];
    double truth = coverage_true_mean(what), covered = 0, safe = 0, flags = 0, values = 0;
    size_t looked_at = replications < COVERAGE_FLAGS ? replications : COVERAGE_FLAGS;
    uint64_t seed = 20261115;
    for (size_t i = 0; i < replications; i++) {
        assay_interval interval = {.validity = ASSAY_NOT_ENOUGH_DATA};
        size_t count = coverage_replicate(what, series, &seed, &interval);
        int holds = interval.low <= truth && truth <= interval.high;
        int flagged = count > 0 && (!holds || i < looked_at) ? coverage_flagged(series, count) : 0;
        if (count == 0 || interval.validity != ASSAY_VALID || flagged < 0)
            return -1;
        covered += holds;
        safe += holds || flagged;
        flags += i < looked_at && flagged;
        values += (double)count;
    }
    double ratio = 1.959964 * coverage_true_spread(what) / (truth * what->precision);
    *result = (coverage_result){
        .covered_percent = 100 * covered / (double)replications,
        .safe_percent = 100 * safe / (double)replications,
        .flagged_percent = 100 * flags / (double)looked_at,
        .mean_count = values / (double)replications,
        .oracle_count = ratio * ratio,
    };
    return 0;
}

#endif
