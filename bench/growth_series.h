/* Draws series of times that grow in a known way, with multiplicative noise, for the test and the
 * benchmark of the growth fit. */
#ifndef ASSAY_BENCH_GROWTH_SERIES_H
#define ASSAY_BENCH_GROWTH_SERIES_H

#include <math.h>
#include <stdint.h>

#include "assay/growth.h"
#include "bench/draw.h"

enum { SERIES_SIZES = 9, SERIES_REPEATS = 3, SERIES_VALUES = SERIES_SIZES * SERIES_REPEATS };

/* Growth that belongs to no class. A change happens at a size that is drawn from the middle half of
 * the logarithmic range. */
typedef enum series_outsider {
    OUTSIDER_NONE,
    OUTSIDER_EXPONENTIAL_SLOW, /* by a factor of exp(2) to exp(4) from n = 0 to the largest */
    OUTSIDER_EXPONENTIAL,      /* by exp(4) to exp(10) */
    OUTSIDER_JUMP,             /* n log n, and from some size on twice that: a cache is too small */
    OUTSIDER_SOFT_JUMP,        /* the same, spread over a decade */
    OUTSIDER_SMALL_JUMP,       /* n, and from some size on 1.5 n */
    OUTSIDER_SUM,              /* a n + b n^2, equal at some size */
    OUTSIDER_SUM_OVERHEAD,     /* the same with an overhead */
    OUTSIDER_BEND_UP,          /* n, and from some size on n^2 */
    OUTSIDER_BEND_DOWN,        /* n^2, and from some size on n */
    OUTSIDER_SATURATION        /* 1 - exp(-n) */
} series_outsider;

static const char *const series_outsider_names[] = {
    "none",       "exp(n), slow", "exp(n)",          "n log n, jump", "n log n, soft jump",
    "n, jump",    "a n + b n^2",  "a + b n + c n^2", "n, then n^2",   "n^2, then n",
    "saturation",
};
enum { OUTSIDERS = sizeof series_outsider_names / sizeof *series_outsider_names };

typedef struct series_kind {
    assay_growth_class growth_class;
    double exponent;          /* for the class POWER */
    double smallest, largest; /* of n, spaced evenly on a logarithmic scale */
    double noise;             /* relative standard deviation */
    bool overhead;            /* as large as the smallest time */
    bool once;                /* no repeats */
    series_outsider outsider; /* used instead of a class */
} series_kind;

/* `place` (0 … 1) determines where the growth changes, or how fast it is. */
static inline double series_outsider_shape(const series_kind *kind, double n, double place)
{
    double range = kind->largest / kind->smallest;
    double at = kind->smallest * pow(range, 0.25 + 0.5 * place), m = n / at;
    switch (kind->outsider) {
    case OUTSIDER_EXPONENTIAL_SLOW:
        return exp((2 + 2 * place) * n / kind->largest);
    case OUTSIDER_EXPONENTIAL:
        return exp((4 + 6 * place) * n / kind->largest);
    case OUTSIDER_JUMP:
        return m * log(n) * (m > 1 ? 2 : 1);
    case OUTSIDER_SOFT_JUMP:
        return m * log(n) * (1 + 1 / (1 + pow(m, -3)));
    case OUTSIDER_SMALL_JUMP:
        return m * (m > 1 ? 1.5 : 1);
    case OUTSIDER_SUM:
        return m + m * m;
    case OUTSIDER_SUM_OVERHEAD:
        return 2 * kind->smallest / at + m + m * m;
    case OUTSIDER_BEND_UP:
        return m > 1 ? m * m : m;
    case OUTSIDER_BEND_DOWN:
        return m > 1 ? m : m * m;
    case OUTSIDER_SATURATION:
        return 1 - exp(-m);
    default:
        return 1;
    }
}

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

/* Draws a series. Returns the number of its values. */
static inline int series_draw(const series_kind *kind, uint64_t *state, double sizes[SERIES_VALUES],
                              double seconds[SERIES_VALUES])
{
    int repeats = kind->once ? 1 : SERIES_REPEATS, count = SERIES_SIZES * repeats;
    double overhead = kind->overhead ? series_shape(kind, kind->smallest) : 0;
    double changes = kind->outsider != OUTSIDER_NONE ? draw_uniform(state) : 0;
    for (int i = 0; i < count; i++) {
        double place = (double)(i / repeats) / (SERIES_SIZES - 1);
        double n = round(kind->smallest * pow(kind->largest / kind->smallest, place));
        double error = 1 + kind->noise * draw_normal(state);
        double shape = kind->outsider != OUTSIDER_NONE ? series_outsider_shape(kind, n, changes)
                                                       : series_shape(kind, n);
        sizes[i] = n;
        seconds[i] = 1e-7 * (overhead + shape) * fmax(error, 0.01);
    }
    return count;
}

/* The exponent that the interval should cover. NaN if the class has none. */
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
    int drawn, right, covered, powers, conclusive, conclusive_wrong;
} series_score;

static inline series_score series_run(const series_kind *kind, int count, uint64_t seed)
{
    series_score score = {0};
    double sizes[SERIES_VALUES], seconds[SERIES_VALUES];
    for (int i = 0; i < count; i++) {
        assay_growth *growth = NULL;
        int values = series_draw(kind, &seed, sizes, seconds);
        if (assay_growth_fit(sizes, seconds, (size_t)values, NULL, &growth) != ASSAY_OK)
            break;
        double truth = series_exponent(kind);
        score.drawn++;
        score.right += growth->growth_class == kind->growth_class;
        score.powers += growth->growth_class == ASSAY_GROWTH_POWER;
        score.conclusive += growth->conclusive;
        score.conclusive_wrong += growth->conclusive && growth->growth_class != kind->growth_class;
        score.covered += growth->low.validity == ASSAY_VALID &&
                         growth->high.validity == ASSAY_VALID && growth->low.value <= truth &&
                         truth <= growth->high.value;
        assay_growth_free(growth);
    }
    return score;
}

#endif
