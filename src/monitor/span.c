/* The slow paths of spans. A span takes one if it is the first of its operation on a thread, sets a
 * new extreme, reads memory, uses another clock, or ends in the wrong order.
 *
 * A signal handler may begin and end spans. If it interrupts a slow path (ASSAY__BUSY_THREAD) or a
 * fast path (the lane's top is the lane itself), its span is refused and counted. Otherwise its
 * span takes the fast path as usual. Only the first span of an operation on a thread must not be in
 * a handler, because it allocates memory. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#include "assay/binding.h"
#include "monitor/state.h"

/* The event ring is larger than the nearest cache. So its lines are prefetched this many events
 * ahead. */
enum { EVENTS_AHEAD = 16 };

/* The longest duration that is recorded, in ticks: about a century. */
static const double MOST_TICKS = 9e18;

/* Longer durations, and durations of operations with a larger sum, are entered at once. */
static const uint64_t MOST_LATE_TICKS = (uint64_t)1 << 62;

static uint64_t rounded(double value)
{
    return (uint64_t)(value + 0.5);
}

static uint64_t ticks_of(const assay__monitor_state *state)
{
    return assay__clock_is_hardware(state->clock) ? assay__ticks()
                                                  : assay__clock_ticks(state->clock);
}

bool assay__slow_enter(void)
{
    if (assay__thread.monitor_id == ASSAY__BUSY_THREAD)
        return false;
    assay__thread.monitor_id = ASSAY__BUSY_THREAD;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

void assay__slow_leave(const assay__lane_owner *owner)
{
    bool slow = owner == NULL || assay__monitor_state_of(owner->monitor)->slow;
    if (owner != NULL)
        assay__thread.lane = owner->lane;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    assay__thread.monitor_id = slow ? ASSAY__NO_MONITOR : owner->monitor_id;
}

/* Take the lane's top. From here to put_top(), `owner->top` is the innermost open span of the lane.
 * False in a signal handler that interrupted the fast path, because the lane is then between two
 * states. */
static bool take_top(assay__lane_owner *owner)
{
    owner->top = owner->lane->top;
    return owner->top != (assay__frame *)(void *)owner->lane;
}

static void put_top(const assay__lane_owner *owner)
{
    __atomic_store_n(&owner->lane->top, owner->top, __ATOMIC_RELEASE);
}

/* The lane of this thread's spans, with its top taken. NULL if nothing can be recorded. */
static assay__lane_owner *lane_with_top(assay_monitor *monitor)
{
    assay__lane_owner *owner = assay__lane_in_use(assay__lane_of_thread(monitor));
    return owner != NULL && take_top(owner) ? owner : NULL;
}

/* Call `work` with the lane of this thread, to begin a span or to add a figure. `work` returns
 * false if the journal has no room, which is counted as a dropped span. */
static bool in_slow_path(assay_monitor *monitor, bool (*work)(assay__lane_owner *, void *),
                         void *context)
{
    bool done = false;
    assay__lane_owner *owner = NULL;
    if (!assay__slow_enter()) {
        assay__monitor_drop_span(monitor);
        return false;
    }
    if (assay__monitor_revive(monitor) != ASSAY__NO_MONITOR) {
        owner = lane_with_top(monitor);
        done = owner != NULL && work(owner, context);
        if (owner != NULL)
            put_top(owner);
        if (!done)
            assay__monitor_drop_span(monitor);
    }
    assay__slow_leave(owner);
    return done;
}

/* Count the spans above `top` as abandoned, and make `top` the innermost open span. */
static void abandon_down_to(assay__lane_owner *owner, assay__frame *top)
{
    assay__lane *lane = owner->lane;
    uint64_t lost = (uint64_t)(owner->top - top);
    __atomic_store_n(&lane->abandoned_spans, lane->abandoned_spans + lost, __ATOMIC_RELAXED);
    owner->top = top;
}

/* Whether an address is on the stack of this thread. */
static bool on_own_stack(assay__lane_owner *owner, uintptr_t address)
{
    pthread_attr_t attributes;
    if (owner->stack_high == 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *low;
        size_t bytes;
        if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
            owner->stack_low = (uintptr_t)low;
            owner->stack_high = owner->stack_low + bytes;
        }
        pthread_attr_destroy(&attributes);
    }
    return address >= owner->stack_low && address < owner->stack_high;
}

