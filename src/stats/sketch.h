/* The sketch's geometry: which bucket a duration falls into, and what a bucket stands for.
 *
 * Log-linear, in the manner of HdrHistogram: one page per binary exponent, 64 equal buckets in
 * each. A bucket is at most 1/64 of its value wide, so its middle is within 1/128 = 0.8 % of
 * anything in it. The page is the number of the highest bit that is set, the bucket the six bits
 * behind it: a scan for that bit and two shifts, all in integers. The same in doubles (exponent and
 * first bits of the mantissa) takes a conversion, which is slower by seven cycles. */
#ifndef ASSAY_STATS_SKETCH_H
#define ASSAY_STATS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { ASSAY__SKETCH_PAGES = 64, ASSAY__SKETCH_BUCKETS = 64 };

typedef struct assay__sketch_place {
    uint32_t page, bucket;
} assay__sketch_place;

/* A zero counts as one. */
assay__sketch_place assay__sketch_place_of(uint64_t value);

/* The middle of a bucket. */
double assay__sketch_middle(assay__sketch_place place);

#endif
