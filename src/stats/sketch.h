/* The sketch's geometry: which bucket a duration falls into, and what a bucket stands for.
 *
 * Log-linear, in the manner of HdrHistogram: one page per binary exponent, 64 equal buckets in
 * each. A bucket is at most 1/64 of its value wide, so its middle is within 1/128 = 0.8 % of
 * anything in it. The index is read off the bits of the duration as a double — exponent and the
 * first six bits of the mantissa — which costs a shift where a logarithm or a count of leading
 * zeros costs more. */
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

/* Pages in ascending order of what they stand for: i = 0 … 63 gives the page of exponent i. */
static inline uint32_t assay__sketch_page_of_exponent(uint32_t exponent)
{
    return (exponent + 1023) % ASSAY__SKETCH_PAGES;
}

static inline uint32_t assay__sketch_exponent_of_page(uint32_t page)
{
    return (page + 1) % ASSAY__SKETCH_PAGES; /* 1023 is one less than a multiple of 64 */
}

#endif
