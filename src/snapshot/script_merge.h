/* Profiles of Python processes, one after another, into one record. */
#ifndef ASSAY_SNAPSHOT_SCRIPT_MERGE_H
#define ASSAY_SNAPSHOT_SCRIPT_MERGE_H

#include "assay/record.h"
#include "base/name_index.h"
#include "snapshot/script_reader.h"

/* A function or a line, while it is added up. */
typedef struct assay__script_place {
    assay_record_code code;
    double watched_seconds, seen_native_seconds;
    double squares;   /* of the charges that make up its own time: seconds squared */
    uint64_t stamp;   /* the last stack that was counted for it */
    int32_t function; /* of a line */
    uint32_t rank;    /* in the record, once it is sorted */
} assay__script_place;

typedef struct assay__script_places {
    assay__script_place *items;
    size_t count, capacity;
    assay__name_index index;
} assay__script_places;

typedef struct assay__script_allocations {
    assay_record_allocation *items;
    size_t count, capacity;
    assay__name_index index;
} assay__script_allocations;

/* A stretch of time in which samples found a function at this depth of a thread's stack. */
typedef struct assay__script_slice {
    uint32_t function, lane, depth;
    uint64_t begin_ns, end_ns;
} assay__script_slice;

typedef struct assay__script_merge {
    assay_record *record;
    uint64_t origin_ns;
    assay__script_places functions, lines;
    assay__script_allocations allocations;
    assay__script_slice *slices;
    size_t slice_count, slice_capacity;
    double watched_seconds, seen_native_seconds, squares;
    double looks, looked_seconds;
    uint64_t stamps;
} assay__script_merge;

/* Add all of one profile. */
ASSAY_MUST_USE assay_status assay__script_merge_add(assay__script_merge *merge,
                                                    const assay__script_view *view);

/* script_slices.c: add its events, as slices and lanes. `functions` are those of the nodes. */
ASSAY_MUST_USE assay_status assay__script_merge_events(assay__script_merge *merge,
                                                       const assay__script_view *view,
                                                       const int32_t *functions);

/* script_slices.c: the slices as events of the record; functions are numbered by rank by now. */
ASSAY_MUST_USE assay_status assay__script_put_events(assay__script_merge *merge);

/* script_source.c: the source text of lines and allocations, where it can be read. */
ASSAY_MUST_USE assay_status assay__script_put_sources(assay_record *record);

/* Sort, cut and hand over to the record. */
ASSAY_MUST_USE assay_status assay__script_merge_finish(assay__script_merge *merge);
void assay__script_merge_release(assay__script_merge *merge);

#endif
