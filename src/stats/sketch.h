/* The geometry of the sketch: the bucket of a duration, and the value that a bucket stands for.
 *
 * The buckets are log-linear, as in HdrHistogram: one page for each binary exponent, with 64 equal
 * buckets in each. A bucket is at most 1/64 of its value wide, so its middle is within 1/128 = 0.8
 * % of any value in it. The page is the number of the highest bit that is set, the bucket is the
 * next six bits. Finding them takes a scan for the bit and two shifts, all in integers. The same in
 * doubles (exponent and first bits of the mantissa) takes a conversion, which costs seven cycles
 * more. */
#ifndef ASSAY_STATS_SKETCH_H
#define ASSAY_STATS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { ASSAY__SKETCH_PAGES = 64, ASSAY__SKETCH_BUCKETS = 64 };

typedef struct assay__sketch_place {
    uint32_t page, bucket;
} assay__sketch_place;

/* The page and bucket of a value. A zero counts as one. */
assay__sketch_place assay__sketch_place_of(uint64_t value);

/* The middle of a bucket. */
double assay__sketch_middle(assay__sketch_place place);

#endif
