/* Merges journals, one after the other, into one record. */
#ifndef ASSAY_SNAPSHOT_MERGE_H
#define ASSAY_SNAPSHOT_MERGE_H

#include "assay/record.h"
#include "assay/snapshot.h"
#include "base/name_index.h"
#include "journal/reader.h"
#include "stats/moments.h"

/* The state of an operation while journals are merged, in addition to its figures in the record. */
typedef struct assay__merge_state {
    double square_sum;     /* of the deviations from the mean, seconds² */
    assay__moments device; /* of its spans on streams, in seconds */
    /* Energy. `cpu` and `gpu_beside` are that of the processor and of the GPUs while its spans ran
     * on threads. `gpu` is that of the GPUs while its spans ran on streams, which is more exact. */
    assay__journal_joules cpu, gpu_beside, gpu;
    double metered_seconds, period_seconds;
    size_t bucket_room, sample_room;
} assay__merge_state;

typedef struct assay__merge {
    assay_record *record;
    uint64_t origin_monotonic_ns;
    assay__merge_state *states; /* one for each operation of the record */
    size_t state_room;
    assay__name_index operations, counters;
    unsigned memory_modes; /* of all journals together */
    bool live;             /* the journal that is being merged may still be written */
} assay__merge;

enum {
    ASSAY__NODE_UNKNOWN = 0, /* not visited yet, or not of this kind */
    ASSAY__NODE_CLEARED =
        -1 /* visited, but cleared: it becomes an operation only if a child needs it */
};

/* Maps the nodes of a journal to the record. For each unit of the journal it has the index of the
 * operation or counter in the record plus one, or one of the values above. There are two arrays,
 * because in a damaged journal one node may be both. All entries are zero at first, so that a large
 * journal with few nodes costs little memory. */
typedef struct assay__node_map {
    int32_t *operations; /* in the record */
    int32_t *counters;
    size_t count; /* units */
} assay__node_map;

/* Begin a record that takes its name, clock and creation time from the header of its earliest
 * journal. NULL options are the defaults. Call assay__merge_release afterwards, also after a
 * failure. */
ASSAY_MUST_USE assay_status assay__merge_begin(assay__merge *merge,
                                               const assay__journal_header *earliest,
                                               const assay_snapshot_options *options);

/* Add all of one journal. The view is not needed afterwards. */
ASSAY_MUST_USE assay_status assay__merge_journal(assay__merge *merge,
                                                 const assay__journal_view *view);

/* merge_finish.c — compute the figures that need all journals (quantiles, deviations, totals) and
 * return the record, which then belongs to the caller. */
assay_record *assay__merge_finish(assay__merge *merge);

/* Release a merge. The record is freed as well, unless assay__merge_finish() has returned it. */
void assay__merge_release(assay__merge *merge);

/* processes.c — add the process of a journal, with the number of its spans, to the record. */
ASSAY_MUST_USE assay_status assay__merge_process(assay__merge *merge,
                                                 const assay__journal_header *header,
                                                 uint64_t spans);

/* timeline.c — add a lane with its events and open spans. `index` is its number in the journal's
 * list of lanes, `spans` the number of its spans. */
ASSAY_MUST_USE assay_status assay__merge_lane(assay__merge *merge, const assay__journal_view *view,
                                              uint32_t unit, size_t index, const assay__lane *lane,
                                              const assay__node_map *nodes, uint64_t spans);

/* The quantile `q` of a distribution, exact to the width of a bucket: the ceil(q n)-th smallest of
 * n values. n must not be 0. */
double assay__bucket_quantile(const assay_record_bucket *buckets, size_t count, double q);

/* Make a record of one journal that is already open as a view. */
ASSAY_MUST_USE assay_status assay__snapshot_view(const assay__journal_view *view,
                                                 const assay_snapshot_options *options,
                                                 assay_error *error, assay_record **record);

#endif
