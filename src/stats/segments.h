/* Cuts a series into stretches that are level or have an even slope. */
#ifndef ASSAY_STATS_SEGMENTS_H
#define ASSAY_STATS_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

typedef struct assay__segment {
    size_t begin, end; /* values[begin … end) */
    bool sloped;
    double first, last; /* fitted values at both ends; equal if level */
} assay__segment;

typedef struct assay__segments {
    assay__segment *items; /* owned; ascending, without gaps */
    size_t count;
    double noise;   /* standard deviation of a value around its segment */
    double *points; /* owned; values without outliers, means of `group` each */
    size_t point_count, group;
} assay__segments;

/* Cut at least 1 finite value. With `level_only` no stretch has a slope. Release `segments` after a
 * failure too. */
assay_status assay__segments_find(const double *values, size_t count, bool level_only,
                                  assay__segments *segments);

void assay__segments_release(assay__segments *segments);

/* The points where the level or the slope changes: the index of the first value of each stretch
 * except the first, ascending. At most `capacity` of them are stored in `points`; all are counted.
 * Fails with ASSAY_E_ARGUMENT if a value is not finite. The cost is that of
 * assay_stats_find_steady(). */
ASSAY_MUST_USE assay_status assay__stats_change_points(const double *values, size_t count,
                                                       size_t *points, size_t capacity,
                                                       size_t *point_count);

#endif
