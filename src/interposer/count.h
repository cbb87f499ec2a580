/* Counting, inlined into every allocation.
 *
 * A thread counts in its own slot of the region with plain loads and stores; only when its level
 * has moved by ASSAY__HEAP_DRIFT since it last said so does it touch what threads share. */
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

/* What one thread knows of itself. Initial-exec: one instruction to reach, no allocation. */
typedef struct thread_state {
    assay__heap_slot *fast; /* its slot, if the allocator is glibc's as we know it; else NULL */
    assay__heap_slot *slot; /* its slot, NULL before the first call and after the last */
    enum { THREAD_NEW, THREAD_ATTACHING, THREAD_ATTACHED, THREAD_ENDED } phase;
    int destructor_rounds;
    uint64_t unslotted; /* calls that it counted without a slot */
    bool inside;        /* a call that takes the slow way is under way */
} thread_state;

extern _Thread_local thread_state assay__heap_this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern assay__heap_region assay__heap_counters __attribute__((visibility("hidden")));

static inline bool assay__heap_is_bypassed(void)
{
    return LOAD(assay__heap_counters.header.allocator) == ASSAY__HEAP_BYPASSED;
}

/* Tell the process-wide level what this thread gained or lost. */
void assay__heap_publish(assay__heap_slot *slot, int64_t level);

/* The local half of that: from here on the slot counts as published at `level`. What open spans saw
 * is kept. */
void assay__heap_settle(assay__heap_slot *slot, int64_t level);

/* For threads without a slot: atomic additions on shared memory. */
void assay__heap_count_shared(size_t allocated, size_t freed);

/* Give the calling thread a slot if it may have one, and start the interposer if this is its very
 * first call. Never allocates except through the interposed functions themselves. */
void assay__heap_attach(void);

/* Is the first call of all still finding out about the allocator? */
bool assay__heap_is_starting(void);

static inline bool is_low(const assay__heap_slot *slot)
{
    return slot->allocated_bytes - slot->freed_bytes + ASSAY__HEAP_DRIFT <= slot->published_bytes;
}

/* These return whether the level has drifted far enough to be published. */
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

/* For threads with a slot or without. */
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
