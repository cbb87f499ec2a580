/* Threads and their lanes. The slow path of a thread's first span of a monitor gives the thread a
 * lane. When the thread ends, the lane keeps its figures. The first RECYCLE_AFTER lanes are new
 * ones. After that, a new thread takes over the lane of a thread that has ended and adds to its
 * figures. So memory stays constant, however many threads come and go. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "monitor/state.h"

enum { RECYCLE_AFTER = 16 };

__thread assay__thread_state assay__thread = {.monitor_id = ASSAY__NO_MONITOR};

/* The list of lanes of a thread, behind assay__thread.lanes. */
typedef struct assay__thread_lanes {
    assay__lane_owner *first;
} assay__thread_lanes;

static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static atomic_bool exit_key_usable;

static void free_owner(assay__lane_owner *owner)
{
    for (assay__child_table *table = owner->tables, *next; table != NULL; table = next) {
        next = table->next;
        free(table);
    }
    free(owner->names);
    free(owner->places);
    free(owner->marks);
    free(owner);
}

static void close_lane(assay__lane *lane)
{
    uint64_t open = (uint64_t)(lane->top - lane->frames);
    __atomic_store_n(&lane->abandoned_spans, lane->abandoned_spans + open, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->top, lane->frames, __ATOMIC_RELEASE);
    __atomic_store_n(&lane->state, ASSAY__LANE_ENDED, __ATOMIC_RELEASE);
}

/* Whether the thread was cancelled asynchronously in the middle of a begin or an end. */
static bool is_torn_off(const assay__lane *lane)
{
    return lane->top == (const assay__frame *)(const void *)lane;
}

/* Close the lane of a thread that is ending, so that another thread may take it over. The lane of a
 * thread that was torn off stays as it is: readers can handle it, and nobody writes it any more. */
static int leave_lane(const assay__lane_owner *owner)
{
    if (assay__monitor_id(owner->monitor) != owner->monitor_id) /* after a fork */
        return ASSAY__OWNER_ENDED;
    if (is_torn_off(owner->lane))
        return ASSAY__OWNER_TORN_OFF;
    assay__lane_settle(assay__monitor_state_of(owner->monitor), owner->lane);
    close_lane(owner->lane);
    return ASSAY__OWNER_ENDED;
}

static void end_thread(void *argument)
{
    assay__thread_lanes *lanes = argument;
    for (assay__lane_owner *owner = lanes->first, *next; owner != NULL; owner = next) {
        next = owner->next_in_thread;
        int expected = ASSAY__OWNER_ATTACHED;
        if (atomic_compare_exchange_strong(&owner->state, &expected, ASSAY__OWNER_DETACHING)) {
            atomic_store(&owner->state, leave_lane(owner));
        } else {
            free_owner(owner);
        }
    }
    free(lanes);
    assay__thread = (assay__thread_state){.monitor_id = ASSAY__NO_MONITOR};
}

static void make_exit_key(void)
{
    exit_key_usable = pthread_key_create(&exit_key, end_thread) == 0;
}

/* A thread that measured must not call end_thread() after the code of end_thread() is unloaded. So
 * the shared library stays loaded (-z nodelete). A plugin that contains the static library can be
 * unloaded; then this destructor deletes the key. Threads that still run end without closing their
 * lanes. Readers can handle such lanes. The memory that these threads own here, a few hundred bytes
 * each, is never freed. */
__attribute__((destructor)) static void forget_threads(void)
{
    if (exit_key_usable)
        pthread_key_delete(exit_key);
}

bool assay__lanes_prepare(void)
{
    return pthread_once(&exit_key_once, make_exit_key) == 0 && exit_key_usable;
}

static assay__thread_lanes *lanes_of_thread(void)
{
    if (assay__thread.lanes != NULL)
        return assay__thread.lanes;
    bool usable = assay__lanes_prepare();
    assay__thread_lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes == NULL || !usable || pthread_setspecific(exit_key, lanes) != 0) {
        free(lanes);
        return NULL;
    }
    return assay__thread.lanes = lanes;
}

/* Free the owners in this thread's list whose monitors have been freed. */
static void prune(assay__thread_lanes *lanes)
{
    for (assay__lane_owner **link = &lanes->first; *link != NULL;) {
        assay__lane_owner *owner = *link;
        if (atomic_load(&owner->state) == ASSAY__OWNER_ORPHANED) {
            *link = owner->next_in_thread;
            free_owner(owner);
        } else {
            link = &owner->next_in_thread;
        }
    }
}

