/* Simulated series that show how well the end of a warm-up is found, and distinguished from drifts
 * and steps.
 *
 * The bar is for series of 200 values with 0.5 to 3 % noise and a drift of 10 %. The other series
 * are included because a method that cuts series takes them for staircases: drifts so strong that
 * neighbours differ by more than the noise, drifts in strong autocorrelated noise, and warm-ups
 * that fade away. A fading warm-up ends where its rest is between twice the σ of the noise and half
 * of it. Then there are series that are never steady but look steady for a while: two levels that
 * alternate at random, the teeth of a saw, and random walks.
 *
 * This header is shared by bench/steady.c (the bar) and the short form in tests/accuracy. */
#ifndef ASSAY_BENCH_STEADY_H
#define ASSAY_BENCH_STEADY_H

#include "bench/draw.h"

#include <assay/stats.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { STEADY_SERIES = 200, STEADY_SHORT = 60, STEADY_TOLERANCE = 5 };

typedef enum steady_kind {
    STEADY_NONE,
    STEADY_WARM_UP,
    STEADY_STEP,
    STEADY_DRIFT,
    STEADY_DECAY,     /* a warm-up that fades, with τ of 2 to 15 values */
    STEADY_TWO_MODES, /* each value is in one of two modes, independently */
    STEADY_STICKY,    /* two levels, each of which lasts for `period` values on average */
    STEADY_SAW,       /* rises for `period` values and falls back at once */
    STEADY_WALK       /* each value changes by the noise */
} steady_kind;

typedef struct steady_case {
    const char *name;
    steady_kind kind;
    size_t length;
    double noise_low, noise_high; /* range from which σ is drawn */
    double drift_low, drift_high; /* over the whole series; or the height of levels and teeth */
    double memory;                /* ρ of the noise */
    double outliers;              /* share of values 1.3 to 2 times as slow */
    double period;
} steady_case;

static const steady_case steady_cases[] = {
    {"none", STEADY_NONE, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0, 0},
    {"none, outliers", STEADY_NONE, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0.03, 0},
    {"none, AR(1) 0.5", STEADY_NONE, STEADY_SERIES, 0.005, 0.03, 0, 0, 0.5, 0, 0},
    {"none, 60", STEADY_NONE, STEADY_SHORT, 0.005, 0.03, 0, 0, 0, 0, 0},
    {"none, 60, AR(1) 0.5", STEADY_NONE, STEADY_SHORT, 0.005, 0.03, 0, 0, 0.5, 0, 0},
    {"warm-up", STEADY_WARM_UP, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0, 0},
    {"warm-up, outliers", STEADY_WARM_UP, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0.03, 0},
    {"warm-up, AR(1) 0.5", STEADY_WARM_UP, STEADY_SERIES, 0.005, 0.03, 0, 0, 0.5, 0, 0},
    {"step", STEADY_STEP, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0, 0},
    {"step, outliers", STEADY_STEP, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0.03, 0},
    {"step, AR(1) 0.5", STEADY_STEP, STEADY_SERIES, 0.005, 0.03, 0, 0, 0.5, 0, 0},
    {"drift", STEADY_DRIFT, STEADY_SERIES, 0.005, 0.03, 0.1, 0.1, 0, 0, 0},
    {"drift, outliers", STEADY_DRIFT, STEADY_SERIES, 0.005, 0.03, 0.1, 0.1, 0, 0.03, 0},
    {"drift, AR(1) 0.5", STEADY_DRIFT, STEADY_SERIES, 0.005, 0.03, 0.1, 0.1, 0.5, 0, 0},
    {"drift, 5 % noise, AR(1) 0.5", STEADY_DRIFT, STEADY_SERIES, 0.05, 0.05, 0.1, 0.1, 0.5, 0, 0},
    {"drift of 20 to 100 %", STEADY_DRIFT, STEADY_SERIES, 0.001, 0.03, 0.2, 1, 0, 0, 0},
    {"drift of 20 to 100 %, outliers", STEADY_DRIFT, STEADY_SERIES, 0.001, 0.03, 0.2, 1, 0, 0.03,
     0},
    {"drift of 20 to 100 %, 60", STEADY_DRIFT, STEADY_SHORT, 0.001, 0.02, 0.2, 1, 0, 0, 0},
    {"drift of 20 to 100 %, 60, AR(1) 0.5", STEADY_DRIFT, STEADY_SHORT, 0.001, 0.02, 0.2, 1, 0.5, 0,
     0},
    {"decay", STEADY_DECAY, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0, 0},
    {"decay, outliers", STEADY_DECAY, STEADY_SERIES, 0.005, 0.03, 0, 0, 0, 0.03, 0},
    {"decay, AR(1) 0.5", STEADY_DECAY, STEADY_SERIES, 0.005, 0.03, 0, 0, 0.5, 0, 0},
    {"two modes", STEADY_TWO_MODES, STEADY_SERIES, 0.005, 0.01, 0.05, 0.2, 0, 0, 0},
    {"two modes, 60", STEADY_TWO_MODES, STEADY_SHORT, 0.005, 0.01, 0.05, 0.2, 0, 0, 0},
    {"sticky levels of 20", STEADY_STICKY, STEADY_SERIES, 0.005, 0.01, 0.05, 0.2, 0, 0, 20},
    {"sticky levels of 10", STEADY_STICKY, STEADY_SERIES, 0.005, 0.01, 0.05, 0.2, 0, 0, 10},
    {"sticky levels of 10, 100", STEADY_STICKY, 100, 0.005, 0.01, 0.05, 0.2, 0, 0, 10},
    {"saw of 20", STEADY_SAW, STEADY_SERIES, 0.005, 0.01, 0.05, 0.5, 0, 0, 20},
    {"saw of 20, 60", STEADY_SAW, STEADY_SHORT, 0.005, 0.01, 0.05, 0.5, 0, 0, 20},
    {"random walk", STEADY_WALK, STEADY_SERIES, 0.0005, 0.01, 0, 0, 0, 0, 0},
    {"random walk, 60", STEADY_WALK, STEADY_SHORT, 0.0005, 0.01, 0, 0, 0, 0, 0},
};
enum { STEADY_CASES = sizeof steady_cases / sizeof *steady_cases };

