/* A series cut into stretches that are level or slope evenly. */
#ifndef ASSAY_STATS_SEGMENTS_H
#define ASSAY_STATS_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

typedef struct assay__segment {
    size_t begin, end; /* values[begin … end) */
    bool sloped;
    double first, last; /* fitted values at both ends; equal when level */
} assay__segment;

typedef struct assay__segments {
    assay__segment *items; /* owned; ascending, without gaps */
    size_t count;
    double noise;   /* standard deviation of a value around its segment */
    double *points; /* owned; the values without outliers, `group` of them averaged to one */
    size_t point_count, group;
} assay__segments;

/* Cut finite values, 1 at least. With `level_only` no stretch slopes. */
assay_status assay__segments_find(const double *values, size_t count, bool level_only,
                                  assay__segments *segments);

void assay__segments_release(assay__segments *segments);

/* Where the level or the slope changes: index of the first value of each stretch but the first,
 * ascending; at most `capacity` are stored in `points`, all are counted. Values that are not finite
 * are ASSAY_E_ARGUMENT. Cost as that of assay_stats_find_steady(). */
ASSAY_MUST_USE assay_status assay__stats_change_points(const double *values, size_t count,
                                                       size_t *points, size_t capacity,
                                                       size_t *point_count);

#endif