static void unlink_from_thread(const assay__lane_owner *owner)
{
    if (assay__thread.lanes == NULL)
        return;
    for (assay__lane_owner **link = &assay__thread.lanes->first; *link != NULL;
         link = &(*link)->next_in_thread)
        if (*link == owner) {
            *link = owner->next_in_thread;
            return;
        }
}

assay__lane_owner *assay__lane_if_attached(uint64_t monitor_id)
{
    if (assay__thread.lanes == NULL)
        return NULL;
    for (assay__lane_owner *owner = assay__thread.lanes->first; owner != NULL;
         owner = owner->next_in_thread)
        if (owner->monitor_id == monitor_id && atomic_load(&owner->state) == ASSAY__OWNER_ATTACHED)
            return owner;
    return NULL;
}

static assay__lane_owner *take_over_ended(assay__monitor_state *state)
{
    for (assay__lane_owner *owner = state->owners; owner != NULL; owner = owner->next_in_monitor) {
        int expected = ASSAY__OWNER_ENDED;
        if (atomic_compare_exchange_strong(&owner->state, &expected, ASSAY__OWNER_ATTACHED))
            return owner;
    }
    return NULL;
}

/* Give the lane an event ring, if a trace is wanted. The ring is optional: if there is no room for
 * it, the lane works without a trace. It reserves addresses for all events, and grows into them as
 * events come. */
static void equip_lane(assay__monitor_state *state, assay__lane *lane)
{
    enum { FIRST_EVENTS = 128 }; /* a page */
    size_t first = state->trace_events < FIRST_EVENTS ? state->trace_events : FIRST_EVENTS;
    assay__event *ring = NULL;
    if (state->trace_events > 0)
        ring = assay__journal_set_aside(&state->journal, state->trace_events * sizeof *ring);
    if (ring != NULL && assay__journal_make_ready(&state->journal, ring, first * sizeof *ring)) {
        lane->events = ring;
        lane->event_capacity = first;
        lane->extras |= ASSAY__EXTRA_EVENTS;
    }
    if (state->samples > 0)
        lane->extras |= ASSAY__EXTRA_SAMPLES;
}

static assay__lane_owner *new_lane(assay_monitor *monitor, assay__monitor_state *state)
{
    /* The node is allocated first, so that the lane does not begin at the start of a page, as the
     * head of the monitor does. In many processors, words at the same offset in two pages delay
     * each other. */
    assay__node *root = assay__node_new_root(state);
    assay__lane *lane =
        root != NULL ? assay__journal_allocate(&state->journal, sizeof *lane) : NULL;
    assay__lane_owner *owner = lane != NULL ? calloc(1, sizeof *owner) : NULL;
    if (owner == NULL)
        return NULL;
    lane->first_node = lane->last_node = root->self;
    lane->frames[0].node = root;
    lane->frames[0].branch = root->branch;
    lane->nowhere = assay__node_without_children();
    lane->nowhere_branch = lane->nowhere->branch;
    lane->top = lane->frames;
    lane->owner = owner;
    owner->monitor = monitor;
    owner->monitor_id = assay__monitor_id(monitor);
    owner->lane = lane;
    if (!assay__node_make_other(owner)) {
        free_owner(owner);
        return NULL;
    }
    equip_lane(state, lane);
    owner->next_in_monitor = state->owners;
    state->owners = owner;
    return owner;
}

/* Write the kind, the name and the thread of a new or taken-over lane into it. */
static void introduce(assay__lane *lane, assay_lane_kind kind, const char *name)
{
    uint64_t words[sizeof lane->name / sizeof(uint64_t)] = {0};
    assay__text_copy_name((char *)words, sizeof words, name, strlen(name));
    /* Stores are atomic, because a lane that is taken over may be read meanwhile. */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        __atomic_store_n((uint64_t *)(void *)lane->name + i, words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&lane->kind, (uint32_t)kind, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->thread_id, syscall(SYS_gettid), __ATOMIC_RELAXED);
    lane->event_origin = assay__event_origin((uint32_t)lane->thread_id, ASSAY_EVENT_SPAN, 0);
    __atomic_store_n(&lane->state, ASSAY__LANE_LIVE, __ATOMIC_RELEASE);
}

