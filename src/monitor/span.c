/* The slow paths of spans: first meetings, new extremes, memory, other clocks, misuse. */
#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "monitor/state.h"

/* The ring is larger than the nearest cache; its lines are asked for this early. */
enum { EVENTS_AHEAD = 16 };

/* The longest duration on record: a century. */
static const double MOST_TICKS = 9e18;

static void drop_span(assay_monitor *monitor)
{
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    if (state->journal.header != NULL)
        __atomic_fetch_add(&state->journal.header->dropped_spans, 1, __ATOMIC_RELAXED);
}

static uint64_t ticks_of(const assay__monitor_state *state)
{
    return assay__clock_is_hardware(state->clock) ? assay__ticks()
                                                  : assay__clock_ticks(state->clock);
}

static assay__frame *open_frame(assay__lane_owner *owner, assay__node *node, bool metric)
{
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    assay__lane *lane = owner->lane;
    assay__frame *frame = lane->top + 1;
    if (state->memory != 0 || metric)
        assay__memory_begin(owner, (size_t)(frame - lane->frames), metric);
    __atomic_store_n(&frame->node, node, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->start, ticks_of(state), __ATOMIC_RELAXED);
    __atomic_store_n(&lane->top, frame, __ATOMIC_RELEASE);
    return metric ? (assay__frame *)((uintptr_t)frame | ASSAY__METRIC_BIT) : frame;
}

