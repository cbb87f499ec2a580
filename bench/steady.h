/* How well the end of a warm-up is found, and drifts and steps told from it: simulated series of
 * 200.
 *
 * Shared by bench/steady.c (the bar) and the short form in tests/accuracy. */
#ifndef ASSAY_BENCH_STEADY_H
#define ASSAY_BENCH_STEADY_H

#include <assay/stats.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { STEADY_SERIES = 200, STEADY_TOLERANCE = 5 };

typedef enum steady_kind { STEADY_NONE, STEADY_WARM_UP, STEADY_STEP, STEADY_DRIFT } steady_kind;

typedef struct steady_case {
    const char *name;
    steady_kind kind;
    double memory;   /* ρ of the noise */
    double outliers; /* share of values 1.3 to 2 times as slow */
} steady_case;

static const steady_case steady_cases[] = {
    {"none", STEADY_NONE, 0, 0},
    {"none, outliers", STEADY_NONE, 0, 0.03},
    {"none, AR(1) 0.5", STEADY_NONE, 0.5, 0},
    {"warm-up", STEADY_WARM_UP, 0, 0},
    {"warm-up, outliers", STEADY_WARM_UP, 0, 0.03},
    {"warm-up, AR(1) 0.5", STEADY_WARM_UP, 0.5, 0},
    {"step", STEADY_STEP, 0, 0},
    {"step, outliers", STEADY_STEP, 0, 0.03},
    {"step, AR(1) 0.5", STEADY_STEP, 0.5, 0},
    {"drift", STEADY_DRIFT, 0, 0},
    {"drift, outliers", STEADY_DRIFT, 0, 0.03},
    {"drift, AR(1) 0.5", STEADY_DRIFT, 0.5, 0},
};
enum { STEADY_CASES = sizeof steady_cases / sizeof *steady_cases };

typedef struct steady_result {
    double found_percent; /* boundary within the tolerance; for a drift: not called steady */
    double false_percent; /* called steady from a point that is not (before the boundary) */
} steady_result;

/* xorshift64* (Vigna 2016); uniform in (0, 1). */
static inline double steady_uniform(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return ((double)((*seed * 0x2545F4914F6CDD1Du) >> 12) + 0.5) * 0x1p-52;
}

static inline double steady_normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(steady_uniform(seed)));
    return radius * cos(6.283185307179586 * steady_uniform(seed));
}

static inline double steady_between(double low, double high, uint64_t *seed)
{
    return low + (high - low) * steady_uniform(seed);
}

/* Noise of 0.5 to 3 % around a level that does what the case says; returns where the steady state
 * truly begins. */
static inline size_t steady_make(const steady_case *what, double *series, uint64_t *seed)
{
    double noise = steady_between(0.005, 0.03, seed), rho = what->memory, state = 0;
    double warm_up = steady_between(1.2, 5, seed), step = steady_between(5, 10, seed) * noise;
    size_t boundary = what->kind == STEADY_WARM_UP ? (size_t)steady_between(5, 51, seed)
                      : what->kind == STEADY_STEP  ? (size_t)steady_between(20, 161, seed)
                      : what->kind == STEADY_DRIFT ? STEADY_SERIES
                                                   : 0;
    double up = steady_uniform(seed) < 0.5 ? -1 : 1;
    for (size_t i = 0; i < STEADY_SERIES; i++) {
        double level = 1;
        if (what->kind == STEADY_WARM_UP && i < boundary)
            level = warm_up;
        if (what->kind == STEADY_STEP && i < boundary)
            level += up * step;
        if (what->kind == STEADY_DRIFT)
            level += up * 0.1 * (double)i / STEADY_SERIES;
        state = rho * state + sqrt(1 - rho * rho) * steady_normal(seed);
        series[i] = level * (1 + noise * state);
        if (steady_uniform(seed) < what->outliers)
            series[i] *= steady_between(1.3, 2, seed);
    }
    return boundary;
}

static inline int steady_measure(const steady_case *what, size_t replications,
                                 steady_result *result)
{
    double series[STEADY_SERIES], found = 0, wrong = 0;
    uint64_t seed = 20261115;
    for (size_t i = 0; i < replications; i++) {
        assay_steady steady;
        size_t boundary = steady_make(what, series, &seed);
        if (assay_stats_find_steady(series, STEADY_SERIES, &steady) != ASSAY_OK)
            return -1;
        size_t distance = steady.from > boundary ? steady.from - boundary : boundary - steady.from;
        int claimed = steady.state == ASSAY_STEADY;
        found += what->kind == STEADY_DRIFT ? !claimed : claimed && distance <= STEADY_TOLERANCE;
        wrong += claimed && steady.from + STEADY_TOLERANCE < boundary;
    }
    *result =
        (steady_result){100 * found / (double)replications, 100 * wrong / (double)replications};
    return 0;
}

#endif
