/* The counters: the slots of threads, the level of the whole process, and the start of the
 * interposer at the first allocation. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interposer/allocator.h"
#include "interposer/count.h"
#include "interposer/counters_file.h"

#define EXPORT __attribute__((visibility("default")))

_Thread_local thread_state assay__heap_this_thread;

/* The counters are in the library's zero-initialised data. So they exist before any code runs,
 * their allocation cannot fail, and a file can be mapped over them later without moving a slot. */
assay__heap_region assay__heap_counters;

static atomic_int start_phase;
static pthread_key_t thread_key;
static bool has_thread_key;

enum { NOT_STARTED, STARTING, STARTED };

static void raise_peak(int64_t level)
{
    int64_t *peak = &assay__heap_counters.header.peak_bytes;
    int64_t known = LOAD(*peak);
    while (level > known && !__atomic_compare_exchange_n(peak, &known, level, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* Whether a slot is in the region. While its process forks, a thread counts in a copy outside of
 * the region, and must not change memory that parent and child still share. */
static bool is_in_region(const assay__heap_slot *slot)
{
    const assay__heap_slot *slots = assay__heap_counters.slots;
    return slot >= slots && slot < slots + ASSAY__HEAP_SLOTS;
}

/* The order of the steps matters to a reader after kill -9. After each step the slot's own level is
 * right, and the peak never includes a change twice. */
void assay__heap_publish(assay__heap_slot *slot, int64_t level)
{
    if (!is_in_region(slot))
        return;
    int64_t *shared_level = &assay__heap_counters.header.published_bytes;
    int64_t high = LOAD(slot->high_bytes), earlier = LOAD(slot->peak_high_bytes);
    int64_t highest = high > earlier ? high : earlier;
    int64_t change = level - LOAD(slot->published_bytes);
    raise_peak(LOAD(*shared_level) + highest - LOAD(slot->published_bytes));
    assay__heap_settle(slot, level);
    raise_peak(__atomic_add_fetch(shared_level, change, __ATOMIC_RELAXED));
}

void assay__heap_settle(assay__heap_slot *slot, int64_t level)
{
    int64_t high = LOAD(slot->high_bytes);
    if (high > LOAD(slot->span_high_bytes))
        STORE(slot->span_high_bytes, high);
    STORE(slot->published_bytes, level);
    STORE(slot->high_bytes, level);
    STORE(slot->peak_high_bytes, level);
}

void assay__heap_count_shared(size_t allocated, size_t freed)
{
    assay__heap_header *header = &assay__heap_counters.header;
    assay__heap_this_thread.unslotted++;
    if (allocated != 0) {
        __atomic_add_fetch(&header->shared.allocations, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&header->shared.allocated_bytes, (int64_t)allocated, __ATOMIC_RELAXED);
    }
    if (freed != 0) {
        __atomic_add_fetch(&header->shared.frees, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&header->shared.freed_bytes, (int64_t)freed, __ATOMIC_RELAXED);
    }
    int64_t change = (int64_t)allocated - (int64_t)freed;
    raise_peak(__atomic_add_fetch(&header->published_bytes, change, __ATOMIC_RELAXED));
}

static bool take(assay__heap_slot *slot, uint32_t thread)
{
    uint32_t nobody = 0;
    return LOAD(slot->owner) == 0 &&
           __atomic_compare_exchange_n(&slot->owner, &nobody, thread, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* Whether there is room for more slots than a new file has, if necessary after growing the file. */
static bool has_room_for_more(void)
{
    return LOAD(assay__heap_counters.header.slot_capacity) > ASSAY__HEAP_FIRST_SLOTS ||
           assay__counters_file_grow();
}

/* Take the lowest free slot; NULL if all are taken. */
static assay__heap_slot *claim_slot(void)
{
    uint32_t *shared_used = &assay__heap_counters.header.slots_used;
    uint32_t thread = (uint32_t)gettid(), used = LOAD(*shared_used), index = 0;
    while (index < LOAD(assay__heap_counters.header.slot_capacity) &&
           !take(&assay__heap_counters.slots[index], thread))
        if (++index == ASSAY__HEAP_FIRST_SLOTS && !has_room_for_more())
            return NULL;
    if (index == ASSAY__HEAP_SLOTS)
        return NULL;
    while (used < index + 1 && !__atomic_compare_exchange_n(shared_used, &used, index + 1, true,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    assay__heap_slot *slot = &assay__heap_counters.slots[index];
    int64_t level = assay__heap_slot_level(slot);
    assay__heap_settle(slot, level);
    STORE(slot->span_high_bytes, level);
    return slot;
}

/* The destructor of the thread-specific data. Other destructors may still free memory after this
 * one. So it asks to be called again, as often as the system allows. */
static void detach(void *value)
{
    thread_state *self = &assay__heap_this_thread;
    assay__heap_slot *slot = value;
    if (++self->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
        pthread_setspecific(thread_key, slot) == 0)
        return;
    self->phase = THREAD_ENDED;
    self->fast = self->slot = NULL;
    assay__heap_publish(slot, assay__heap_slot_level(slot));
    __atomic_store_n(&slot->owner, 0, __ATOMIC_RELEASE);
}

/* Start the interposer: fill in the header and choose the allocator. Only the first call does
 * it. */
static void start(void)
{
    int expected = NOT_STARTED;
    if (!atomic_compare_exchange_strong(&start_phase, &expected, STARTING))
        return;
    assay__heap_header *header = &assay__heap_counters.header;
    memcpy(header->magic, ASSAY__HEAP_MAGIC, sizeof header->magic);
    header->version = ASSAY__HEAP_VERSION;
    header->header_bytes = ASSAY__HEAP_HEADER_BYTES;
    header->slot_bytes = sizeof(assay__heap_slot);
    header->slot_capacity = ASSAY__HEAP_SLOTS;
    header->drift_bytes = ASSAY__HEAP_DRIFT;
    header->process_id = getpid();
    STORE(header->state, ASSAY__HEAP_RUNNING);
    STORE(header->allocator, assay__allocator_choose());
    has_thread_key = !assay__heap_is_bypassed() && pthread_key_create(&thread_key, detach) == 0;
    atomic_store(&start_phase, STARTED);
}

void assay__heap_attach(void)
{
    thread_state *self = &assay__heap_this_thread;
    if (LIKELY(self->phase != THREAD_NEW))
        return;
    start();
    if (atomic_load(&start_phase) != STARTED || !has_thread_key || assay__heap_is_bypassed())
        return;
    self->phase = THREAD_ATTACHING; /* pthread_setspecific may allocate */
    self->slot = claim_slot();
    if (self->slot != NULL && pthread_setspecific(thread_key, self->slot) != 0) {
        STORE(self->slot->owner, 0);
        self->slot = NULL;
    }
    if (LOAD(assay__heap_counters.header.allocator) == ASSAY__HEAP_GLIBC)
        self->fast = self->slot;
    self->phase = THREAD_ATTACHED;
}

bool assay__heap_is_starting(void)
{
    return atomic_load_explicit(&start_phase, memory_order_relaxed) == STARTING;
}

EXPORT assay__heap_region_function assay_heap_region_2;
EXPORT assay__heap_slot_function assay_heap_slot_2;

assay__heap_region *assay_heap_region_2(void)
{
    return &assay__heap_counters;
}

assay__heap_slot *assay_heap_slot_2(void)
{
    assay__heap_attach();
    return UNLIKELY(assay__heap_is_bypassed()) ? NULL : assay__heap_this_thread.slot;
}
