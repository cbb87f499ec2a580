/* The part of the journal that a measured program writes while it runs: lanes, frames, nodes.
 *
 * The inlined span code writes these structures directly. So they are part of the ABI as well as of
 * the file format, and a change needs a new ASSAY_JOURNAL_VERSION and a new soname of the library.
 * docs/journal.md describes the whole file.
 *
 * Addresses. The writer keeps pointers into the journal, because the hot path has time to follow a
 * pointer but not to compute one. They are addresses of the writing process: a reader subtracts the
 * header's `base_address` and checks the result before use. Pointers marked "private" lead out of
 * the journal and mean nothing to a reader. Other references are offsets from the start of the
 * journal, divided by 64 ("offset / 64").
 *
 * Writers and readers. One thread writes a lane and its nodes. Readers may read at any time and
 * from any process. Every field is stored in one piece. A span that ended waits in the lane's slot
 * `pending`; the end of the next span enters it into its node. At every moment, slot and node
 * together contain the span exactly once (docs/journal.md, "One span late").
 */
#ifndef ASSAY_LAYOUT_H
#define ASSAY_LAYOUT_H

#include <stdint.h>

#include "assay/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ASSAY_JOURNAL_VERSION = 2,
    ASSAY_LANE_FRAMES = 128, /* deepest nesting; deeper spans are counted as dropped */
    ASSAY_NODE_PAGES = 64,   /* one for each binary exponent of the duration */
    ASSAY_PAGE_BUCKETS = 64, /* linear within the exponent: 1/64 wide, within 0.8 % of the middle */
    ASSAY_RARE_BUCKETS = 8   /* for exponents that occur too rarely to have a page */
};

/* The way from a node to its children. Each node has a branch. The table of the node's parent and
 * the frame of an open span contain copies of it, so that the begin of a span finds its node by
 * following three pointers instead of five. The struct has 16 bytes and is copied in one piece. */
typedef struct assay__branch {
    uint32_t site;                 /* id of the call site that leads from the parent to this node */
    uint32_t child_mask;           /* number of slots in `children`, minus one */
    struct assay__child *children; /* private: hash table by site */
} assay__branch;

/* A slot of a table of children, in private memory. */
typedef struct assay__child {
    assay__branch branch; /* of the node. In an empty slot its site is UINT32_MAX, an id that no
                             call site has */
    struct assay__node *node;
    uint64_t unused;
} assay__child;

/* An operation at one place of a lane's call tree. 640 bytes, aligned to 64. */
typedef struct assay__node {
    /* The end of a span updates these; durations are in ticks. */
    uint64_t count;
    uint64_t sum;
    double square_sum; /* of (duration - shift); the shift keeps a small spread beside a large mean
                          exact */
    double shift;      /* the first duration */
    uint64_t min;
    uint64_t max;
    assay__branch branch;

    uint32_t operation; /* offset / 64 of its name */
    uint32_t parent;    /* offset / 64 of its parent; 0 for the lane's root node */
    uint32_t next;      /* offset / 64 of the lane's next node in order of creation; 0 ends */
    uint32_t kind;      /* 1 root, 2 span, 3 counter */
    uint32_t memory;    /* offset / 64 of its memory figures, or 0 */
    uint32_t samples;   /* offset / 64 of its raw samples (ticks, uint64_t), or 0 */
    uint32_t sample_capacity;
    uint32_t sample_count;
    uint64_t samples_dropped;
    uint32_t self;             /* offset / 64 of this node */
    uint32_t children_outside; /* children that are not in the table, for lack of room */
    uint32_t rare;    /* offset / 64 of uint64_t[8]: buckets of exponents without a page, or 0 */
    uint32_t cleared; /* 1: assay_monitor_clear() removed its figures */
    uint32_t twin;    /* offset / 64 of another node of the same name and parent, or 0; private */
    uint32_t failed;  /* of `count`: spans that an error ended (binding.h) */

    /* Page p counts the durations whose highest bit is bit p; a duration of zero counts as one
     * tick. The pages are addresses of uint64_t[64], or NULL until they are needed. */
    uint64_t *pages[ASSAY_NODE_PAGES];
} assay__node;

