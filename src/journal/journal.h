/* The journal as a whole: header, regions, and the writer's primitives.
 *
 * A journal is one contiguous region — private memory or a mapped file — with everything a process
 * measured through one monitor. docs/journal.md is the description for readers in other languages.
 * It is a header and a pool. The pool gives out operations (names), lanes, nodes, bucket pages,
 * event rings, sample stores and metrics, and never takes anything back; they lead to each other by
 * their offset / 64, which is called a unit, and the header leads to the first lane and metric.
 *
 * A journal reserves addresses for all it may ever hold, and takes memory or disk only for what is
 * used. The blocks of a file are allocated part by part, each before it is touched, so that a full
 * disk is an error here and never a SIGBUS later.
 *
 * Threads: the primitives here are not locked; the monitor serialises them. What they publish
 * (counts and "used" marks) is stored with release order after the thing itself, so readers need no
 * lock.
 */
#ifndef ASSAY_JOURNAL_JOURNAL_H
#define ASSAY_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "assay/layout.h"
#include "assay/status.h"
#include "base/name_index.h"

#define ASSAY__JOURNAL_MAGIC      "ASSAYJRN"
#define ASSAY__JOURNAL_SUFFIX     ".assay"

/* Where a journal could not be made, a symbolic link stands under its name. The link's target is
 * this prefix and the reason; no file can exist there. */
#define ASSAY__JOURNAL_NEVER_MADE "/dev/null/"

/* The operation that gathers the spans of names for which the journal has no room left. Room for
 * this name itself is kept back. */
#define ASSAY__OTHER_NAME         "(other)"

enum {
    ASSAY__JOURNAL_BYTE_ORDER = 0x01020304,
    ASSAY__JOURNAL_UNIT = 64, /* offsets inside the pool are stored in this unit */
    ASSAY__JOURNAL_MAX_OPERATIONS = 8192,
    ASSAY__JOURNAL_MAX_METRICS = 4096,
    ASSAY__JOURNAL_MIN_BYTES = 1024 * 1024
};

enum assay__journal_state { ASSAY__JOURNAL_OPEN = 1, ASSAY__JOURNAL_CLOSED = 2 };
enum assay__lane_state { ASSAY__LANE_FREE = 0, ASSAY__LANE_LIVE = 1, ASSAY__LANE_ENDED = 2 };
/* A counter uses a node's fields for its own figures: count; square_sum is the sum of its values,
 * shift the last one, min and max hold the bits of doubles. */
enum assay__node_kind { ASSAY__NODE_ROOT = 1, ASSAY__NODE_SPAN = 2, ASSAY__NODE_COUNTER = 3 };
enum assay__event_flags { ASSAY__EVENT_LATE = 1 }; /* completed late: may overlap its neighbours */

/* One moment on the counter's, the monotonic and the wall clock's scale: aligns journals of several
 * processes and hosts. */
typedef struct assay__journal_anchor {
    uint64_t ticks, monotonic_ns, realtime_ns;
} assay__journal_anchor;

typedef struct assay__journal_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t byte_order;
    uint32_t state;
    uint64_t total_bytes;
    uint64_t base_address; /* where the writer mapped it */

    int64_t process_id, parent_process_id;
    int64_t rank; /* of a distributed job, or -1 */
    uint64_t monitor_id;
    char host[64];
    char boot_id[40];
    char name[256];

    char clock_source[32];
    double ticks_per_second;
    double clock_resolution_ns, clock_cost_ns; /* negative: unknown */
    assay__journal_anchor first, latest;

    uint64_t pool_bytes;      /* behind the header */
    uint64_t pool_used;       /* bytes at its start */
    uint64_t pool_set_aside;  /* bytes at its end, given to rings and samples */
    uint32_t operation_count; /* names */
    uint32_t lane_count;
    uint32_t first_lane, last_lane; /* units, or 0 */
    uint32_t first_metric;
    uint32_t metric_count; /* the list may be longer: what is behind was cleared */

    uint64_t dropped_names; /* operations beyond the room */
    uint64_t dropped_lanes; /* threads beyond the room, after recycling */
    uint64_t dropped_spans; /* spans for which no lane, name or node could be had */
    uint64_t dropped_metrics;
    uint64_t mismatched_ends; /* that belong to no lane of the ending thread */
    uint64_t memory_modes;    /* assay_monitor_memory bits in force */
    uint64_t displaced_spans; /* counted in a neighbouring bucket for want of room */
    uint64_t refused_growth;  /* times the file could not grow: the disk is full */
} assay__journal_header;

static inline uint64_t assay__bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double assay__double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A word of a node's rare buckets: 1 + page * 64 + bucket in the upper 16 bits, the count in the
 * lower 48; 0 is free. */
static inline uint64_t assay__rare_empty(uint32_t page, uint32_t bucket)
{
    return (uint64_t)(1 + page * ASSAY_PAGE_BUCKETS + bucket) << 48;
}

/* ASSAY_NODE_PAGES or more for a word that is free or damaged. */
static inline uint32_t assay__rare_page(uint64_t word)
{
    return ((uint32_t)(word >> 48) - 1) / ASSAY_PAGE_BUCKETS;
}

static inline uint32_t assay__rare_bucket(uint64_t word)
{
    return ((uint32_t)(word >> 48) - 1) % ASSAY_PAGE_BUCKETS;
}

static inline uint64_t assay__rare_count(uint64_t word)
{
    return word & (((uint64_t)1 << 48) - 1);
}

/* The header occupies this much; what is beyond the struct is zero and reserved. */
enum { ASSAY__JOURNAL_HEADER_BYTES = 4096 };

