/* Merging journals, one after another, into one record. */
#ifndef ASSAY_SNAPSHOT_MERGE_H
#define ASSAY_SNAPSHOT_MERGE_H

#include "assay/record.h"
#include "assay/snapshot.h"
#include "base/name_index.h"
#include "journal/reader.h"
#include "stats/moments.h"

/* The state of an operation while journals are merged, beyond what the record has. */
typedef struct assay__merge_state {
    double square_sum;     /* of the deviations from the mean, seconds² */
    assay__moments device; /* of its spans on streams, in seconds */
    /* Energy: of the processor and of GPUs while its spans ran on threads, and of GPUs while they
     * ran on streams, where that is known better. */
    assay__journal_joules cpu, gpu_beside, gpu;
    double metered_seconds, period_seconds;
    size_t bucket_room, sample_room;
} assay__merge_state;

typedef struct assay__merge {
    assay_record *record;
    uint64_t origin_monotonic_ns;
    assay__merge_state *states; /* beside the record's operations */
    size_t state_room;
    assay__name_index operations, counters;
    unsigned memory_modes; /* of any journal */
    bool live;             /* the writer of the journal being merged may still write */
} assay__merge;

enum {
    ASSAY__NODE_UNKNOWN = 0, /* not met yet, or not of this kind */
    ASSAY__NODE_CLEARED =
        -1 /* met, but cleared: it becomes an operation only if a child needs it */
};

/* Where the figures of a node went: for each unit of the journal, the index of the operation or
 * counter in the record plus one, or one of the values above. There are two arrays because a
 * damaged journal may call one node both. All entries are zero at first, so that a large journal
 * with few nodes costs little memory. */
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

/* Compute what needs all journals (quantiles, deviations, totals) and hand the record over. */
assay_record *assay__merge_finish(assay__merge *merge);

/* Frees the record as well, unless it was handed over. */
void assay__merge_release(assay__merge *merge);

/* Enter the process of a journal into the record's list, with the spans of its lanes (processes.c).
 */
ASSAY_MUST_USE assay_status assay__merge_process(assay__merge *merge,
                                                 const assay__journal_header *header,
                                                 uint64_t spans);

/* timeline.c — add the lane, number `index` in the journal's list, which had this many spans, with
 * its events and open spans. */
ASSAY_MUST_USE assay_status assay__merge_lane(assay__merge *merge, const assay__journal_view *view,
                                              uint32_t unit, size_t index, const assay__lane *lane,
                                              const assay__node_map *nodes, uint64_t spans);

/* The value below or at which a share `q` of the distribution lies (the ceil(q n)-th smallest), to
 * within the bucket; n must not be 0. */
double assay__bucket_quantile(const assay_record_bucket *buckets, size_t count, double q);

/* The record of one journal that is already open as a view. */
ASSAY_MUST_USE assay_status assay__snapshot_view(const assay__journal_view *view,
                                                 const assay_snapshot_options *options,
                                                 assay_error *error, assay_record **record);

#endif
