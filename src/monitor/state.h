/* The internal state of a monitor, shared by the files of this folder.
 *
 * A monitor is one mapping with two parts, the head and the state. The head is on pages of its own
 * and contains little more than the id. The kernel wipes it in a forked child (MADV_WIPEONFORK). So
 * the first span in the child does not match a cached lane. It takes the slow path, which gives the
 * child a journal of its own. No fork handler is needed. The state survives the fork and tells how
 * to make the new journal.
 *
 * A lane has one owner at a time: the thread that writes it. The data that the owner needs beside
 * the journal (tables, memory at the begin of open spans) are in assay__lane_owner. The list of the
 * monitor and the list of the thread both point to it. If the monitor is freed first, the thread
 * frees it; otherwise the monitor does. */
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
    bool slow; /* every span takes the slow path, because it needs another clock or reads memory */
    unsigned memory;
    uint64_t resident_ticks; /* between two readings of a lane; 0: resident memory is not sampled */
    size_t pool_bytes, trace_events, samples;
    char *name;
    char *path;      /* of the options, made absolute; or NULL */
    char *directory; /* for journals without such a path, made absolute; NULL: private memory */
    const assay_clock *clock;
    assay__journal journal;
    struct assay__lane_owner *owners;
    _Atomic(struct assay__streams *) streams; /* of devices; NULL until the first span on one */
    struct assay_meter *meter;                /* the attached meter, or NULL */
    bool meter_is_new;                        /* the next window of the meter is its first */
    uintptr_t inherited_low,
        inherited_high; /* the parent's journal, as addressed before the fork */
} assay__monitor_state;

assay__monitor_state *assay__monitor_state_of(const assay_monitor *monitor);

/* Count a span that is dropped. A signal handler may call this while a forked child has no journal
 * yet. */
void assay__monitor_drop_span(assay_monitor *monitor);

/* The journal of a live monitor, to make a snapshot of it. Also updates the journal's latest
 * anchor. NULL for a disabled monitor. */
const assay__journal_header *assay__monitor_journal(assay_monitor *monitor);

/* Give a forked child a journal of its own if it has none yet, and return the monitor's id.
 * ASSAY__NO_MONITOR if nothing can be recorded. */
uint64_t assay__monitor_revive(assay_monitor *monitor);

/* The memory figures at the begin of a span. */
typedef struct assay__memory_mark {
    bool has_rss, has_heap, has_peak;
    uint64_t rss_bytes;
    uint64_t peak_bytes; /* of resident memory within the span, until the last reset of the kernel's
                            peak */
    bool has_gpu;
    uint64_t gpu_bytes, gpu_high_bytes; /* of the device's memory pool */
    assay__heap_mark heap;
} assay__memory_mark;

/* The sampled resident memory of a lane (resident.c). */
typedef struct assay__resident {
    uint64_t bytes, ticks; /* the last reading, and when it was made; 0: none yet */
    assay__random random;  /* varies the time between readings, so that they do not always meet the
                              same operation of a loop */
    uint64_t at_begin[ASSAY_LANE_FRAMES]; /* of the open spans with ASSAY__MEMORY_MARK */
} assay__resident;

/* A name that was made at run time, in the table of a lane. */
typedef struct assay__name_entry {
    uint64_t hash; /* 0: the entry is free */
    uint32_t operation;
    uint32_t key;         /* the site id that stands for the name */
    assay__node *counter; /* the counter of this name, or NULL */
} assay__name_entry;

/* A name below a parent, in the table of a lane. A unit is an offset in the journal / 64. */
typedef struct assay__place {
    uint64_t key;   /* unit of the parent << 32 | unit of the operation; 0: the entry is free */
    uint32_t node;  /* unit of the newest node, or 0 */
    uint32_t nodes; /* number of nodes of this place */
} assay__place;

/* A table of children. Lookups reach it through its node. The owner of the lane frees it through
 * this list in private memory: after a fork the nodes belong to the parent and must not be used. */
typedef struct assay__child_table {
    struct assay__child_table *next, **link; /* link: the pointer that points here */
    assay__child slots[];
} assay__child_table;

enum assay__owner_state {
    ASSAY__OWNER_ATTACHED,  /* a thread writes the lane */
    ASSAY__OWNER_DETACHING, /* that thread is ending and closes the lane */
    ASSAY__OWNER_ENDED,     /* the thread is gone; another thread may take the lane over */
    ASSAY__OWNER_TORN_OFF,  /* the thread is gone, and nobody may take the lane over */
    ASSAY__OWNER_TASK,      /* a task or a stream writes the lane, on any thread */
    ASSAY__OWNER_ORPHANED   /* the monitor is gone; the thread frees this struct */
};

