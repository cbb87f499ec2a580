/* Reads a journal. The journal may still be written, or the file may be truncated, corrupted or no
 * journal at all.
 *
 * A view checks the header once. Every later access is checked against the sizes in the header. So
 * nothing outside of the given bytes is ever read, and every walk along a list ends. The bytes may
 * be a live journal of this process (fields are loaded in one piece) or a copy of a file. */
#ifndef ASSAY_JOURNAL_READER_H
#define ASSAY_JOURNAL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal/journal.h"

/* How far the event ring of a lane was written. */
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
    struct assay__ring_state *rings_after; /* of each lane, after everything was copied; or NULL */
    bool changed;                          /* the file changed while it was copied */
} assay__journal_view;

/* View `length` bytes, which errors call `label`. The bytes are borrowed. ASSAY_E_FORMAT if they
 * are no journal; ASSAY_E_STATE if the journal is still being made; ASSAY_E_VERSION;
 * ASSAY_E_TRUNCATED. */
ASSAY_MUST_USE assay_status assay__journal_view_bytes(assay__journal_view *view, const void *bytes,
                                                      size_t length, const char *label,
                                                      assay_error *error);
/* View a copy of a file, so that it does no harm if the file is truncated meanwhile. The path must
 * outlive the view. */
ASSAY_MUST_USE assay_status assay__journal_view_file(assay__journal_view *view, const char *path,
                                                     assay_error *error);
void assay__journal_view_release(assay__journal_view *view);

/* Read only the header of a file. It is checked like that of a view. Fails as
 * assay__journal_view_file() does. */
ASSAY_MUST_USE assay_status assay__journal_file_header(const char *path,
                                                       assay__journal_header *header,
                                                       assay_error *error);

/* Convert a time in ticks to seconds since `monotonic_ns`, a time on the monotonic clock of the
 * writer's machine. */
double assay__journal_seconds_since(const assay__journal_view *view, uint64_t ticks,
                                    uint64_t monotonic_ns);

/* Whether the writer may still write: the journal is open, it was made since the boot of this
 * machine, and its process has it mapped or changed it while it was copied. The process of another
 * container is known by its changes only, because its id means another process here. */
bool assay__journal_is_live(const assay__journal_view *view);

/* The name of an operation, or "(unknown)" if the unit is not that of a name. It belongs to the
 * view. */
const char *assay__journal_operation_name(const assay__journal_view *view, uint32_t operation);

/* Copy a lane. In the copy the name is terminated, pointers are addresses of the writer, and fields
 * that only the writer uses are zero. Walk the lanes from header.first_lane along `next`. False at
 * the end of the list, or where the list is broken. */
bool assay__journal_read_lane(const assay__journal_view *view, uint32_t unit, assay__lane *copy);

/* The number of open spans in the copy of a lane. It may lack spans that began after the last one
 * ended, if the writer was in the middle of a begin or an end. */
uint32_t assay__journal_depth(const assay__journal_view *view, uint32_t unit,
                              const assay__lane *copy);

/* The operation of an open span of a lane, where 1 <= level <= depth. False if the reference to it
 * is damaged. */
bool assay__journal_read_open(const assay__journal_view *view, const assay__lane *lane,
                              uint32_t level, uint32_t *operation);

/* Copy a node. In the copy `self` is always `unit`, pointers are addresses of the writer, and
 * fields that only the writer uses are zero. Walk the nodes from lane.first_node along `next`.
 * False at the end of the list, or where the list is broken. */
bool assay__journal_read_node(const assay__journal_view *view, uint32_t unit, assay__node *copy);

/* If the slot of the lane at `unit` contains a span of this node that is not yet entered into the
 * node, add it to the figures of the copy. `*duration` receives the duration of that span in ticks.
 * False if there is no such span. In a live journal the figures are copied again where they may be
 * of two moments, so call this for each copy of a span's node. */
bool assay__journal_add_pending(const assay__journal_view *view, uint32_t unit, assay__node *copy,
                                uint64_t *duration);

/* Copy the memory figures of a node, and the device figures of memory figures. False if there are
 * none. */
bool assay__journal_read_memory(const assay__journal_view *view, const assay__node *node,
                                assay__journal_memory *memory);
bool assay__journal_read_device(const assay__journal_view *view,
                                const assay__journal_memory *memory, assay__journal_device *device);
/* The pages in which there are spans, one bit for each page; and a copy of the 64 buckets of one
 * page. */
uint64_t assay__journal_pages(const assay__journal_view *view, const assay__node *node);
void assay__journal_buckets(const assay__journal_view *view, const assay__node *node, uint32_t page,
                            uint64_t counts[ASSAY_PAGE_BUCKETS]);
/* The `sample_count` raw samples of a node in ticks, or NULL. Load them with
 * assay__journal_load. */
const uint64_t *assay__journal_samples(const assay__journal_view *view, const assay__node *node);

/* Copy the events of a lane, from the oldest to the newest, into `events`, which has room for
 * `capacity`. `index` is the number of the lane in the list of lanes. Returns the number of events;
 * `*lost` receives the number of events that were overwritten. Pass NULL as `events` to get the
 * capacity that is needed. */
size_t assay__journal_read_events(const assay__journal_view *view, uint32_t unit, size_t index,
                                  assay__journal_event *events, size_t capacity, uint64_t *lost);

/* Copy a metric. There are header.metric_count metrics; walk them from header.first_metric along
 * `next`. False where the list is broken. */
bool assay__journal_read_metric(const assay__journal_view *view, uint32_t unit,
                                assay__journal_metric *metric);

static inline uint64_t assay__journal_load(const uint64_t *field)
{
    return __atomic_load_n(field, __ATOMIC_RELAXED);
}

#endif
