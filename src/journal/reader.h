/* Reading a journal: somebody's bytes, possibly being written, truncated, corrupted or foreign.
 *
 * A view checks the header once; every later access is checked against the regions it declares, so
 * nothing outside the given bytes is ever touched and every walk ends. The bytes may be a live
 * journal of this process (fields are loaded in one piece) or a copy of a file.
 */
#ifndef ASSAY_JOURNAL_READER_H
#define ASSAY_JOURNAL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal/journal.h"

typedef struct assay__journal_view {
    const unsigned char *bytes;
    const unsigned char
        *lanes_after; /* the lanes region, looked at again after everything else was copied */
    assay__journal_header header; /* a checked copy */
    unsigned char *owned[2];      /* buffers of a file's copy */
} assay__journal_view;

/* View `length` bytes, named `label` in errors. ASSAY_E_FORMAT: no journal; ASSAY_E_VERSION;
 * ASSAY_E_TRUNCATED. */
ASSAY_MUST_USE assay_status assay__journal_view_bytes(assay__journal_view *view, const void *bytes,
                                                      size_t length, const char *label,
                                                      assay_error *error);
/* View a file, through a copy, so that no truncation of it can hurt. */
ASSAY_MUST_USE assay_status assay__journal_view_file(assay__journal_view *view, const char *path,
                                                     assay_error *error);
void assay__journal_view_release(assay__journal_view *view);

/* Nanoseconds on the monotonic clock of the writer's machine, and of one tick. The rate comes from
 * the two anchors once they are far enough apart to beat the calibration. */
double assay__journal_ns_per_tick(const assay__journal_view *view);
double assay__journal_monotonic_ns(const assay__journal_view *view, uint64_t ticks);

/* Whether the writer may still write: the journal is open, this is its machine and boot, and its
 * process lives. */
bool assay__journal_is_live(const assay__journal_view *view);

/* The name of an operation, or "(unknown)" for an index out of range. Borrowed from the view. */
const char *assay__journal_operation_name(const assay__journal_view *view, uint32_t operation);

size_t assay__journal_lane_count(const assay__journal_view *view);

typedef struct assay__lane_reading {
    uint32_t kind, state;
    int64_t thread_id;
    char name[32];
    uint64_t dropped_spans, mismatched_ends, abandoned_spans;
    uint32_t first_node;
    uint32_t depth; /* open spans */
} assay__lane_reading;

void assay__journal_read_lane(const assay__journal_view *view, size_t lane,
                              assay__lane_reading *reading);

/* An open span of a lane, 1 <= level <= depth; false if it cannot be followed. */
bool assay__journal_read_open(const assay__journal_view *view, size_t lane, uint32_t level,
                              uint64_t *start, uint32_t *operation);

typedef struct assay__node_reading {
    uint32_t unit, parent, next;
    uint32_t kind, operation;
    uint64_t count, sum, min, max;
    double square_sum, shift;
    uint64_t samples_dropped;
    bool has_memory;
    assay__journal_memory memory;
} assay__node_reading;

/* Nodes are walked from lane.first_node along `next`; false at the end or where the list is broken.
 */
bool assay__journal_read_node(const assay__journal_view *view, uint32_t unit,
                              assay__node_reading *reading);

/* The 64 buckets of a page, or NULL. Load them with assay__journal_load. */
const uint64_t *assay__journal_page(const assay__journal_view *view, uint32_t unit, uint32_t page);

/* Raw samples of a node in ticks; NULL and 0 when there are none. */
const uint64_t *assay__journal_samples(const assay__journal_view *view, uint32_t unit,
                                       size_t *count);

/* The events of a lane from the oldest to the newest, into `events` of `capacity`; returns how
 * many, and in `lost` how many were overwritten. Pass NULL to ask for the capacity needed. */
size_t assay__journal_read_events(const assay__journal_view *view, size_t lane,
                                  assay__journal_event *events, size_t capacity, uint64_t *lost);

size_t assay__journal_metric_count(const assay__journal_view *view);
void assay__journal_read_metric(const assay__journal_view *view, size_t index,
                                assay__journal_metric *metric);

static inline uint64_t assay__journal_load(const uint64_t *field)
{
    return __atomic_load_n(field, __ATOMIC_RELAXED);
}

#endif
