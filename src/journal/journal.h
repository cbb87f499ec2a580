/* The journal as a whole: header, regions, and the writer's primitives.
 *
 * A journal is one contiguous region — private memory or a mapped file — with everything a process
 * measured through one monitor. docs/journal.md is the description for readers in other languages.
 * Regions stand in this order, each aligned to 64 bytes: header, names, operations, lanes, metrics,
 * pool. The pool gives out nodes, bucket pages, event rings and sample stores, and never takes
 * anything back.
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
    ASSAY__JOURNAL_MIN_LANES = 64,
    ASSAY__JOURNAL_MAX_LANES = 16384,
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

typedef struct assay__journal_region {
    uint64_t offset, bytes, used; /* used: bytes, or entries for arrays */
} assay__journal_region;

typedef struct assay__journal_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t byte_order;
    uint32_t state;
    uint64_t total_bytes;
    uint64_t base_address; /* where the writer mapped it */

    int64_t process_id, parent_process_id;
    uint64_t process_start; /* field 22 of /proc/PID/stat: tells a reused pid apart */
    int64_t rank;           /* of a distributed job, or -1 */
    uint64_t monitor_id;
    char host[64];
    char boot_id[40];
    char name[256];

    char clock_source[32];
    double ticks_per_second;
    double clock_resolution_ns, clock_cost_ns; /* negative: unknown */
    assay__journal_anchor first, latest;

    assay__journal_region names;      /* text, terminated strings back to back */
    assay__journal_region operations; /* assay__journal_operation[] */
    assay__journal_region lanes;      /* assay__lane[] */
    assay__journal_region metrics;    /* assay__journal_metric[] */
    assay__journal_region pool;
    uint64_t set_aside; /* bytes at the end of the pool that were given to rings and samples */

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

typedef struct assay__journal_operation {
    uint32_t name; /* offset in the names region */
    uint32_t name_bytes;
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
    uint64_t reserved;
} assay__journal_memory;

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
    uint64_t reserved[3];
} assay__journal_metric;

/* Who writes, filled by the caller of assay__journal_create. */
typedef struct assay__journal_identity {
    const char *name;
    int64_t process_id, parent_process_id;
    uint64_t process_start;
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
    /* How much of each region may be touched, in bytes. */
    struct {
        uint64_t names, operations, lanes, metrics, pool;
    } ready;
    uint64_t taken; /* memory or disk so far, in bytes */
} assay__journal;

/* Create in private memory (path NULL) or as a new file, which must not exist (ASSAY_E_STATE). The
 * pool may grow to `pool_bytes`, or to less where the limits of the process leave less room. */
ASSAY_MUST_USE assay_status assay__journal_create(assay__journal *journal, const char *path,
                                                  size_t pool_bytes,
                                                  const assay__journal_identity *identity,
                                                  assay_error *error);

/* The header is complete: sign it, and give a file its name. Until then the file is called
 * `path`.new, so that whoever finds `path` finds a whole journal. On failure the journal is
 * released and its file removed. */
ASSAY_MUST_USE assay_status assay__journal_publish(assay__journal *journal, assay_error *error);

/* Unmap. A file stays behind. Accepts a zeroed journal. */
void assay__journal_release(assay__journal *journal);

/* Zeroed room in the pool, aligned to 64 bytes; NULL when it is spent or the disk is full. */
void *assay__journal_allocate(assay__journal *journal, size_t bytes);

/* The same for something large that may never be filled: only addresses are set aside, at the end
 * of the pool, so that what is used stays together. Each part must be made ready, by any thread and
 * without a lock, before it is touched; that fails when the disk is full. */
void *assay__journal_set_aside(assay__journal *journal, size_t bytes);
bool assay__journal_make_ready(const assay__journal *journal, const void *start, size_t bytes);

/* Index of the operation of this (already clean) name, entered if new; ASSAY_E_LIMIT when there is
 * no room. */
ASSAY_MUST_USE assay_status assay__journal_intern(assay__journal *journal, const char *name,
                                                  size_t length, uint32_t *operation);

/* A lane never used before, or NULL. It becomes visible to readers when assay__journal_publish_lane
 * is called. */
assay__lane *assay__journal_next_lane(assay__journal *journal);
void assay__journal_publish_lane(assay__journal *journal, const assay__lane *lane);

/* Append a metric; false (and counted) when there is no room. */
bool assay__journal_add_metric(assay__journal *journal, const assay__journal_metric *metric);

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