/* A span that is complete but not yet entered into its node (docs/journal.md, "One span late"). It
 * is pending as long as the node's count equals `count`, which is stored last. */
typedef struct assay__pending {
    assay__node *node;
    uint64_t duration;   /* ticks */
    uint64_t count, sum; /* of the node before this span is entered */
    double square_sum;   /* likewise */
} assay__pending;

/* The highest bit of a frame's start marks an open span within which resident memory was read. The
 * end of such a span finds another start than it expects. So it takes the slow path, which records
 * the memory. */
#define ASSAY__MEMORY_MARK ((uint64_t)1 << 63)

/* An open span. */
typedef struct assay__frame {
    uint64_t start; /* ticks, and ASSAY__MEMORY_MARK */
    assay__node *node;
    assay__branch branch; /* of the node; private */
    uintptr_t stack;      /* the stack frame of the function that contains the block. 0: the span is
                             no block. 1: it is no block, and its begin read memory */
} assay__frame;

/* One entry of a lane's ring of events: four words, each stored in one piece. */
typedef struct assay__event {
    uint64_t start;  /* ticks */
    uint64_t end;    /* ticks; for a counter the bits of its value as a double */
    uint64_t place;  /* offset / 64 of the node. In the upper 32 bits: offset / 64 of the enclosing
                        span's node, if that is not the node's parent (a late completion); else 0 */
    uint64_t origin; /* thread id (low 32 bits), assay_event_kind << 32, flags << 48
                        (1: completed late, may overlap its neighbours). Several threads may use a
                        lane one after the other */
} assay__event;

static inline uint64_t assay__frame_start(const assay__frame *frame)
{
    return __atomic_load_n(&frame->start, __ATOMIC_RELAXED) & ~ASSAY__MEMORY_MARK;
}

enum assay__lane_extras { ASSAY__EXTRA_EVENTS = 1, ASSAY__EXTRA_SAMPLES = 2 };

/* A sequence of strictly nested spans. 5376 bytes, aligned to 64. */
typedef struct assay__lane {
    /* The innermost open span. frames[0] means that no span is open; its node is the root. While a
     * begin or an end is under way, `top` is the address of the lane itself, which looks like a
     * frame whose node is `nowhere`. That node has no children. So a span that a signal handler
     * begins meanwhile takes the slow path, which refuses and counts it. */
    assay__frame *top;
    assay__node *nowhere;         /* private */
    assay__branch nowhere_branch; /* private */
    uint64_t
        extras; /* bits of assay__lane_extras: what the end of a span records beside statistics */
    uint64_t event_head;     /* events ever written to the ring */
    uint64_t event_capacity; /* a power of two, or 0 */
    assay__event *events;    /* address of the ring, or NULL */
    uint64_t event_origin;   /* `origin` of the events of this thread's spans */
    assay__pending pending;  /* the last span that ended */

    uint32_t kind;  /* assay_lane_kind */
    uint32_t state; /* 1 live, 2 its thread ended */
    int64_t thread_id;
    uint32_t first_node; /* offset / 64 of the root node */
    uint32_t last_node;
    struct assay__lane_owner *owner; /* private */

    uint64_t dropped_spans;
    uint64_t mismatched_ends;
    uint64_t abandoned_spans;
    uint64_t backward_clock; /* spans that ended before they began; recorded as zero */
    char name[32];
    uint32_t next; /* offset / 64 of the lane made after this one; 0 ends */
    uint32_t unused;
    /* The times in ticks from which on a begin or an end takes a slow path. Both slow paths read
     * resident memory when it is due. The slow path of an end also records the extras; with extras
     * `end_due` is 0. Private. */
    uint64_t begin_due, end_due;
    uint64_t reserved[3];

    assay__frame frames[ASSAY_LANE_FRAMES];
} assay__lane;

#ifdef __cplusplus
}
#endif

#endif