typedef struct steady_result {
    double found_percent; /* boundary within the tolerance; if none: not called steady */
    double false_percent; /* called steady from a point before the boundary */
} steady_result;

/* Where the steady state truly begins. It is a range, because a decay has no exact end. */
typedef struct steady_truth {
    size_t first, last;
} steady_truth;

static inline double steady_between(double low, double high, uint64_t *seed)
{
    return low + (high - low) * draw_uniform(seed);
}

static inline size_t steady_passes(double height, double decay, double noise)
{
    return height > noise ? (size_t)(decay * log(height / noise)) : 0;
}

/* Whether the series is never steady. */
static inline int steady_never(const steady_case *what)
{
    return what->kind == STEADY_DRIFT || what->kind >= STEADY_STICKY;
}

/* A level that never settles: how far value `i` is above 1, given the value before it. */
static inline double steady_unsettled(const steady_case *what, size_t i, double height,
                                      double before, uint64_t *seed)
{
    int changes = i == 0 || what->kind == STEADY_TWO_MODES;
    switch (what->kind) {
    case STEADY_TWO_MODES:
    case STEADY_STICKY:
        if (draw_uniform(seed) < (changes ? 0.5 : 1 / what->period))
            return height - before;
        return before;
    case STEADY_SAW:
        return height * fmod((double)i, what->period) / what->period;
    default:
        return 0;
    }
}

/* Draws noise around the level of the case. Returns where the steady state truly begins. */
static inline steady_truth steady_make(const steady_case *what, double *series, uint64_t *seed)
{
    double noise = steady_between(what->noise_low, what->noise_high, seed), state = 0, above = 0;
    double warm_up = steady_between(1.2, 5, seed), step = steady_between(5, 10, seed) * noise;
    double drift = steady_between(what->drift_low, what->drift_high, seed);
    double decay = steady_between(2, 15, seed), rho = what->memory, length = (double)what->length;
    size_t boundary = what->kind == STEADY_WARM_UP ? (size_t)steady_between(5, 51, seed)
                      : what->kind == STEADY_STEP  ? (size_t)steady_between(20, 161, seed)
                      : steady_never(what)         ? what->length
                                                   : 0;
    double up = draw_uniform(seed) < 0.5 ? -1 : 1;
    if (up < 0) /* 100 % down would be a time of 0, so the same drift is reversed */
        drift /= 1 + drift;
    for (size_t i = 0; i < what->length; i++) {
        double level = 1;
        if (what->kind == STEADY_WARM_UP && i < boundary)
            level = warm_up;
        if (what->kind == STEADY_STEP && i < boundary)
            level += up * step;
        if (what->kind == STEADY_DRIFT)
            level += up * drift * (double)i / length;
        if (what->kind == STEADY_DECAY)
            level += (warm_up - 1) * exp(-(double)i / decay);
        if (what->kind >= STEADY_TWO_MODES)
            level += up * (above = steady_unsettled(what, i, drift, above, seed));
        state = what->kind == STEADY_WALK ? state + draw_normal(seed)
                                          : rho * state + sqrt(1 - rho * rho) * draw_normal(seed);
        series[i] = level * (1 + noise * state);
        if (draw_uniform(seed) < what->outliers)
            series[i] *= steady_between(1.3, 2, seed);
    }
    if (what->kind == STEADY_DECAY)
        return (steady_truth){steady_passes(warm_up - 1, decay, 2 * noise),
                              steady_passes(warm_up - 1, decay, noise / 2)};
    return (steady_truth){boundary, boundary};
}

static inline int steady_measure(const steady_case *what, size_t replications,
                                 steady_result *result)
{
    double series[STEADY_SERIES], found = 0, wrong = 0;
    uint64_t seed = 20261115;
    for (size_t i = 0; i < replications; i++) {
        assay_steady steady;
        steady_truth truth = steady_make(what, series, &seed);
        if (assay_stats_find_steady(series, what->length, &steady) != ASSAY_OK)
            return -1;
        int claimed = steady.state == ASSAY_STEADY;
        int early = steady_never(what) || steady.from + STEADY_TOLERANCE < truth.first;
        int late = steady.from > truth.last + STEADY_TOLERANCE;
        found += steady_never(what) ? !claimed : claimed && !early && !late;
        wrong += claimed && early;
    }
    *result =
        (steady_result){100 * found / (double)replications, 100 * wrong / (double)replications};
    return 0;
}

#endif
