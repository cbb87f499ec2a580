/* The journal as a whole: its header, its pool, and the functions that write it.
 *
 * A journal is one contiguous region, in private memory or in a mapped file, with everything that a
 * process measured through one monitor. docs/journal.md describes it for readers in other
 * languages. It consists of a header and a pool. Operations (names), lanes, nodes, bucket pages,
 * event rings, sample stores and metrics are allocated from the pool and never freed. They refer to
 * each other by their offset / 64, which is called a unit. The header refers to the first lane and
 * the first metric.
 *
 * A journal reserves addresses for the largest size that it may reach. It takes memory or disk only
 * for the part that is in use. The blocks of a file are allocated part by part, each before it is
 * touched. So a full disk is an error here, and never a SIGBUS later.
 *
 * Threads: these functions take no lock; the monitor serialises them. Readers need no lock either:
 * the counts and links by which they find an item are stored with release order after the item
 * itself. */
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

/* If a journal could not be made, there is a symbolic link with its name. The target of the link is
 * this prefix and the reason. No file can exist under this prefix. */
#define ASSAY__JOURNAL_NEVER_MADE "/dev/null/"

/* The operation that gathers the spans of names for which the journal has no room. There is always
 * room for this name itself. */
#define ASSAY__OTHER_NAME         "(other)"

enum {
    ASSAY__JOURNAL_BYTE_ORDER = 0x01020304,
    ASSAY__JOURNAL_UNIT = 64, /* offsets inside the pool are stored in this unit */
    ASSAY__JOURNAL_MAX_OPERATIONS = 8192,
    ASSAY__JOURNAL_MAX_METRICS = 4096,
    ASSAY__JOURNAL_MIN_BYTES = 1024 * 1024,
    ASSAY__LARGE_EXPONENT = 64 /* of the sum of a counter */
};

enum assay__journal_state { ASSAY__JOURNAL_OPEN = 1, ASSAY__JOURNAL_CLOSED = 2 };
enum assay__lane_state { ASSAY__LANE_FREE = 0, ASSAY__LANE_LIVE = 1, ASSAY__LANE_ENDED = 2 };
/* A counter uses the fields of a node for its own figures: `square_sum` * 2^`sum` is the sum of its
 * values, `shift` the last value, `min` and `max` are the bits of doubles. `sum` is 0, or
 * ASSAY__LARGE_EXPONENT if the sum does not fit in a double. */
enum assay__node_kind { ASSAY__NODE_ROOT = 1, ASSAY__NODE_SPAN = 2, ASSAY__NODE_COUNTER = 3 };
enum assay__event_flags { ASSAY__EVENT_LATE = 1 }; /* completed late: may overlap its neighbours */

/* One point in time, on three scales: the ticks of the counter, the monotonic clock and the wall
 * clock. Anchors align the journals of several processes and hosts. */
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

    uint64_t pool_bytes;      /* size of the pool, which begins behind the header */
    uint64_t pool_used;       /* bytes in use at the start of the pool */
    uint64_t pool_set_aside;  /* bytes at the end of the pool, for rings and samples */
    uint32_t operation_count; /* names */
    uint32_t lane_count;
    uint32_t first_lane, last_lane; /* units, or 0 */
    uint32_t first_metric;
    uint32_t metric_count; /* the list may be longer: further metrics were cleared */

    uint64_t dropped_names; /* operations for which there was no room */
    uint64_t dropped_lanes; /* threads for which there was no room, and no lane to take over */
    uint64_t dropped_spans; /* spans for which there was no lane, name or node */
    uint64_t dropped_metrics;
    uint64_t mismatched_ends; /* ends that belong to no lane of the ending thread */
    uint64_t memory_modes;    /* assay_monitor_memory bits in force */
    uint64_t displaced_spans; /* counted in a neighbouring bucket, for lack of room */
    uint64_t refused_growth;  /* how often the file could not grow, because the disk was full */
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

/* A word of a node's rare buckets. The upper 16 bits are 1 + page * 64 + bucket, the lower 48 bits
 * the count. A free word is 0. */
static inline uint64_t assay__rare_empty(uint32_t page, uint32_t bucket)
{
    return (uint64_t)(1 + page * ASSAY_PAGE_BUCKETS + bucket) << 48;
}

/* The page of a word; ASSAY_NODE_PAGES or more if the word is free or damaged. */
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

/* The room of the header. The bytes behind the struct are zero and reserved. */
enum { ASSAY__JOURNAL_HEADER_BYTES = 4096 };

/* An operation, which is a name. Nodes and metrics refer to it by its unit. */
typedef struct assay__journal_operation {
    uint32_t name_bytes;
    uint32_t reserved;
    char name[]; /* terminated */
} assay__journal_operation;

