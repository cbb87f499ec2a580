#include "stats/sketch.h"

#include <math.h>
#include <string.h>

assay__sketch_place assay__sketch_place_of(uint64_t value)
{
    double as_double = value == 0 ? 1.0 : (double)value;
    uint64_t bits;
    memcpy(&bits, &as_double, sizeof bits);
    return (assay__sketch_place){.page = (uint32_t)(bits >> 52) % ASSAY__SKETCH_PAGES,
                                 .bucket = (uint32_t)(bits >> 46) % ASSAY__SKETCH_BUCKETS};
}

double assay__sketch_middle(assay__sketch_place place)
{
    int exponent =
        (int)((place.page + 1) % ASSAY__SKETCH_PAGES); /* the inverse of page_of_exponent */
    double low = ldexp(1.0 + place.bucket / (double)ASSAY__SKETCH_BUCKETS, exponent);
    double width = ldexp(1.0 / ASSAY__SKETCH_BUCKETS, exponent);
    return width <= 1.0 ? low
                        : low + width / 2; /* narrower than one tick: the bucket is one value */
}