/* Abandon blocks that were left by longjmp, and so never end. Such a block is noticed in two cases:
 * when a block of an outer function begins, whose stack frame has a higher address; or when the
 * same block begins again in the same stack frame. It is enough that the slow path checks this. To
 * the call tree the next block is a child of the block that was left, where its operation has no
 * node yet, so it takes the slow path. The hot path only stores the address of the stack frame.
 * Addresses on other stacks (coroutines) cannot be compared, so they are ignored. */
static void abandon_left_blocks(assay__lane_owner *owner, uintptr_t stack, uint32_t site)
{
    for (assay__frame *frame = owner->lane->frames + 1; frame <= owner->top; frame++) {
        bool again = site != 0 && frame->node->branch.site == site && frame->stack == stack;
        bool left = again || (frame->stack != 0 && frame->stack < stack);
        if (left && on_own_stack(owner, stack) && on_own_stack(owner, frame->stack)) {
            abandon_down_to(owner, frame - 1);
            return;
        }
    }
}

static assay__frame *open_frame(assay__lane_owner *owner, assay__node *node, bool metric,
                                uintptr_t stack)
{
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    bool read = !metric && assay__resident_begin(owner, node, ticks_of(state));
    assay__frame *frame = ++owner->top;
    if (state->memory != 0 || metric)
        assay__memory_begin(owner, (size_t)(frame - owner->lane->frames), metric);
    __atomic_store_n(&frame->node, node, __ATOMIC_RELAXED);
    assay__publish_branch(&frame->branch, &node->branch);
    if (stack == 0 && read)
        stack = ASSAY__READ_STACK;
    __atomic_store_n(&frame->stack, stack, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->start, ticks_of(state), __ATOMIC_RELAXED);
    return (assay__frame *)((uintptr_t)frame | (metric ? ASSAY__METRIC_BIT : 0) |
                            (read ? ASSAY__MEMORY_BIT : 0));
}

/* The arguments and the result of begin_span(). */
typedef struct beginning {
    assay_site *site; /* of a block, or NULL */
    uintptr_t stack;
    const char *name; /* if `site` is NULL */
    bool metric;
    assay__frame *frame;
} beginning;

static bool begin_span(assay__lane_owner *owner, void *context)
{
    beginning *span = context;
    if (span->site != NULL && owner->lane->kind == ASSAY_LANE_THREAD)
        abandon_left_blocks(owner, span->stack, __atomic_load_n(&span->site->id, __ATOMIC_RELAXED));
    assay__node *node = span->site != NULL ? assay__node_for_site(owner, span->site)
                                           : assay__node_for_name(owner, span->name);
    if (node != NULL)
        span->frame = open_frame(owner, node, span->metric, span->stack);
    return node != NULL;
}

assay__frame *assay__span_begin_slow(assay_monitor *monitor, assay_site *site, uintptr_t stack)
{
    beginning span = {
        .site = site, .stack = stack, .metric = (site->flags & ASSAY_SITE_METRIC) != 0};
    in_slow_path(monitor, begin_span, &span);
    return span.frame;
}

static bool is_off(const assay_monitor *monitor)
{
    return monitor == NULL || assay__monitor_id(monitor) == ASSAY__DISABLED_MONITOR;
}

static assay_span begin_named(assay_monitor *monitor, const char *name, bool metric)
{
    beginning span = {.name = name, .metric = metric};
    if (is_off(monitor) || !in_slow_path(monitor, begin_span, &span))
        return (assay_span){.monitor = monitor};
    return (assay_span){span.frame, monitor, assay__frame_start(assay__frame_of(span.frame))};
}

assay_span assay_monitor_begin(assay_monitor *monitor, const char *name)
{
    return begin_named(monitor, name, false);
}

assay_span assay_monitor_begin_metric(assay_monitor *monitor, const char *name)
{
    return begin_named(monitor, name, true);
}

