/* Reading a journal, which may be in the middle of being written, truncated, corrupted or no
 * journal at all.
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

/* How far a lane's event ring was written. */
typedef struct assay__ring_state {
    uint64_t head, capacity;
} assay__ring_state;

typedef struct assay__journal_view {
    const unsigned char *bytes;
    assay__journal_header header; /* a checked copy */
    double seconds_per_tick;      /* turns every duration of this journal into seconds */
    const char *file;             /* borrowed; NULL for bytes of this process */
    unsigned char *copy;          /* of the file, or NULL */
    size_t copy_bytes;
    struct assay__ring_state *rings_after; /* as the lanes were when all was copied, or NULL */
} assay__journal_view;

/* View `length` bytes, named `label` in errors. ASSAY_E_FORMAT: no journal; ASSAY_E_STATE: one that
 * is still being made; ASSAY_E_VERSION; ASSAY_E_TRUNCATED. */
ASSAY_MUST_USE assay_status assay__journal_view_bytes(assay__journal_view *view, const void *bytes,
                                                      size_t length, const char *label,
                                                      assay_error *error);
/* View a file, through a copy, so that no truncation of it can hurt. The path must outlive the
 * view.
 */
ASSAY_MUST_USE assay_status assay__journal_view_file(assay__journal_view *view, const char *path,
                                                     assay_error *error);
void assay__journal_view_release(assay__journal_view *view);

/* The header of a file alone, checked like that of a view; fails as assay__journal_view_file does.
 */
ASSAY_MUST_USE assay_status assay__journal_file_header(const char *path,
                                                       assay__journal_header *header,
                                                       assay_error *error);

/* When `ticks` were read, in seconds since a moment on the monotonic clock of the writer's machine.
 */
double assay__journal_seconds_since(const assay__journal_view *view, uint64_t ticks,
                                    uint64_t monotonic_ns);

/* Whether the writer may still write: the journal is open, this is its machine and boot, and its
 * process has it mapped. */
bool assay__journal_is_live(const assay__journal_view *view);

/* The name of an operation, or "(unknown)" where its unit leads to none. Borrowed from the view. */
const char *assay__journal_operation_name(const assay__journal_view *view, uint32_t operation);

/* Copy a lane out. Its name is terminated; its pointers are the writer's; what only the writer uses
 * is zero, as in the copy of a node. Lanes are walked from header.first_lane along `next`; false at
 * the end or where the list is broken. */
bool assay__journal_read_lane(const assay__journal_view *view, uint32_t unit, assay__lane *copy);

/* How many spans are open in the copy of a lane. */
uint32_t assay__journal_depth(const assay__journal_view *view, uint32_t unit,
                              const assay__lane *copy);

/* The operation of an open span of a lane, 1 <= level <= depth; false if it cannot be followed. */
bool assay__journal_read_open(const assay__journal_view *view, const assay__lane *lane,
                              uint32_t level, uint32_t *operation);

/* Copy a node out; `self` is `unit` whatever the bytes say, and the pointers are the writer's.
 * Nodes are walked from lane.first_node along `next`; false at the end or where the list is broken.
 */
bool assay__journal_read_node(const assay__journal_view *view, uint32_t unit, assay__node *copy);

/* A span of this node that the lane's slot holds and the node does not have yet is added to the
 * copy's figures; returns its duration in ticks through `duration`, or false when there is none. */
bool assay__journal_add_pending(const assay__journal_view *view, const assay__lane *lane,
                                assay__node *copy, uint64_t *duration);

/* What the copy of a node leads to. Memory figures: false when it has none. */
bool assay__journal_read_memory(const assay__journal_view *view, const assay__node *node,
                                assay__journal_memory *memory);
bool assay__journal_read_device(const assay__journal_view *view,
                                const assay__journal_memory *memory, assay__journal_device *device);
/* The pages into which spans fell, a bit each; and the 64 buckets of one, copied out. */
uint64_t assay__journal_pages(const assay__journal_view *view, const assay__node *node);
void assay__journal_buckets(const assay__journal_view *view, const assay__node *node, uint32_t page,
                            uint64_t counts[ASSAY_PAGE_BUCKETS]);
/* Its `sample_count` raw samples in ticks, or NULL. Load them with assay__journal_load. */
const uint64_t *assay__journal_samples(const assay__journal_view *view, const assay__node *node);

/* The events of a lane, which is number `index` in the list, from the oldest to the newest, into
 * `events` of `capacity`; returns how many, and in `lost` how many were overwritten. Pass NULL to
 * ask for the capacity needed. */
size_t assay__journal_read_events(const assay__journal_view *view, uint32_t unit, size_t index,
                                  assay__journal_event *events, size_t capacity, uint64_t *lost);

/* Copy a metric out. There are header.metric_count, from header.first_metric along `next`; false
 * where the list is broken. */
bool assay__journal_read_metric(const assay__journal_view *view, uint32_t unit,
                                assay__journal_metric *metric);

static inline uint64_t assay__journal_load(const uint64_t *field)
{
    return __atomic_load_n(field, __ATOMIC_RELAXED);
}

#endif
