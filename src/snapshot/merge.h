/* Gathering several journals into one record. */
#ifndef ASSAY_SNAPSHOT_MERGE_H
#define ASSAY_SNAPSHOT_MERGE_H

#include "assay/record.h"
#include "journal/reader.h"
#include "stats/moments.h"
#include "stats/sketch.h"

/* An operation at one place of the merged tree, while figures are still coming in. Times in
 * seconds. */
typedef struct assay__gathered {
    const char *name; /* belongs to the record */
    int32_t parent;
    uint64_t count;
    double total, min, max;
    assay__moments moments;
    assay__sketch_step *steps; /* as they came; sorted and joined at the end */
    size_t step_count, step_capacity;
    double *samples;
    size_t sample_count;
    uint64_t samples_dropped;
    assay__journal_memory memory;
} assay__gathered;

typedef struct assay__gathering {
    assay_record *record;
    uint64_t origin_monotonic_ns;
    assay__gathered *items;
    size_t item_count, item_capacity;
    unsigned memory_modes; /* of any journal */
    bool live;             /* the writer of the journal being gathered may still be at it */
} assay__gathering;

/* Add all of one journal. */
ASSAY_MUST_USE assay_status assay__gather_journal(assay__gathering *gathering,
                                                  const assay__journal_view *view);

/* Turn what was gathered into the record's operations and totals. */
ASSAY_MUST_USE assay_status assay__gather_finish(assay__gathering *gathering);

void assay__gathering_release(assay__gathering *gathering);

/* What became of a node, by its unit; -1: nothing of the kind. Apart, because a damaged journal
 * calls one node both. */
typedef struct assay__node_map {
    int32_t *operations; /* in the merged tree */
    int32_t *counters;   /* in the record */
    size_t count;        /* units */
} assay__node_map;

/* timeline.c — lanes, events and open spans of one journal. */
ASSAY_MUST_USE assay_status assay__gather_timeline(assay__gathering *gathering,
                                                   const assay__journal_view *view,
                                                   const assay__node_map *nodes);

#endif