/* The new capacity of a store that is full: twice the old one, up to `most`, if the journal can
 * provide the room; otherwise the old one. */
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

static void publish_sample(const assay__lane *lane, assay__node *node, uint64_t duration)
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

/* Enlarge the ring when it is full for the first time, if it may have more events. The events in it
 * keep their places. Readers load the head before the capacity, so they never see a head that the
 * capacity does not match. */
static void grow_ring(assay__lane *lane)
{
    const assay__monitor_state *state = assay__monitor_state_of(lane->owner->monitor);
    uint64_t capacity = lane->event_capacity;
    if (lane->event_head == capacity && capacity < state->trace_events)
        __atomic_store_n(
            &lane->event_capacity,
            grown(state, lane->events, sizeof *lane->events, capacity, state->trace_events),
            __ATOMIC_RELAXED);
}

/* Whether the next event goes to the first place of the ring: the ring is empty, or it was written
 * to its end. */
static inline bool ring_starts_over(const assay__lane *lane)
{
    return (lane->event_head & (lane->event_capacity - 1)) == 0;
}

/* Write an event. If the ring was at its end, the caller must have called grow_ring(). */
static inline void put_event(assay__lane *lane, uint64_t start, uint64_t end, uint64_t place,
                             uint64_t origin)
{
    uint64_t head = lane->event_head;
    assay__event *slot = &lane->events[head & (lane->event_capacity - 1)];
    __atomic_store_n(&slot->start, start, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->end, end, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->place, place, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->origin, origin, __ATOMIC_RELAXED);
    __builtin_prefetch(slot + EVENTS_AHEAD, 1);
    __atomic_store_n(&lane->event_head, head + 1, __ATOMIC_RELEASE);
}

static void publish_event(assay__lane *lane, uint64_t start, uint64_t end, uint64_t place,
                          uint64_t origin)
{
    if (ring_starts_over(lane))
        grow_ring(lane);
    put_event(lane, start, end, place, origin);
}

static void keep_extras(assay__lane *lane, const assay__frame *frame, uint64_t now)
{
    uint64_t start = assay__frame_start(frame);
    if ((lane->extras & ASSAY__EXTRA_EVENTS) != 0)
        publish_event(lane, start, now, frame->node->self, lane->event_origin);
    if ((lane->extras & ASSAY__EXTRA_SAMPLES) != 0)
        publish_sample(lane, frame->node, now - start);
}

/* The fast end of a span that records an event and statistics, in a closed lane. False if the span
 * must take the slow path; the lane is open then, and the span too. The function calls no other
 * function, so that it need not save registers. */
static inline bool end_with_event(assay__lane *lane, assay__frame *frame, uint64_t now,
                                  assay__node *last, uint64_t last_duration)
{
    assay__node *own = frame->node;
    const uint64_t start = assay__frame_start(frame);
    assay__figures before;
    if (ASSAY__UNLIKELY(lane->extras != ASSAY__EXTRA_EVENTS || now < start ||
                        now >= lane->begin_due || ring_starts_over(lane) ||
                        !assay__pending_enter(last, last_duration, own, &before))) {
        __atomic_store_n(&lane->top, frame, __ATOMIC_RELEASE);
        return false;
    }
    put_event(lane, start, now, own->self, lane->event_origin);
    assay__pending_put(&lane->pending, own, now - start, &before);
    __atomic_store_n(&lane->top, frame - 1, __ATOMIC_RELEASE);
    return true;
}

void assay__lane_settle(assay__monitor_state *state, assay__lane *lane)
{
    assay__pending *slot = &lane->pending;
    if (slot->node == NULL)
        return;
    bool backward = (int64_t)slot->duration < 0;
    if (backward)
        __atomic_store_n(&lane->backward_clock, lane->backward_clock + 1, __ATOMIC_RELAXED);
    assay__node_record(state, slot->node, backward ? 0 : slot->duration);
    __atomic_store_n(&slot->node, NULL, __ATOMIC_RELEASE);
}

