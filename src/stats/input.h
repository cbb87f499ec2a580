/* The checks that every call makes of its input first. */
#ifndef ASSAY_STATS_INPUT_H
#define ASSAY_STATS_INPUT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether `values` is an array of `count` numbers, each finite and small enough that its third
 * power is finite too. */
static inline bool assay__stats_finite(const double *values, size_t count)
{
    if (values == NULL && count > 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(values[i]) <= 1e100))
            return false;
    return true;
}

static inline bool assay__stats_level(double level)
{
    return level > 0 && level < 1;
}

#endif