/* A name, known by its unit. */
typedef struct assay__journal_operation {
    uint32_t name_bytes;
    uint32_t reserved;
    char name[]; /* terminated */
} assay__journal_operation;

/* Memory figures of a node. */
typedef struct assay__journal_memory {
    int64_t rss_delta_bytes; /* summed over spans */
    uint64_t rss_peak_bytes;
    uint64_t rss_readings;
    int64_t heap_delta_bytes;
    uint64_t heap_peak_bytes;
    uint64_t heap_allocations;
    uint64_t heap_readings;
    uint32_t device; /* offset / 64 of its assay__journal_device, or 0 */
    uint32_t reserved;
} assay__journal_memory;

/* An estimate and its bounds. */
typedef struct assay__journal_joules {
    double sum, low, high;
} assay__journal_joules;

/* What devices gave for a node. */
typedef struct assay__journal_device {
    assay__journal_joules cpu, gpu; /* while its spans ran */
    double metered_seconds;         /* the time of those spans */
    double period_seconds;          /* of the slowest counter that was read */
    int64_t gpu_delta_bytes;        /* summed over spans */
    uint64_t gpu_peak_bytes;
    uint64_t gpu_readings;
    uint64_t seen_ticks; /* of its sum, at the last window; private */
    uint64_t running;    /* it had time in the last window; private */
    uint64_t declined;   /* spans on a stream that were not timed by the device: on the node of the
                            stream, it dropped them; on that of the thread, no driver was able to */
    uint64_t reserved[2];
} assay__journal_device;

/* An event, taken apart. */
typedef struct assay__journal_event {
    uint64_t start, end;
    uint32_t node, parent, thread;
    uint16_t kind, flags;
} assay__journal_event;

static inline uint64_t assay__event_place(uint32_t node, uint32_t parent)
{
    return node | (uint64_t)parent << 32;
}

static inline uint64_t assay__event_origin(uint32_t thread, uint16_t kind, uint16_t flags)
{
    return thread | (uint64_t)kind << 32 | (uint64_t)flags << 48;
}

typedef struct assay__journal_metric {
    uint64_t start, duration; /* ticks */
    uint32_t operation;
    uint32_t thread;
    uint32_t depth;
    uint32_t has_rss;
    int64_t rss_delta_bytes;
    uint32_t next; /* unit of the one recorded after it, or 0 */
    uint32_t has_gpu;
    int64_t gpu_delta_bytes; /* of the device's memory pool */
    uint64_t gpu_peak_bytes;
} assay__journal_metric;

/* Who writes, filled by the caller of assay__journal_create. */
typedef struct assay__journal_identity {
    const char *name;
    int64_t process_id, parent_process_id;
    int64_t rank;
    uint64_t monitor_id;
    char host[64];
    char boot_id[40];
} assay__journal_identity;

typedef struct assay__journal {
    assay__journal_header *header; /* also the base of the mapping */
    char *path;                    /* NULL: private memory */
    dev_t device;                  /* of the file */
    ino_t inode;
    size_t bytes;
    uint64_t ready; /* bytes of the pool's used part that may be touched */
    assay__name_index names;
    assay__journal_metric *last_metric; /* recorded since the last clear, or NULL */
} assay__journal;

/* Create in private memory (path NULL) or as a new file, which must not exist (ASSAY_E_STATE). The
 * pool may grow to `pool_bytes`, or to less where the limits of the process leave less room. */
ASSAY_MUST_USE assay_status assay__journal_create(assay__journal *journal, const char *path,
                                                  size_t pool_bytes,
                                                  const assay__journal_identity *identity,
                                                  assay_error *error);

/* The header is complete: sign it. Readers pass over a file that is not signed. */
void assay__journal_publish(assay__journal *journal);

/* Unmap. A file stays behind. Accepts a zeroed journal. */
void assay__journal_release(assay__journal *journal);

/* Keep the journal out of forked children, to which fork is cheaper then; or let them have it. */
void assay__journal_keep_from_children(const assay__journal *journal, bool keep);

/* In a child from which it was kept: forget it. Its addresses may be somebody else's by now. */
void assay__journal_forget(assay__journal *journal);

/* Zeroed room in the pool, aligned to 64 bytes; NULL when it is spent or the disk is full. */
void *assay__journal_allocate(assay__journal *journal, size_t bytes);

/* The same for something large that may never be filled: only addresses are set aside, at the end
 * of the pool, so that what is used stays together. Each part must be made ready, by any thread and
 * without a lock, before it is touched; that fails when the disk is full. */
void *assay__journal_set_aside(assay__journal *journal, size_t bytes);
bool assay__journal_make_ready(const assay__journal *journal, const void *start, size_t bytes);

/* The unit of the operation of this (already clean) name, entered if new; ASSAY_E_LIMIT when there
 * is no room. */
ASSAY_MUST_USE assay_status assay__journal_intern(assay__journal *journal, const char *name,
                                                  size_t length, uint32_t *operation);

/* Let readers find a lane that was allocated and is complete. One they know already stays as it is.
 */
void assay__journal_publish_lane(assay__journal *journal, assay__lane *lane);

/* Append a metric; false (and counted) when there is no room. */
bool assay__journal_add_metric(assay__journal *journal, const assay__journal_metric *metric);
void assay__journal_clear_metrics(assay__journal *journal);

/* Offset / 64 of something inside the journal, and back. */
static inline uint32_t assay__journal_unit(const assay__journal *journal, const void *address)
{
    return (uint32_t)(((uintptr_t)address - (uintptr_t)journal->header) / ASSAY__JOURNAL_UNIT);
}

static inline void *assay__journal_at(const assay__journal *journal, uint32_t unit)
{
    return (unsigned char *)journal->header + (size_t)unit * ASSAY__JOURNAL_UNIT;
}

#endif