static void close_frame(assay__lane_owner *owner, assay__frame *frame, uint64_t now,
                        uintptr_t marks)
{
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    assay__lane *lane = owner->lane;
    size_t depth = (size_t)(frame - lane->frames);
    bool is_metric = (marks & ASSAY__METRIC_BIT) != 0;
    uint64_t start = assay__frame_start(frame);
    assay__journal_metric metric = {
        .start = start,
        .duration = now - start,
        .operation = frame->node->operation,
        .thread = (uint32_t)lane->thread_id,
        .depth = (uint32_t)depth - 1,
    };
    if (state->memory != 0 || is_metric)
        assay__memory_end(owner, depth, &metric);
    if (!is_metric)
        assay__resident_end(owner, now, (marks & ASSAY__MEMORY_BIT) != 0);
    assay__lane_settle(state, lane);
    if (lane->extras != 0)
        keep_extras(lane, frame, now);
    const assay__figures before = assay__figures_of(frame->node);
    assay__pending_put(&lane->pending, frame->node, now - start, &before);
    if (is_metric) {
        pthread_mutex_lock(&state->lock);
        assay__journal_add_metric(&state->journal, &metric);
        pthread_mutex_unlock(&state->lock);
    }
    owner->top = frame - 1;
}

/* Count the end of a frame that is no open span of this thread. A forked child that ends a span of
 * its parent does nothing wrong, so that is not counted. */
static uint64_t reject(assay__monitor_state *state, const assay__frame *frame)
{
    uintptr_t address = (uintptr_t)frame;
    bool inherited = address >= state->inherited_low && address < state->inherited_high;
    if (!inherited && state->journal.header != NULL)
        __atomic_fetch_add(&state->journal.header->mismatched_ends, 1, __ATOMIC_RELAXED);
    return 0;
}

/* End the span in `frame` of a lane whose top is taken. Returns its duration in ticks. */
static uint64_t end_in_lane(assay__lane_owner *owner, assay__frame *frame, uint64_t start,
                            uint64_t now, uintptr_t marks)
{
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    assay__lane *lane = owner->lane;
    if (assay__frame_start(frame) != start && start < state->journal.header->first.ticks)
        return 0; /* begun before the fork that made this process */
    if (frame > owner->top || assay__frame_start(frame) != start) { /* it has already ended */
        __atomic_store_n(&lane->mismatched_ends, lane->mismatched_ends + 1, __ATOMIC_RELAXED);
        return 0;
    }
    if (!assay__clock_is_hardware(state->clock))
        now = assay__clock_ticks(state->clock);
    if (frame < owner->top)
        abandon_down_to(owner, frame);
    if (now < start) {
        __atomic_store_n(&lane->backward_clock, lane->backward_clock + 1, __ATOMIC_RELAXED);
        now = start;
    }
    close_frame(owner, frame, now, marks);
    return now - start;
}

uint64_t assay__span_end_slow(assay_monitor *monitor, assay__frame *frame, uint64_t start,
                              uint64_t now)
{
    uintptr_t marks = (uintptr_t)frame & (ASSAY__METRIC_BIT | ASSAY__MEMORY_BIT);
    frame = assay__frame_of(frame);
    uint64_t id = assay__monitor_id(monitor), ticks = 0;
    if (id == 0)
        return 0; /* begun before a fork, ended in a child that measured nothing yet */
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    if (!assay__slow_enter())
        return reject(state, frame);
    assay__lane_owner *owner = assay__lane_in_use(assay__lane_if_attached(id));
    if (owner == NULL || frame <= owner->lane->frames ||
        frame >= owner->lane->frames + ASSAY_LANE_FRAMES || !take_top(owner)) {
        reject(state, frame);
    } else {
        ticks = end_in_lane(owner, frame, start, now, marks);
        put_top(owner);
    }
    assay__slow_leave(owner);
    return rounded(assay__clock_ns_of_ticks(state->clock, (double)ticks));
}

/* The open span of a site that began at `start`, or the innermost span of the site if `start` is 0.
 * NULL if there is none. A span for which the journal had no room is open as a span of
 * "(other)". */