typedef struct assay__lane_owner {
    _Atomic int state;
    uint64_t monitor_id;
    assay_monitor *monitor;
    assay__lane *lane;
    assay__frame *top;               /* the lane's `top`, while a slow path uses the lane */
    uintptr_t stack_low, stack_high; /* of the thread; 0 until needed */
    struct assay__lane_owner *next_in_monitor, *next_in_thread;
    struct assay_task *task;              /* the task that runs on this thread, or NULL */
    struct assay__lane_owner *task_owner; /* of that task; NULL if it has no lane */
    assay__memory_mark *marks;            /* one for each frame, or NULL until memory is measured */
    assay__resident resident;
    assay__name_entry *names; /* hash table with open addressing; its size is a power of two */
    size_t name_capacity, name_count;
    assay__place *places; /* likewise */
    size_t place_capacity, place_count;
    assay__node *other; /* gathers the spans for which the journal has no room for a node */
    assay__child_table *tables;
} assay__lane_owner;

/* lane.c — prepare for the end of threads, once in a process. Whoever makes a monitor calls this,
 * so that forked children find it done. False if the process has no room for it. */
bool assay__lanes_prepare(void);

/* Find this thread's own lane of a monitor, or attach one. NULL if there is no room. */
assay__lane_owner *assay__lane_of_thread(assay_monitor *monitor);

/* The same if a lane is attached already, else NULL. */
assay__lane_owner *assay__lane_if_attached(uint64_t monitor_id);

/* The lane for the spans of a thread whose own lane is `own`. If a task runs on the thread, this is
 * the lane of the task, or NULL if the task has none. Otherwise it is `own`. */
assay__lane_owner *assay__lane_in_use(assay__lane_owner *own);

/* Make a lane for a task; NULL if there is no room. The task ends the lane with
 * assay__lane_end(). */
assay__lane_owner *assay__lane_for_task(assay_monitor *monitor, const char *name);
void assay__lane_end(assay__lane_owner *owner);

/* Make a lane for a stream of a device. It lasts as long as the monitor. */
assay__lane_owner *assay__lane_for_stream(assay_monitor *monitor, const char *name);

/* Give up all lanes, because the monitor is being freed or was inherited by a fork. */
void assay__lanes_release(assay__monitor_state *state, bool after_fork);

/* span.c — enter and leave a slow path. In between, the fast path is closed for this thread. Enter
 * returns false if this thread is in a slow path already (a signal handler interrupted one). Leave
 * opens the fast path for the spans of the lane of `owner`; if `owner` is NULL, for no lane. */
bool assay__slow_enter(void);
void assay__slow_leave(const assay__lane_owner *owner);

/* node.c — find or make the nodes of a lane's tree. NULL if the journal or memory has no room. */
assay__node *assay__node_without_children(void);
assay__node *assay__node_new_root(assay__monitor_state *state);
bool assay__node_make_other(assay__lane_owner *owner);
assay__node *assay__node_for_site(assay__lane_owner *owner, const assay_site *site);
assay__node *assay__node_for_name(assay__lane_owner *owner, const char *name);
assay__node *assay__node_for_counter(assay__lane_owner *owner, const char *name);

/* Find or make the node of this lane with the same path of names as the innermost open span of the
 * lane `other`. */
assay__node *assay__node_at_path(assay__lane_owner *owner, const assay__lane *other);

/* distribution.c — enter one duration into the statistics of a node, or clear its statistics. */
void assay__node_record(assay__monitor_state *state, assay__node *node, uint64_t duration);
void assay__node_clear(const assay__monitor_state *state, assay__node *node);

/* span.c — enter the span that waits in the lane's slot into its node. Only the thread that writes
 * the lane may call this, or any thread once no thread writes the lane. */
void assay__lane_settle(assay__monitor_state *state, assay__lane *lane);

/* Add a span that completed late to the lane's ring of events. Only the writer of the lane may call
 * this. */
void assay__lane_add_event(assay__lane *lane, const assay__node *node, uint64_t start,
                           uint64_t end);

/* stream.c — enter the spans that the devices have completed. Returns the number of spans that are
 * still under way. */
size_t assay__streams_resolve(assay__monitor_state *state);
void assay__streams_free(assay__monitor_state *state);

/* energy.c — the device figures of a node, which are made when first needed. NULL if there is no
 * room. */
assay__journal_device *assay__node_device(assay__monitor_state *state, const assay__node *node);

/* Detach the meter, if there is one. */
void assay__monitor_detach(assay__monitor_state *state);

/* memory.c — measure the memory of the span at `depth` of the owner's lane, at its begin and at its
 * end. The resident memory of a metric is measured in every mode of the monitor. */
void assay__memory_begin(assay__lane_owner *owner, size_t depth, bool metric);
void assay__memory_end(assay__lane_owner *owner, size_t depth, assay__journal_metric *metric);

/* resident.c — sample resident memory. Call `start` when a lane gets a new owner, and `carry` when
 * a thread goes on in another lane. Call `begin` before a span of the node is opened; it returns
 * whether the end of the span must read again. Call `end` while the span is still the innermost
 * one. */
void assay__resident_start(assay__lane_owner *owner);
void assay__resident_carry(const assay__lane_owner *from, assay__lane_owner *to);
bool assay__resident_begin(assay__lane_owner *owner, const assay__node *node, uint64_t now);
void assay__resident_end(assay__lane_owner *owner, uint64_t now, bool read);

/* identity.c — fill in the identity of this process. `name` and `monitor_id` are not changed. */
void assay__identity_read(assay__journal_identity *identity);

#endif
