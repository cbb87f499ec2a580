/* Computes the bucket of a value and the middle of a bucket. */
#include "stats/sketch.h"

#include <math.h>

assay__sketch_place assay__sketch_place_of(uint64_t value)
{
    int leading_zeros = __builtin_clzll(value | 1);
    uint64_t behind_highest_bit = value << leading_zeros << 1;
    return (assay__sketch_place){.page = 63 - (uint32_t)leading_zeros,
                                 .bucket = (uint32_t)(behind_highest_bit >> 58)};
}

double assay__sketch_middle(assay__sketch_place place)
{
    double low = ldexp(1.0 + place.bucket / (double)ASSAY__SKETCH_BUCKETS, (int)place.page);
    double width = ldexp(1.0 / ASSAY__SKETCH_BUCKETS, (int)place.page);
    return width <= 1.0 ? low
                        : low + width / 2; /* narrower than one tick: the bucket is one value */
}