static assay__frame *find_open(const assay__lane_owner *owner, const assay_site *site,
                               uint64_t start)
{
    for (assay__frame *frame = owner->top; frame > owner->lane->frames; frame--) {
        bool same =
            frame->branch.site == site->id || frame->node->operation == owner->other->operation;
        if (start != 0 ? assay__frame_start(frame) == start : same)
            return frame;
    }
    return NULL;
}

static void swap_words(uint64_t *one, uint64_t *other)
{
    uint64_t kept = *one;
    *one = *other;
    *other = kept;
}

/* Make a span the innermost one of its lane, although spans that began within it are still open.
 * Those stay open; each moves one frame down. */
static void raise_to_top(assay__lane_owner *owner, assay__frame *frame)
{
    for (; frame < owner->top; frame++) {
        size_t depth = (size_t)(frame - owner->lane->frames);
        assay__frame kept = *frame, above = frame[1];
        const assay__frame *fresh[] = {&above, &kept};
        for (int i = 0; i < 2; i++) {
            __atomic_store_n(&frame[i].start, fresh[i]->start, __ATOMIC_RELAXED);
            __atomic_store_n(&frame[i].node, fresh[i]->node, __ATOMIC_RELAXED);
            __atomic_store_n(&frame[i].stack, fresh[i]->stack, __ATOMIC_RELAXED);
            assay__publish_branch(&frame[i].branch, &fresh[i]->branch);
        }
        swap_words(&owner->resident.at_begin[depth], &owner->resident.at_begin[depth + 1]);
        if (owner->marks != NULL) {
            assay__memory_mark mark = owner->marks[depth];
            owner->marks[depth] = owner->marks[depth + 1];
            owner->marks[depth + 1] = mark;
        }
    }
}

/* End the span of a site, at any depth of the lane. Returns its duration in ticks. */
static uint64_t end_site(assay__lane_owner *owner, const assay_site *site, uint64_t start,
                         uint64_t now, bool failed)
{
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    assay__lane *lane = owner->lane;
    assay__frame *frame = find_open(owner, site, start);
    bool inherited =
        start != 0 ? start < state->journal.header->first.ticks : state->inherited_high != 0;
    if (frame == NULL) {
        if (!inherited)
            __atomic_store_n(&lane->mismatched_ends, lane->mismatched_ends + 1, __ATOMIC_RELAXED);
        return 0;
    }
    if (failed)
        __atomic_store_n(&frame->node->failed, frame->node->failed + 1, __ATOMIC_RELAXED);
    bool metric = (site->flags & ASSAY_SITE_METRIC) != 0;
    uintptr_t marks = (metric ? ASSAY__METRIC_BIT : 0) |
                      (frame->stack == ASSAY__READ_STACK ? ASSAY__MEMORY_BIT : 0);
    raise_to_top(owner, frame);
    return end_in_lane(owner, owner->top, assay__frame_start(owner->top), now, marks);
}

uint64_t assay__site_end_slow(const assay_site *site, assay_monitor *monitor, uint64_t start,
                              uint64_t now, bool failed)
{
    uint64_t id = assay__monitor_id(monitor), ticks = 0;
    if (id == 0 || id == ASSAY__DISABLED_MONITOR || !assay__slow_enter())
        return 0; /* id 0: begun before a fork, ended in a child that measured nothing yet */
    assay__lane_owner *owner = assay__lane_in_use(assay__lane_if_attached(id));
    if (owner != NULL && take_top(owner)) {
        ticks = end_site(owner, site, start, now, failed);
        put_top(owner);
    } else {
        reject(assay__monitor_state_of(monitor), NULL);
    }
    assay__slow_leave(owner);
    return ticks;
}

/* The end of a span that records more than statistics, or for which a reading of resident memory is
 * due. This code is not inlined, so that a program with many call sites contains it once. The start
 * is read again from the frame, because a span of a signal handler may have marked the frame since
 * the caller read it. */
void assay__span_end_extras(assay__lane *lane, assay__frame *frame, uint64_t now, assay__node *last,
                            uint64_t last_duration)
{
    if (ASSAY__UNLIKELY(!end_with_event(lane, frame, now, last, last_duration)))
        assay__span_end_slow(lane->owner->monitor, frame, assay__frame_start(frame), now);
}

