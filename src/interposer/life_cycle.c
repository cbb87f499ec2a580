/* The life cycle of a process: its start, its forks and its end.
 *
 * A forked child must not count in its parent's file, not even in fork handlers of other libraries
 * that run before ours. So before a fork the counters are copied into private memory, and the
 * forking thread counts in that copy. Afterwards the parent's thread goes back to its slot. The
 * child makes the copy, which shows the state at the fork exactly, its own counters. Other threads
 * of the parent continue to count meanwhile. What they count between the copy and the fork is
 * missing in the child. vfork(), posix_spawn() and exec copy nothing (programs.c). A child made
 * with the raw clone system call or with _Fork() counts in its parent's file. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interposer/count.h"
#include "interposer/counters_file.h"

static assay__heap_region fork_copy;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

/* Move the forking thread between the counters and their copy. */
static void move_thread(assay__heap_slot *from, assay__heap_slot *to)
{
    thread_state *self = &assay__heap_this_thread;
    if (self->slot == NULL)
        return;
    ptrdiff_t index = self->slot - from;
    self->fast = self->fast != NULL ? to + index : NULL;
    self->slot = to + index;
}

static void before_fork(void)
{
    pthread_mutex_lock(&fork_lock);
    size_t used = LOAD(assay__heap_counters.header.slots_used) * sizeof(assay__heap_slot);
    memcpy(&fork_copy, &assay__heap_counters, ASSAY__HEAP_HEADER_BYTES + used);
    move_thread(assay__heap_counters.slots, fork_copy.slots);
}

static void after_fork_in_parent(void)
{
    const assay__heap_slot *copy = assay__heap_this_thread.slot;
    move_thread(fork_copy.slots, assay__heap_counters.slots);
    if (copy != NULL)
        *assay__heap_this_thread.slot = *copy;
    pthread_mutex_unlock(&fork_lock);
}

/* Prepare the copy for the child. The level is inherited, nothing else is counted yet, and the
 * child has one thread. */
static void adopt_copy(void)
{
    assay__heap_header *header = &fork_copy.header;
    const assay__heap_slot *own = assay__heap_this_thread.slot;
    header->parent_id = header->process_id;
    header->process_id = getpid();
    header->start_ticks = assay__counters_start_ticks();
    header->started_ns = assay__counters_now_ns();
    header->ended_ns = 0;
    header->inherited_allocated_bytes = LOAD(header->shared.allocated_bytes);
    header->inherited_freed_bytes = LOAD(header->shared.freed_bytes);
    header->inherited_allocations = LOAD(header->shared.allocations);
    header->inherited_frees = LOAD(header->shared.frees);
    for (uint32_t i = 0; i < LOAD(header->slots_used); i++) {
        assay__heap_slot *slot = &fork_copy.slots[i];
        header->inherited_allocated_bytes += LOAD(slot->allocated_bytes);
        header->inherited_freed_bytes += LOAD(slot->freed_bytes);
        header->inherited_allocations += LOAD(slot->allocations);
        header->inherited_frees += LOAD(slot->frees);
        assay__heap_settle(slot, assay__heap_slot_level(slot));
        STORE(slot->owner, slot == own ? (uint32_t)gettid() : 0);
    }
    int64_t level = header->inherited_allocated_bytes - header->inherited_freed_bytes;
    STORE(header->published_bytes, level);
    STORE(header->peak_bytes, level);
    STORE(header->state, ASSAY__HEAP_RUNNING);
}

static void after_fork_in_child(void)
{
    adopt_copy();
    if (!assay__counters_file_map(&fork_copy))
        assay__counters_private_map(&fork_copy);
    move_thread(fork_copy.slots, assay__heap_counters.slots);
    pthread_mutex_init(&fork_lock, NULL);
}

/* Find out whether malloc() calls of the program come here. They do not if the executable defines
 * its own malloc(). The trial leaves no trace in the counters. */
static void detect_bypass(void)
{
    assay__heap_attach();
    assay__heap_slot *slot = assay__heap_this_thread.slot;
    if (slot == NULL)
        return;
    assay__heap_slot before = *slot;
    void *(*volatile program_malloc)(size_t) = malloc;
    void (*volatile program_free)(void *) = free;
    void *block = program_malloc(1);
    bool counted = LOAD(slot->allocations) != LOAD(before.allocations);
    program_free(block);
    if (counted)
        *slot = before;
    else
        STORE(assay__heap_counters.header.allocator, ASSAY__HEAP_BYPASSED);
}

static void describe_program(void)
{
    assay__heap_header *header = &assay__heap_counters.header;
    size_t length = strlen(program_invocation_short_name);
    length = length < sizeof header->name ? length : sizeof header->name - 1;
    memcpy(header->name, program_invocation_short_name, length);
    header->start_ticks = assay__counters_start_ticks();
    header->started_ns = assay__counters_now_ns();
}

__attribute__((constructor(101))) static void process_start(void)
{
    int saved_errno = errno;
    detect_bypass();
    describe_program();
    assay__counters_file_find();
    (void)assay__counters_file_map(&assay__heap_counters);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    errno = saved_errno;
}

__attribute__((destructor(101))) static void process_end(void)
{
    STORE(assay__heap_counters.header.ended_ns, assay__counters_now_ns());
    STORE(assay__heap_counters.header.state, ASSAY__HEAP_ENDED);
}
