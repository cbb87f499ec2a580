/* Merges the profiles of Python processes, one after the other, into one record. */
#ifndef ASSAY_SNAPSHOT_SCRIPT_MERGE_H
#define ASSAY_SNAPSHOT_SCRIPT_MERGE_H

#include "assay/record.h"
#include "base/name_index.h"
#include "snapshot/script_reader.h"

/* A function or a line, while its figures are summed up. */
typedef struct assay__script_place {
    assay_record_code code;
    double watched_seconds, seen_native_seconds; /* of a line, as the sampler watched it */
    double known_seconds;                        /* the self time of its lines that were watched, */
    double native_seconds;                       /* and the native part of that time */
    double squares;   /* sum of the squared charges of its self time, in seconds² */
    uint64_t stamp;   /* the last stack that was counted for it */
    int32_t function; /* of a line: its function */
    uint32_t rank;    /* in the record, once the places are sorted */
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

/* A period of time in which samples found a function at this depth of a thread's stack. */
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
    double squares;
    double process_samples, sampled_seconds;
    uint64_t stamps;
} assay__script_merge;

/* Add all of one profile. */
ASSAY_MUST_USE assay_status assay__script_merge_add(assay__script_merge *merge,
                                                    const assay__script_view *view);

/* script_slices.c: add the events of a profile as slices and lanes. `functions` has the function of
 * each node. */
ASSAY_MUST_USE assay_status assay__script_merge_events(assay__script_merge *merge,
                                                       const assay__script_view *view,
                                                       const int32_t *functions);

/* script_slices.c: add the slices to the record as events. The functions must have their ranks. */
ASSAY_MUST_USE assay_status assay__script_put_events(assay__script_merge *merge);

/* script_source.c: add the source text of lines and allocations, where it can be read. */
ASSAY_MUST_USE assay_status assay__script_put_sources(assay_record *record);

/* Sort the places, limit their number, and move everything into the record. */
ASSAY_MUST_USE assay_status assay__script_merge_finish(assay__script_merge *merge);
void assay__script_merge_release(assay__script_merge *merge);

#endif