uint64_t assay_span_end_ns(assay_span span)
{
    uint64_t now = assay__ticks();
    return span.frame == NULL ? 0 : assay__span_end_slow(span.monitor, span.frame, span.start, now);
}

void assay__lane_add_event(assay__lane *lane, const assay__node *node, uint64_t start, uint64_t end)
{
    /* A stream has no other spans than these, and they do not overlap. */
    const bool late = lane->kind != ASSAY_LANE_GPU_STREAM;
    if (lane->events != NULL)
        publish_event(lane, start, end, assay__event_place(node->self, 0),
                      assay__event_origin((uint32_t)lane->thread_id, ASSAY_EVENT_SPAN,
                                          late ? ASSAY__EVENT_LATE : 0));
}

/* A duration or a value to add, and its name. */
typedef struct addition {
    const char *name;
    uint64_t duration_ns;
    double value;
} addition;

static bool add_duration(assay__lane_owner *owner, void *context)
{
    const addition *added = context;
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    assay__lane *lane = owner->lane;
    assay__node *node = assay__node_for_name(owner, added->name);
    if (node == NULL)
        return false;
    double ticks = assay__clock_ticks_of_ns(state->clock, (double)added->duration_ns);
    uint64_t duration = ticks < MOST_TICKS ? rounded(ticks) : (uint64_t)MOST_TICKS;
    assay__lane_settle(state, lane);
    /* It goes through the slot, so that a reader finds all of its figures or none. Large durations
     * do not, because only assay__node_record() keeps the sum from wrapping around. */
    const assay__figures before = assay__figures_of(node);
    if (duration <= MOST_LATE_TICKS && before.sum <= MOST_LATE_TICKS)
        assay__pending_put(&lane->pending, node, duration, &before);
    else
        assay__node_record(state, node, duration);
    uint64_t now = ticks_of(state);
    assay__lane_add_event(lane, node, now > duration ? now - duration : 0, now);
    if ((lane->extras & ASSAY__EXTRA_SAMPLES) != 0)
        publish_sample(lane, node, duration);
    return true;
}

void assay_monitor_add(assay_monitor *monitor, const char *name, uint64_t duration_ns)
{
    addition added = {.name = name, .duration_ns = duration_ns};
    if (!is_off(monitor))
        in_slow_path(monitor, add_duration, &added);
}

static bool add_value(assay__lane_owner *owner, void *context)
{
    const addition *added = context;
    double value = added->value;
    assay__lane *lane = owner->lane;
    assay__node *node = assay__node_for_counter(owner, added->name);
    if (node == NULL)
        return false;
    double sum = node->square_sum + ldexp(value, -(int)node->sum);
    if (!isfinite(sum)) { /* from now on in units of 2^64, which 2^64 values cannot exceed */
        __atomic_store_n(&node->sum, ASSAY__LARGE_EXPONENT, __ATOMIC_RELEASE);
        sum =
            ldexp(node->square_sum, -ASSAY__LARGE_EXPONENT) + ldexp(value, -ASSAY__LARGE_EXPONENT);
    }
    if (node->count == 0 || value < assay__double_of(node->min))
        __atomic_store_n(&node->min, assay__bits_of(value), __ATOMIC_RELAXED);
    if (node->count == 0 || value > assay__double_of(node->max))
        __atomic_store_n(&node->max, assay__bits_of(value), __ATOMIC_RELAXED);
    __atomic_store(&node->square_sum, &sum, __ATOMIC_RELAXED);
    __atomic_store(&node->shift, &value, __ATOMIC_RELAXED);
    assay__publish_add(&node->count, 1);
    if (lane->events != NULL)
        publish_event(lane, ticks_of(assay__monitor_state_of(owner->monitor)),
                      assay__bits_of(value), assay__event_place(node->self, 0),
                      assay__event_origin((uint32_t)lane->thread_id, ASSAY_EVENT_COUNTER, 0));
    return true;
}

void assay_monitor_count(assay_monitor *monitor, const char *name, double value)
{
    addition added = {.name = name, .value = value};
    if (!is_off(monitor) && isfinite(value))
        in_slow_path(monitor, add_value, &added);
}