/* Get a lane for a new thread, task or stream: a new lane, or one of a thread that has ended. NULL
 * if there is no room. */
static assay__lane_owner *take_lane(assay_monitor *monitor, assay_lane_kind kind, const char *name)
{
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    assay__lane_owner *owner = NULL;
    pthread_mutex_lock(&state->lock);
    if (state->journal.header->lane_count >= RECYCLE_AFTER)
        owner = take_over_ended(state);
    if (owner == NULL)
        owner = new_lane(monitor, state);
    if (owner == NULL)
        owner = take_over_ended(state);
    if (owner != NULL) {
        owner->stack_high = 0;
        owner->task = NULL;
        owner->task_owner = NULL;
        introduce(owner->lane, kind, name);
        assay__resident_start(owner);
        assay__journal_publish_lane(&state->journal, owner->lane);
        if (kind != ASSAY_LANE_THREAD)
            atomic_store(&owner->state, ASSAY__OWNER_TASK);
    } else {
        uint64_t *dropped = &state->journal.header->dropped_lanes;
        __atomic_store_n(dropped, *dropped + 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&state->lock);
    return owner;
}

static assay__lane_owner *attach(assay_monitor *monitor, assay__thread_lanes *lanes)
{
    char name[32] = "";
    if (pthread_getname_np(pthread_self(), name, sizeof name) != 0)
        name[0] = '\0';
    assay__lane_owner *owner = take_lane(monitor, ASSAY_LANE_THREAD, name);
    if (owner != NULL) {
        owner->next_in_thread = lanes->first;
        lanes->first = owner;
    }
    return owner;
}

assay__lane_owner *assay__lane_for_task(assay_monitor *monitor, const char *name)
{
    return take_lane(monitor, ASSAY_LANE_TASK, name);
}

assay__lane_owner *assay__lane_for_stream(assay_monitor *monitor, const char *name)
{
    return take_lane(monitor, ASSAY_LANE_GPU_STREAM, name);
}

void assay__lane_end(assay__lane_owner *owner)
{
    atomic_store(&owner->state, leave_lane(owner));
}

assay__lane_owner *assay__lane_in_use(assay__lane_owner *own)
{
    return own != NULL && own->task != NULL ? own->task_owner : own;
}

assay__lane_owner *assay__lane_of_thread(assay_monitor *monitor)
{
    uint64_t id = assay__monitor_revive(monitor);
    if (id == ASSAY__NO_MONITOR)
        return NULL;
    assay__lane_owner *owner = assay__lane_if_attached(id);
    if (owner == NULL) {
        assay__thread_lanes *lanes = lanes_of_thread();
        if (lanes == NULL)
            return NULL;
        prune(lanes);
        owner = attach(monitor, lanes);
        if (owner == NULL)
            return NULL;
    }
    return owner;
}

/* Whether the calling thread, which is freeing the monitor, owns this lane. Then no other thread
 * will free the owner struct. */
static bool is_own(const assay__lane_owner *owner)
{
    if (assay__thread.lanes != NULL)
        for (const assay__lane_owner *it = assay__thread.lanes->first; it != NULL;
             it = it->next_in_thread)
            if (it == owner)
                return true;
    return false;
}

void assay__lanes_release(assay__monitor_state *state, bool after_fork)
{
    for (assay__lane_owner *owner = state->owners, *next; owner != NULL; owner = next) {
        next = owner->next_in_monitor;
        if (is_own(owner)) {
            unlink_from_thread(owner);
            free_owner(owner);
            continue;
        }
        int expected = ASSAY__OWNER_ATTACHED;
        /* In a forked child the other threads do not exist, so this thread frees their memory. */
        if (!after_fork &&
            atomic_compare_exchange_strong(&owner->state, &expected, ASSAY__OWNER_ORPHANED))
            continue;
        while (!after_fork && atomic_load(&owner->state) == ASSAY__OWNER_DETACHING)
            sched_yield();
        free_owner(owner);
    }
    state->owners = NULL;
    if (assay__thread.lanes != NULL && assay__thread.lanes->first == NULL) {
        pthread_setspecific(exit_key, NULL);
        free(assay__thread.lanes);
        assay__thread.lanes = NULL;
    }
    if (assay__thread.monitor_id != ASSAY__BUSY_THREAD)
        assay__thread.monitor_id = ASSAY__NO_MONITOR;
}
