/* Series of times that grow in a known way, with multiplicative noise: what the test and the
 * benchmark of the growth fit draw from. */
#ifndef ASSAY_BENCH_GROWTH_SERIES_H
#define ASSAY_BENCH_GROWTH_SERIES_H

#include <math.h>
#include <stdint.h>

#include "assay/growth.h"
#include "bench/draw.h"

enum { SERIES_SIZES = 9, SERIES_REPEATS = 3, SERIES_VALUES = SERIES_SIZES * SERIES_REPEATS };

typedef struct series_kind {
    assay_growth_class growth_class;
    double exponent;          /* of POWER */
    double smallest, largest; /* n, spaced evenly on a logarithmic scale */
    double noise;             /* relative standard deviation */
    bool overhead;            /* of the size of the smallest time */
} series_kind;

static inline double series_shape(const series_kind *kind, double n)
{
    switch (kind->growth_class) {
    case ASSAY_GROWTH_LOG:
        return log(n);
    case ASSAY_GROWTH_LINEAR:
        return n;
    case ASSAY_GROWTH_LINEAR_LOG:
        return n * log(n);
    case ASSAY_GROWTH_QUADRATIC:
        return n * n;
    case ASSAY_GROWTH_CUBIC:
        return n * n * n;
    case ASSAY_GROWTH_POWER:
        return pow(n, kind->exponent);
    default:
        return 1;
    }
}

static inline void series_draw(const series_kind *kind, uint64_t *state,
                               double sizes[SERIES_VALUES], double seconds[SERIES_VALUES])
{
    double overhead = kind->overhead ? series_shape(kind, kind->smallest) : 0;
    for (int i = 0; i < SERIES_VALUES; i++) {
        double place = (double)(i / SERIES_REPEATS) / (SERIES_SIZES - 1);
        double n = round(kind->smallest * pow(kind->largest / kind->smallest, place));
        double error = 1 + kind->noise * draw_normal(state);
        sizes[i] = n;
        seconds[i] = 1e-7 * (overhead + series_shape(kind, n)) * fmax(error, 0.01);
    }
}

/* The exponent the interval should cover; NaN where a class has none. */
static inline double series_exponent(const series_kind *kind)
{
    switch (kind->growth_class) {
    case ASSAY_GROWTH_CONSTANT:
        return 0;
    case ASSAY_GROWTH_LINEAR:
        return 1;
    case ASSAY_GROWTH_QUADRATIC:
        return 2;
    case ASSAY_GROWTH_CUBIC:
        return 3;
    case ASSAY_GROWTH_POWER:
        return kind->exponent;
    default:
        return NAN;
    }
}

typedef struct series_score {
    int drawn, right, covered, powers, conclusive_wrong;
} series_score;

static inline series_score series_run(const series_kind *kind, int count, uint64_t seed)
{
    series_score score = {0};
    double sizes[SERIES_VALUES], seconds[SERIES_VALUES];
    for (int i = 0; i < count; i++) {
        assay_growth *growth = NULL;
        series_draw(kind, &seed, sizes, seconds);
        if (assay_growth_fit(sizes, seconds, SERIES_VALUES, NULL, &growth) != ASSAY_OK)
            break;
        double truth = series_exponent(kind);
        score.drawn++;
        score.right += growth->growth_class == kind->growth_class;
        score.powers += growth->growth_class == ASSAY_GROWTH_POWER;
        score.conclusive_wrong += growth->conclusive && growth->growth_class != kind->growth_class;
        score.covered += growth->low.validity == ASSAY_VALID &&
                         growth->high.validity == ASSAY_VALID && growth->low.value <= truth &&
                         truth <= growth->high.value;
        assay_growth_free(growth);
    }
    return score;
}

#endif
