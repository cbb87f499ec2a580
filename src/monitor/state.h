/* Inside of a monitor.
 *
 * A monitor is two pieces of one mapping. The head, a page of its own, holds nothing but the id and
 * is wiped by the kernel in a forked child (MADV_WIPEONFORK); so the first span there cannot match
 * a cached lane, takes the slow path, and gives the child its own journal. No fork handler is
 * registered. The state survives the fork and says what to build anew.
 *
 * A lane has one owner at a time: the thread that writes it. What the owner needs beside the
 * journal (tables, marks of open spans) is in assay__lane_owner, shared between the monitor's list
 * and the thread's list; whichever lets go last frees it.
 */
#ifndef ASSAY_MONITOR_STATE_H
#define ASSAY_MONITOR_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "assay/monitor.h"
#include "base/random.h"
#include "clock/clock.h"
#include "instrument/heap.h"
#include "journal/journal.h"

typedef struct assay__monitor_state {
    pthread_mutex_t lock;    /* guards the journal's primitives and the owner list */
    _Atomic bool rebuilding; /* the journal and the owners are being replaced after a fork */
    bool disabled;
    bool slow; /* spans need more than a counter reading: another clock, or memory */
    unsigned memory;
    uint64_t resident_ticks; /* between two readings of a lane; 0: resident memory is not sampled */
    size_t pool_bytes, trace_events, samples;
    char *name, *path; /* path: as asked for, or NULL */
    bool private_journal;
    const assay_clock *clock;
    assay__journal journal;
    struct assay__lane_owner *owners;
    _Atomic(struct assay__streams *) streams; /* of devices; NULL until a span is on one */
    struct assay_meter *meter;                /* that is attached, or NULL */
    bool meter_is_new;                        /* the next window is its first */
    uintptr_t inherited_low,
        inherited_high; /* the parent's journal, as addressed before the fork */
} assay__monitor_state;

assay__monitor_state *assay__monitor_state_of(const assay_monitor *monitor);

/* The journal of a live monitor, for a snapshot of it; updates its latest anchor. NULL for a
 * disabled one. */
const assay__journal_header *assay__monitor_journal(assay_monitor *monitor);

/* The monitor's id, after giving a forked child its own journal if that is due; ASSAY__NO_MONITOR
 * when nothing can be recorded. */
uint64_t assay__monitor_revive(assay_monitor *monitor);

/* What the begin of a span remembered of memory. */
typedef struct assay__memory_mark {
    bool has_rss, has_heap, has_peak;
    uint64_t rss_bytes;
    uint64_t peak_bytes; /* of resident memory, until the kernel's was last reset */
    bool has_gpu;
    uint64_t gpu_bytes, gpu_high_bytes; /* of the device's memory pool */
    assay__heap_mark heap;
} assay__memory_mark;

/* Resident memory of a lane, as it is sampled. */
typedef struct assay__resident {
    uint64_t bytes, ticks; /* the last reading, and when it was made; 0: none yet */
    assay__random random;  /* so that readings do not keep step with the program's own rhythm */
    uint64_t at_begin[ASSAY_LANE_FRAMES]; /* of the open spans with ASSAY__MEMORY_MARK */
} assay__resident;

/* A run-time name, as a lane knows it. */
typedef struct assay__name_entry {
    uint64_t hash; /* 0: the entry is free */
    uint32_t operation;
    uint32_t key;         /* the site id that stands for it */
    assay__node *counter; /* its counter, or NULL */
} assay__name_entry;

/* A name below a parent, as a lane knows it. */
typedef struct assay__place {
    uint64_t key;   /* unit of the parent << 32 | of the operation; 0: the entry is free */
    uint32_t node;  /* unit of the newest node, or 0 */
    uint32_t nodes; /* how many there are */
} assay__place;

/* A table of children. Tables are found through the nodes, but owned through this list in private
 * memory: after a fork the nodes belong to the parent and must not be touched. */
typedef struct assay__child_table {
    struct assay__child_table *next, **link; /* link: the pointer that points here */
    assay__child slots[];
} assay__child_table;

enum assay__owner_state {
    ASSAY__OWNER_ATTACHED,  /* a thread writes the lane */
    ASSAY__OWNER_DETACHING, /* that thread is ending and marks the lane */
    ASSAY__OWNER_ENDED,     /* the thread is gone; the lane may be taken over */
    ASSAY__OWNER_TASK,      /* a task writes the lane, on whatever thread it runs */
    ASSAY__OWNER_ORPHANED   /* the monitor is gone; the thread frees this */
};