assay__frame *assay__span_begin_slow(assay_monitor *monitor, assay_site *site)
{
    if (assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return NULL;
    assay__lane_owner *owner = assay__lane_of_thread(monitor);
    assay__node *node = owner != NULL ? assay__node_for_site(owner, site) : NULL;
    if (node != NULL)
        return open_frame(owner, node, (site->flags & ASSAY_SITE_METRIC) != 0);
    drop_span(monitor);
    return NULL;
}

static assay_span begin_named(assay_monitor *monitor, const char *name, bool metric)
{
    const assay_span nothing = {.monitor = monitor};
    if (monitor == NULL || assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return nothing;
    assay__lane_owner *owner = assay__lane_of_thread(monitor);
    assay__node *node = owner != NULL ? assay__node_for_name(owner, name) : NULL;
    if (node == NULL) {
        drop_span(monitor);
        return nothing;
    }
    assay__frame *frame = open_frame(owner, node, metric);
    return (assay_span){frame, monitor, assay__frame_of(frame)->start};
}

assay_span assay_monitor_begin(assay_monitor *monitor, const char *name)
{
    return begin_named(monitor, name, false);
}

assay_span assay_monitor_begin_metric(assay_monitor *monitor, const char *name)
{
    return begin_named(monitor, name, true);
}

/* How many items a store that is full may hold from now on: twice as many if the journal can make
 * them ready, up to `most`. */
static uint64_t grown(const assay__monitor_state *state, const void *items, size_t size,
                      uint64_t capacity, uint64_t most)
{
    enum { FIRST = 64 };
    uint64_t larger = capacity == 0 ? FIRST : 2 * capacity;
    if (larger > most)
        larger = most;
    bool ready = assay__journal_make_ready(&state->journal, (const char *)items + capacity * size,
                                           (larger - capacity) * size);
    return ready ? larger : capacity;
}

/* Not inlined, so that the way to an event alone saves no registers. */
static __attribute__((noinline)) void publish_sample(const assay__lane *lane, assay__node *node,
                                                     uint64_t duration)
{
    const assay__monitor_state *state = assay__monitor_state_of(lane->owner->monitor);
    uint64_t *samples = assay__journal_at(&state->journal, node->samples);
    uint32_t count = node->sample_count;
    if (count == node->sample_capacity && node->samples != 0 && count < state->samples)
        node->sample_capacity =
            (uint32_t)grown(state, samples, sizeof *samples, count, state->samples);
    if (count < node->sample_capacity) {
        __atomic_store_n(&samples[count], duration, __ATOMIC_RELAXED);
        __atomic_store_n(&node->sample_count, count + 1, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&node->samples_dropped, node->samples_dropped + 1, __ATOMIC_RELAXED);
    }
}

/* The ring was written to its end. The first time that happens it may still have room behind it;
 * the events that are there keep their places. Readers load the head before the capacity. */
static __attribute__((noinline)) void grow_ring(assay__lane *lane)
{
    const assay__monitor_state *state = assay__monitor_state_of(lane->owner->monitor);
    uint64_t capacity = lane->event_capacity;
    if (lane->event_head == capacity && capacity < state->trace_events)
        __atomic_store_n(
            &lane->event_capacity,
            grown(state, lane->events, sizeof *lane->events, capacity, state->trace_events),
            __ATOMIC_RELAXED);
}

static inline void publish_event(assay__lane *lane, uint64_t start, uint64_t end, uint64_t place,
                                 uint64_t origin)
{
    uint64_t head = lane->event_head;
    if (ASSAY__UNLIKELY((head & (lane->event_capacity - 1)) == 0 && head != 0))
        grow_ring(lane);
    assay__event *slot = &lane->events[head & (lane->event_capacity - 1)];
    __atomic_store_n(&slot->start, start, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->end, end, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->place, place, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->origin, origin, __ATOMIC_RELAXED);
    __builtin_prefetch(slot + EVENTS_AHEAD, 1);
    __atomic_store_n(&lane->event_head, head + 1, __ATOMIC_RELEASE);
}

static inline void keep_extras(assay__lane *lane, const assay__frame *frame, uint64_t now)
{
    if ((lane->extras & ASSAY__EXTRA_EVENTS) != 0)
        publish_event(lane, frame->start, now, frame->node->self, lane->event_origin);
    if ((lane->extras & ASSAY__EXTRA_SAMPLES) != 0)
        publish_sample(lane, frame->node, now - frame->start);
}

/* The end of a span that keeps more than statistics. All of it is here, so that a program with many
 * sites has the code once. */
void assay__span_end_extras(assay__lane *lane, assay__frame *frame, uint64_t now)
{
    assay__pending *slot = &lane->pending;
    if (ASSAY__UNLIKELY(now < frame->start || slot->node == NULL ||
                        !assay__node_update(slot->node, slot->duration))) {
        assay__span_end_slow(lane->owner->monitor, frame, frame->start, now);
        return;
    }
    keep_extras(lane, frame, now);
    assay__pending_put(slot, frame->node, now - frame->start);
    __atomic_store_n(&lane->top, frame - 1, __ATOMIC_RELEASE);
}

void assay__lane_settle(assay__monitor_state *state, assay__lane *lane)
{
    assay__pending *slot = &lane->pending;
    if (slot->node == NULL)
        return;
    assay__node_record(state, slot->node, slot->duration);
    __atomic_store_n(&slot->node, NULL, __ATOMIC_RELEASE);
}

static void close_frame(assay__lane_owner *owner, assay__frame *frame, uint64_t now, bool is_metric)
{
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    assay__lane *lane = owner->lane;
    size_t depth = (size_t)(frame - lane->frames);
    assay__journal_metric metric = {
        .start = frame->start,
        .duration = now - frame->start,
        .operation = frame->node->operation,
        .thread = (uint32_t)lane->thread_id,
        .depth = (uint32_t)depth - 1,
    };
    if (state->memory != 0 || is_metric)
        assay__memory_end(owner, depth, &metric);
    assay__lane_settle(state, lane);
    if (lane->extras != 0)
        keep_extras(lane, frame, now);
    assay__pending_put(&lane->pending, frame->node, now - frame->start);
    if (is_metric) {
        pthread_mutex_lock(&state->lock);
        assay__journal_add_metric(&state->journal, &metric);
        pthread_mutex_unlock(&state->lock);
    }
    __atomic_store_n(&lane->top, frame - 1, __ATOMIC_RELEASE);
}

/* A frame that is no open span of this thread. A child that ends what its parent began does nothing
 * wrong. */
static uint64_t reject(assay__monitor_state *state, const assay__frame *frame)
{
    uintptr_t address = (uintptr_t)frame;
    bool inherited = address >= state->inherited_low && address < state->inherited_high;
    if (!inherited && state->journal.header != NULL)
        __atomic_fetch_add(&state->journal.header->mismatched_ends, 1, __ATOMIC_RELAXED);
    return 0;
}

uint64_t assay__span_end_slow(assay_monitor *monitor, assay__frame *frame, uint64_t start,
                              uint64_t now)
{
    bool metric = ((uintptr_t)frame & ASSAY__METRIC_BIT) != 0;
    frame = assay__frame_of(frame);
    uint64_t id = assay__monitor_id(monitor);
    if (id == 0)
        return 0; /* begun before a fork, ended in a child that measured nothing yet */
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    assay__lane_owner *owner = assay__lane_if_attached(id);
    if (owner == NULL || frame <= owner->lane->frames ||
        frame >= owner->lane->frames + ASSAY_LANE_FRAMES)
        return reject(state, frame);
    assay__lane *lane = owner->lane;
    if (frame->start != start && start < state->journal.header->first.ticks)
        return 0; /* begun before the fork that made this process */
    if (frame > lane->top || frame->start != start) { /* ended before */
        __atomic_store_n(&lane->mismatched_ends, lane->mismatched_ends + 1, __ATOMIC_RELAXED);
        return 0;
    }
    if (!assay__clock_is_hardware(state->clock))
        now = assay__clock_ticks(state->clock);
    if (frame < lane->top) {
        uint64_t lost = (uint64_t)(lane->top - frame);
        __atomic_store_n(&lane->abandoned_spans, lane->abandoned_spans + lost, __ATOMIC_RELAXED);
        __atomic_store_n(&lane->top, frame, __ATOMIC_RELEASE);
    }
    if (now < frame->start) {
        __atomic_store_n(&lane->backward_clock, lane->backward_clock + 1, __ATOMIC_RELAXED);
        now = frame->start;
    }
    uint64_t ticks = now - frame->start;
    close_frame(owner, frame, now, metric);
    assay__thread.monitor_id = state->slow ? ASSAY__NO_MONITOR : id;
    assay__thread.lane = lane;
    return (uint64_t)llround(assay__clock_ns_of_ticks(state->clock, (double)ticks));
}

uint64_t assay_span_end_ns(assay_span span)
{
    uint64_t now = assay__ticks();
    return span.frame == NULL ? 0 : assay__span_end_slow(span.monitor, span.frame, span.start, now);
}

void assay_monitor_add(assay_monitor *monitor, const char *name, uint64_t duration_ns)
{
    if (monitor == NULL || assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return;
    assay__lane_owner *owner = assay__lane_of_thread(monitor);
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    assay__node *node = owner != NULL ? assay__node_for_name(owner, name) : NULL;
    double ticks = assay__clock_ticks_of_ns(state->clock, (double)duration_ns);
    uint64_t duration = ticks < MOST_TICKS ? (uint64_t)llround(ticks) : (uint64_t)MOST_TICKS;
    if (node != NULL && owner->lane->pending.node == node)
        assay__lane_settle(state, owner->lane);
    if (node == NULL) {
        drop_span(monitor);
        return;
    }
    assay__node_record(state, node, duration);
    assay__lane *lane = owner->lane;
    uint64_t now = ticks_of(state);
    if (lane->events != NULL)
        publish_event(
            lane, now > duration ? now - duration : 0, now, assay__event_place(node->self, 0),
            assay__event_origin((uint32_t)lane->thread_id, ASSAY_EVENT_SPAN, ASSAY__EVENT_LATE));
    if ((lane->extras & ASSAY__EXTRA_SAMPLES) != 0)
        publish_sample(lane, node, duration);
}

void assay_monitor_count(assay_monitor *monitor, const char *name, double value)
{
    if (monitor == NULL || !isfinite(value) || assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return;
    assay__lane_owner *owner = assay__lane_of_thread(monitor);
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    assay__node *node = owner != NULL ? assay__node_for_counter(owner, name) : NULL;
    if (node == NULL) {
        drop_span(monitor);
        return;
    }
    double sum = node->square_sum + value;
    if (node->count == 0 || value < assay__double_of(node->min))
        __atomic_store_n(&node->min, assay__bits_of(value), __ATOMIC_RELAXED);
    if (node->count == 0 || value > assay__double_of(node->max))
        __atomic_store_n(&node->max, assay__bits_of(value), __ATOMIC_RELAXED);
    __atomic_store(&node->square_sum, &sum, __ATOMIC_RELAXED);
    __atomic_store(&node->shift, &value, __ATOMIC_RELAXED);
    assay__publish_add(&node->count, 1);
    if (owner->lane->events != NULL)
        publish_event(
            owner->lane, ticks_of(state), assay__bits_of(value), assay__event_place(node->self, 0),
            assay__event_origin((uint32_t)owner->lane->thread_id, ASSAY_EVENT_COUNTER, 0));
}
