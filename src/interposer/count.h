/* Counting, which is inlined into every allocation.
 *
 * A thread counts in its own slot of the region with plain loads and stores. It writes memory that
 * threads share only when it publishes its level, which is when the level has changed by
 * ASSAY__HEAP_DRIFT since the last time. */
#ifndef ASSAY_INTERPOSER_COUNT_H
#define ASSAY_INTERPOSER_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instrument/heap_region.h"

#define LOAD                ASSAY__HEAP_LOAD
#define STORE               ASSAY__HEAP_STORE
#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The state of one thread. With the initial-exec model, one instruction reaches it, and it needs no
 * allocation. */
typedef struct thread_state {
    assay__heap_slot *fast; /* its slot, if sizes can be read from glibc's chunks; else NULL */
    assay__heap_slot *slot; /* its slot; NULL before the first call and after the last */
    enum { THREAD_NEW, THREAD_ATTACHING, THREAD_ATTACHED, THREAD_ENDED } phase;
    int destructor_rounds; /* how often detach() was called */
    uint64_t unslotted;    /* calls that it counted without a slot */
    bool inside;           /* a call that takes the slow path is under way */
} thread_state;

extern _Thread_local thread_state assay__heap_this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern assay__heap_region assay__heap_counters __attribute__((visibility("hidden")));

static inline bool assay__heap_is_bypassed(void)
{
    return LOAD(assay__heap_counters.header.allocator) == ASSAY__HEAP_BYPASSED;
}

/* Publish the level of a slot: add its change to the level of the process, and raise the peak. */
void assay__heap_publish(assay__heap_slot *slot, int64_t level);

/* The part of publishing that concerns the slot alone: note that it is published at `level`. The
 * highest level of open spans is kept. */
void assay__heap_settle(assay__heap_slot *slot, int64_t level);

/* Count for a thread without a slot, by atomic additions to shared memory. */
void assay__heap_count_shared(size_t allocated, size_t freed);

/* Give the calling thread a slot if there is one, and start the interposer if this is the first
 * call of the process. Allocates only through the interposed functions themselves. */
void assay__heap_attach(void);

/* Whether the first call of the process is still choosing the allocator. */
bool assay__heap_is_starting(void);

static inline bool is_low(const assay__heap_slot *slot)
{
    return slot->allocated_bytes - slot->freed_bytes + ASSAY__HEAP_DRIFT <= slot->published_bytes;
}

/* These count a call, and return whether the level has changed so much that it must be
 * published. */
static inline bool count_allocation(assay__heap_slot *slot, size_t bytes)
{
    slot->allocations++;
    slot->allocated_bytes += (int64_t)bytes;
    int64_t level = slot->allocated_bytes - slot->freed_bytes;
    if (LIKELY(level <= slot->high_bytes))
        return false;
    slot->high_bytes = level;
    return level - slot->published_bytes >= ASSAY__HEAP_DRIFT;
}

static inline bool count_free(assay__heap_slot *slot, size_t bytes)
{
    slot->frees++;
    slot->freed_bytes += (int64_t)bytes;
    return is_low(slot);
}

/* realloc: one free and one allocation, but only one change of level. */
static inline bool count_replacement(assay__heap_slot *slot, size_t old_bytes, size_t new_bytes)
{
    slot->frees++;
    slot->freed_bytes += (int64_t)old_bytes;
    return count_allocation(slot, new_bytes) || is_low(slot);
}

/* These count for threads with or without a slot. */
static inline void count_made(size_t bytes)
{
    assay__heap_slot *slot = assay__heap_this_thread.slot;
    if (slot == NULL)
        assay__heap_count_shared(bytes, 0);
    else if (count_allocation(slot, bytes))
        assay__heap_publish(slot, assay__heap_slot_level(slot));
}

static inline void count_freed(size_t bytes)
{
    assay__heap_slot *slot = assay__heap_this_thread.slot;
    if (slot == NULL)
        assay__heap_count_shared(0, bytes);
    else if (count_free(slot, bytes))
        assay__heap_publish(slot, assay__heap_slot_level(slot));
}

#endif