typedef struct assay__lane_owner {
    _Atomic int state;
    uint64_t monitor_id;
    assay_monitor *monitor;
    assay__lane *lane;
    assay__frame *top;               /* the lane's, while a slow path is at work */
    uintptr_t stack_low, stack_high; /* of the thread; 0 until needed */
    struct assay__lane_owner *next_in_monitor, *next_in_thread;
    struct assay_task *task;              /* that runs on this thread, or NULL */
    struct assay__lane_owner *task_owner; /* of the task; NULL if it has no lane */
    assay__memory_mark *marks;            /* one for each frame, or NULL until memory is measured */
    assay__resident resident;
    assay__name_entry *names; /* open addressing, a power of two */
    size_t name_capacity, name_count;
    assay__place *places; /* likewise */
    size_t place_capacity, place_count;
    assay__node *other; /* gathers the spans for which the journal has no node left */
    assay__child_table *tables;
} assay__lane_owner;

/* lane.c — this thread's own lane of a monitor, attached if need be; NULL when there is no room. */
assay__lane_owner *assay__lane_of_thread(assay_monitor *monitor);

/* The same if it is attached already, else NULL. */
assay__lane_owner *assay__lane_if_attached(uint64_t monitor_id);

/* The lane that the spans of this thread belong to: that of the task that runs on it, which may
 * have none (NULL), else its own. */
assay__lane_owner *assay__lane_in_use(assay__lane_owner *own);

/* A lane for a task; NULL when there is no room. Its task ends it. */
assay__lane_owner *assay__lane_for_task(assay_monitor *monitor, const char *name);
void assay__lane_end(assay__lane_owner *owner);

/* A lane for a stream of a device, which lasts as long as the monitor. */
assay__lane_owner *assay__lane_for_stream(assay_monitor *monitor, const char *name);

/* Let go of all lanes: the monitor is being freed, or was inherited through a fork. */
void assay__lanes_release(assay__monitor_state *state, bool after_fork);

/* span.c — from here to assay__slow_leave() this thread is in a slow path, and the fast one is
 * closed; false if it is in one already. Leaving opens the fast path for the spans of this lane;
 * NULL: for none. */
bool assay__slow_enter(void);
void assay__slow_leave(const assay__lane_owner *owner);

/* node.c — nodes of a lane's tree, found or made. NULL when the journal or memory has no room. */
assay__node *assay__node_without_children(void);
assay__node *assay__node_new_root(assay__monitor_state *state);
bool assay__node_make_other(assay__lane_owner *owner);
assay__node *assay__node_for_site(assay__lane_owner *owner, const assay_site *site);
assay__node *assay__node_for_name(assay__lane_owner *owner, const char *name);
assay__node *assay__node_for_counter(assay__lane_owner *owner, const char *name);

/* The node of this lane that has the same path of names as the innermost open span of `other`. */
assay__node *assay__node_at_path(assay__lane_owner *owner, const assay__lane *other);

/* distribution.c — enter one duration into the node's statistics, or forget all of them. */
void assay__node_record(assay__monitor_state *state, assay__node *node, uint64_t duration);
void assay__node_clear(const assay__monitor_state *state, assay__node *node);

/* span.c — enter the span that waits in the lane's slot into its node. By the lane's own thread, or
 * when there is none. */
void assay__lane_settle(assay__monitor_state *state, assay__lane *lane);

/* A span that completed late, for the lane's ring of events. By whoever writes the lane. */
void assay__lane_add_event(assay__lane *lane, const assay__node *node, uint64_t start,
                           uint64_t end);

/* stream.c — enter what the device has completed, and return how many spans it has not. */
size_t assay__streams_resolve(assay__monitor_state *state);
void assay__streams_free(assay__monitor_state *state);

/* energy.c — what devices give for a node, made when first needed; NULL when there is no room. */
assay__journal_device *assay__node_device(assay__monitor_state *state, const assay__node *node);

/* Let go of the meter that is attached. */
void assay__monitor_detach(assay__monitor_state *state);

/* memory.c — the memory of the span at `depth` of the owner's lane, which begins or ends. A metric
 * has its resident memory measured whatever the monitor's modes are. */
void assay__memory_begin(assay__lane_owner *owner, size_t depth, bool metric);
void assay__memory_end(assay__lane_owner *owner, size_t depth, assay__journal_metric *metric);

/* resident.c — sample resident memory. `start` when a lane gets a new owner; `carry` when a thread
 * goes on in another lane. `begin` before a span of the node is opened; it returns whether the end
 * must read again. `end` while the span is still the innermost. */
void assay__resident_start(assay__lane_owner *owner);
void assay__resident_carry(const assay__lane_owner *from, assay__lane_owner *to);
bool assay__resident_begin(assay__lane_owner *owner, const assay__node *node, uint64_t now);
void assay__resident_end(assay__lane_owner *owner, uint64_t now, bool read);

/* identity.c — who this process is. `name` and `monitor_id` are left alone. */
void assay__identity_read(assay__journal_identity *identity);

#endif