/* Memory figures of a node. */
typedef struct assay__journal_memory {
    int64_t rss_delta_bytes; /* summed over spans */
    uint64_t rss_peak_bytes;
    uint64_t rss_readings; /* spans whose resident memory was read */
    int64_t heap_delta_bytes;
    uint64_t heap_peak_bytes;
    uint64_t heap_allocations;
    uint64_t heap_readings;
    uint32_t device; /* offset / 64 of its assay__journal_device, or 0 */
    uint32_t reserved;
} assay__journal_memory;

/* An estimate of energy and its bounds. */
typedef struct assay__journal_joules {
    double sum, low, high;
} assay__journal_joules;

/* The device figures of a node: energy and GPU memory. */
typedef struct assay__journal_device {
    assay__journal_joules cpu, gpu; /* energy while its spans ran */
    double metered_seconds;         /* the time of those spans */
    double period_seconds;          /* of the slowest counter that was read */
    int64_t gpu_delta_bytes;        /* summed over spans */
    uint64_t gpu_peak_bytes;
    uint64_t gpu_readings;
    uint64_t seen_ticks; /* the node's time until the end of the last window; private */
    uint64_t running;    /* it had time in the last window; private */
    uint64_t declined;   /* spans on a stream that were not timed by the device. On a node of the
                            stream's lane: they were dropped. On a node of a thread's lane: there
                            was no usable driver */
    double busy_seconds, rest_seconds; /* of the last window; private */
} assay__journal_device;

/* An event with its packed fields separated. */
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
    uint32_t next; /* unit of the next metric, or 0 */
    uint32_t has_gpu;
    int64_t gpu_delta_bytes; /* of the device's memory pool */
    uint64_t gpu_peak_bytes;
} assay__journal_metric;

/* The identity of the writer. The caller of assay__journal_create() fills it in. */
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
    uint64_t ready; /* bytes at the start of the pool that are allocated and may be touched */
    assay__name_index names;
    assay__journal_metric *last_metric; /* the last one since metrics were cleared, or NULL */
} assay__journal;

/* Create a journal: in private memory if `path` is NULL, else as a new file. ASSAY_E_STATE if the
 * file exists. The pool may grow to `pool_bytes`, or to less if the limits of the process leave
 * less room. */
ASSAY_MUST_USE assay_status assay__journal_create(assay__journal *journal, const char *path,
                                                  size_t pool_bytes,
                                                  const assay__journal_identity *identity,
                                                  assay_error *error);

/* Write the magic number, once the header is complete. Readers skip a file without it. */
void assay__journal_publish(assay__journal *journal);

/* Unmap the journal. A file remains. Accepts a struct that is all zero. */
void assay__journal_release(assay__journal *journal);

/* If `keep` is set, forked children do not get the mapping of the journal, which also makes fork
 * cheaper. Otherwise they get it. */
void assay__journal_keep_from_children(const assay__journal *journal, bool keep);

/* Forget the journal without unmapping it, in a child that did not get the mapping. Another mapping
 * of the child may have the addresses by now. */
void assay__journal_forget(assay__journal *journal);

/* Allocate zeroed room in the pool, aligned to 64 bytes. NULL if the pool or the disk is full. The
 * last sixteenth of the pool is a reserve for the nodes that gather what finds no other room; only
 * `_reserved` allocates from it. */
void *assay__journal_allocate(assay__journal *journal, size_t bytes);
void *assay__journal_allocate_reserved(assay__journal *journal, size_t bytes);

/* Reserve addresses for something large that may never be filled. They are at the end of the pool,
 * so that the used part of the pool stays contiguous. Each part must be made ready before it is
 * touched. Any thread may do that without a lock. It fails if the disk is full. */
void *assay__journal_set_aside(assay__journal *journal, size_t bytes);
bool assay__journal_make_ready(const assay__journal *journal, const void *start, size_t bytes);

/* Find or add the operation of a name, and store its unit. The name must be printable.
 * ASSAY_E_LIMIT if there is no room. */
ASSAY_MUST_USE assay_status assay__journal_intern(assay__journal *journal, const char *name,
                                                  size_t length, uint32_t *operation);

/* Let readers find a lane that is complete. Nothing changes if they can find it already. */
void assay__journal_publish_lane(assay__journal *journal, assay__lane *lane);

/* Append a metric. If there is no room, it is counted as dropped and the call returns false. */
bool assay__journal_add_metric(assay__journal *journal, const assay__journal_metric *metric);
void assay__journal_clear_metrics(assay__journal *journal);

/* Convert an address inside the journal to a unit (offset / 64), and a unit to an address. */
static inline uint32_t assay__journal_unit(const assay__journal *journal, const void *address)
{
    return (uint32_t)(((uintptr_t)address - (uintptr_t)journal->header) / ASSAY__JOURNAL_UNIT);
}

static inline void *assay__journal_at(const assay__journal *journal, uint32_t unit)
{
    return (unsigned char *)journal->header + (size_t)unit * ASSAY__JOURNAL_UNIT;
}

#endif
