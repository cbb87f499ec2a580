/* Energy of operations, and counter tracks, from the readings of a meter.
 *
 * Spans do not read energy counters: the counters move every 100 ms, and most spans are shorter.
 * Instead, the meter's thread handles each window between two moves of the counters. It computes
 * how much time each operation spent in its spans during the window, also in those that are still
 * open. The operation gets the share of the window's energy that equals its share of the window's
 * time. In fact it may have consumed more or less. Its bounds follow from the power limit of the
 * device, which holds both while the operation runs and while it does not, that is in the rest of
 * the window:
 *
 *     energy - limit * rest  <=  energy of the operation  <=  limit * time, energy
 *
 * A counter is late by up to the time since it last moved. So the energy of the last part of a
 * window, which is as long as the counter was late, may be counted in the next one. Hence `time`
 * includes what the operation ran in that part of the window before, and `rest` what it did not. If
 * it runs no more, the window after its last one adds to the upper bound. These sums over windows
 * are bounds, because time that moves into a window only takes from the window before, whose terms
 * assume that nothing moved out.
 *
 * Spans on a stream are known only when they have ended. A span that is longer than the window
 * began before it, and gets its share of all windows since then.
 *
 * On streams of a device, the time is the time on the device, and only that device's energy
 * counts. */
#include <math.h>
#include <stdio.h>

#include "assay/monitor.h"
#include "instrument/cuda_board.h"
#include "instrument/meter.h"
#include "journal/reader.h"
#include "monitor/state.h"

enum { EVERY_DEVICE = -1, /* and the processor */ NO_DEVICE = -2 };

/* The time between two moves of the counters. */
typedef struct window {
    assay__monitor_state *state;
    const assay__journal_view *view;
    const assay_meter *meter;
    const assay__meter_step *step;
    uint64_t end_ticks; /* when it ended */
    bool first;         /* the first window: time before the meter was attached is not counted */
} window;

static double seconds_between(const assay__meter_reading *from, const assay__meter_reading *to)
{
    return (double)(to->ns - from->ns) * 1e-9;
}

/* How an operation divides a window, and the window before, into time in which it ran and the rest.
 * `rest_before` is infinite if it did not run in the window before. */
typedef struct division {
    double seconds, busy;
    double busy_before, rest_before;
} division;

/* The share of one source's energy for an operation. `late` is by how many seconds the counter may
 * have been late at the begin of the window. */
static assay__journal_joules share_of(const assay__meter_source *source, double joules,
                                      const division *time, double late)
{
    const double most = source->limit_watts, rest = time->seconds - time->busy;
    const double busy = time->busy + fmin(time->busy_before, late);
    const double others = rest + fmin(time->rest_before, late);
    assay__journal_joules part = {.sum = joules * time->busy / time->seconds, .high = joules};
    if (most > 0) {
        part.low = fmax(joules - most * others, 0);
        part.high = fmin(joules, most * busy);
    } else if (others < 0.001 * time->seconds) {
        part.low = joules;
    }
    part.low = fmin(part.low, part.sum);
    part.high = fmax(part.high, part.sum);
    return part;
}

static void store(double *field, double value)
{
    __atomic_store(field, &value, __ATOMIC_RELAXED);
}

static void add(assay__journal_joules *total, assay__journal_joules part)
{
    store(&total->sum, total->sum + part.sum);
    store(&total->low, total->low + part.low);
    store(&total->high, total->high + part.high);
}

static double load(const double *field)
{
    double value;
    __atomic_load(field, &value, __ATOMIC_RELAXED);
    return value;
}

/* Add the energy of a window to an operation that was busy for `busy` seconds; 0 in the window
 * after it ran. `device` is the index of the GPU whose energy counts, or EVERY_DEVICE. */
static void credit(const window *now, assay__journal_device *figures, double busy, int device)
{
    const double tolerance = 1.05; /* the end of a window is not exactly that of its readings */
    const assay__meter_reading *to = now->step->to, *from = now->step->from;
    double seconds = seconds_between(from, to);
    division time = {.busy_before = load(&figures->busy_seconds),
                     .rest_before = load(&figures->rest_seconds)};
    if (figures->running == 0)
        time.rest_before = INFINITY;
    if (busy > tolerance * seconds) {
        uint64_t back = (uint64_t)(busy * 1e9);
        from = assay__meter_reading_at(now->meter, to->ns > back ? to->ns - back : 0);
        seconds = seconds_between(from, to);
        time.busy_before = 0;
        time.rest_before = INFINITY;
    }
    time.seconds = seconds;
    time.busy = busy = fmin(busy, seconds);
    if (!(seconds > 0))
        return;
    bool any = false;
    for (int i = 0; i < ASSAY__METER_SOURCES; i++) {
        const assay__meter_source *source = &now->step->sources[i];
        if (!source->counted || ((to->silent | now->step->from->silent) >> i & 1) != 0 ||
            (device != EVERY_DEVICE && i != device))
            continue;
        const double late = assay__meter_late_seconds(now->meter, (size_t)i, from->ns);
        add(source->gpu ? &figures->gpu : &figures->cpu,
            share_of(source, to->joules[i] - from->joules[i], &time, late));
        store(&figures->period_seconds, fmax(figures->period_seconds, source->period_seconds));
        any = true;
    }
    if (any)
        store(&figures->metered_seconds, figures->metered_seconds + busy);
    store(&figures->busy_seconds, busy);
    store(&figures->rest_seconds, seconds - busy);
}

assay__journal_device *assay__node_device(assay__monitor_state *state, const assay__node *node)
{
    if (node->memory == 0)
        return NULL;
    assay__journal_memory *memory = assay__journal_at(&state->journal, node->memory);
    const uint32_t unit = __atomic_load_n(&memory->device, __ATOMIC_ACQUIRE);
    if (unit != 0)
        return assay__journal_at(&state->journal, unit);
    /* The meter's thread and the thread of a span may both come here. */
    pthread_mutex_lock(&state->lock);
    assay__journal_device *fresh = memory->device != 0
                                       ? assay__journal_at(&state->journal, memory->device)
                                       : assay__journal_allocate(&state->journal, sizeof *fresh);
    if (fresh != NULL)
        __atomic_store_n(&memory->device, assay__journal_unit(&state->journal, fresh),
                         __ATOMIC_RELEASE);
    pthread_mutex_unlock(&state->lock);
    return fresh;
}

/* Find out for how many ticks a span of the node has been open at the end of the window; 0 if there
 * is none. `lane` was copied before the node, and is copied again now: if the span is in both
 * copies, the sum of the node does not contain it. False if the span ended in between. */
static bool read_open_ticks(const window *now, uint32_t unit, const assay__lane *lane,
                            const assay__node *node, uint64_t *ticks)
{
    const uint64_t address =
        now->view->header.base_address + (uint64_t)node->self * ASSAY__JOURNAL_UNIT;
    const uint32_t depth = assay__journal_depth(now->view, unit, lane);
    *ticks = 0;
    for (uint32_t i = 1; i <= depth; i++) {
        const assay__frame *frame = &lane->frames[i];
        const uint64_t start = assay__frame_start(frame);
        assay__lane again;
        if ((uint64_t)(uintptr_t)frame->node != address)
            continue;
        if (now->end_ticks > start)
            *ticks = now->end_ticks - start;
        return assay__journal_read_lane(now->view, unit, &again) &&
               assay__journal_depth(now->view, unit, &again) >= i &&
               again.frames[i].node == frame->node && assay__frame_start(&again.frames[i]) == start;
    }
    return true;
}

/* Enter the window into a node. A node whose time cannot be read now, because its span ends just
 * now, or because it is being cleared, is left for the next window. If its time is still less than
 * it was then, a span that was open has been abandoned, and its time will not come back. */
static void meter_node(const window *now, uint32_t unit, const assay__lane *lane, assay__node *node,
                       int device)
{
    uint64_t pending, open;
    (void)assay__journal_add_pending(now->view, unit, node, &pending);
    assay__journal_device *figures = node->count > 0 ? assay__node_device(now->state, node) : NULL;
    if (figures == NULL || !read_open_ticks(now, unit, lane, node, &open))
        return;
    const uint64_t before = figures->seen_ticks, all = node->sum + open;
    if (all < before) {
        if (figures->running == 0)
            __atomic_store_n(&figures->seen_ticks, all, __ATOMIC_RELAXED);
        __atomic_store_n(&figures->running, false, __ATOMIC_RELAXED);
        return;
    }
    const bool runs = !now->first && all > before;
    __atomic_store_n(&figures->seen_ticks, all, __ATOMIC_RELAXED); /* readers copy it too */
    if (runs || (!now->first && figures->running != 0))
        credit(now, figures, (double)(all - before) * now->view->seconds_per_tick, device);
    __atomic_store_n(&figures->running, runs, __ATOMIC_RELAXED);
}

/* The board of a stream's lane. The name of the lane, "cuda:0 stream 1", contains CUDA's number of
 * the device. If there is only one board, it is that one, whatever number CUDA gives it. If the
 * board is not known, no energy is counted, because that of another board would be wrong. */
static int device_of(const assay__lane *lane, size_t devices)
{
    int number = -1;
    size_t board = 0;
    if (lane->kind != ASSAY_LANE_GPU_STREAM)
        return EVERY_DEVICE;
    if (devices <= 1)
        return 0;
    bool known = sscanf(lane->name, "cuda:%d", &number) == 1 && assay__cuda_board(number, &board);
    return known && board < ASSAY__METER_DEVICES ? (int)board : NO_DEVICE;
}

static void meter_operations(const window *now)
{
    assay__lane lane;
    for (uint32_t unit = now->view->header.first_lane;
         assay__journal_read_lane(now->view, unit, &lane); unit = lane.next) {
        int device = device_of(&lane, now->step->device_count);
        assay__node node;
        for (uint32_t next = device == NO_DEVICE ? 0 : lane.first_node;
             next != 0 && assay__journal_read_node(now->view, next, &node); next = node.next)
            if (node.kind == ASSAY__NODE_SPAN)
                meter_node(now, unit, &lane, &node, device);
    }
}

/* ---- counter tracks -------------------------------------------------------------------------- */

static void count(assay_monitor *monitor, const char *of, const char *what, assay_reading reading)
{
    char name[64];
    if (reading.validity != ASSAY_VALID)
        return;
    snprintf(name, sizeof name, "%s %s", of, what);
    assay_monitor_count(monitor, name, reading.value);
}

static void count_device(assay_monitor *monitor, const char *id, const assay_device_state *state)
{
    count(monitor, id, "used_bytes", state->used_bytes);
    count(monitor, id, "utilisation", state->utilisation);
    count(monitor, id, "memory_utilisation", state->memory_utilisation);
    count(monitor, id, "processor_hertz", state->processor_hertz);
    count(monitor, id, "memory_hertz", state->memory_hertz);
    count(monitor, id, "temperature_celsius", state->temperature_celsius);
    count(monitor, id, "throttle", state->throttle);
    count(monitor, id, "power_watts", state->power_watts);
    count(monitor, id, "received_bytes_per_second", state->received_bytes_per_second);
    count(monitor, id, "sent_bytes_per_second", state->sent_bytes_per_second);
}

/* Enter the mean power of the processor over the window. */
static void count_processor(assay_monitor *monitor, const assay__meter_step *step)
{
    const size_t last = ASSAY__METER_SOURCES - 1;
    if (step->from == NULL || !step->sources[last].counted || step->to->ns <= step->from->ns)
        return;
    double joules = step->to->joules[last] - step->from->joules[last];
    count(monitor, "processor", "power_watts",
          assay_reading_of(joules / seconds_between(step->from, step->to)));
}

/* The ticks of the clock of spans at a time that is not long ago; 0 if the clock did not run yet.
 */
static uint64_t ticks_at(const assay_clock *clock, uint64_t ns)
{
    const uint64_t ticks =
        assay__clock_is_hardware(clock) ? assay__ticks() : assay__clock_ticks(clock);
    const double back = assay__clock_ticks_of_ns(clock, (double)(assay_meter_now_ns() - ns));
    return back < (double)ticks ? ticks - (uint64_t)back : 0;
}

/* ---- the observer ---------------------------------------------------------------------------- */

static void on_reading(void *context, assay_meter *meter, const assay__meter_step *step)
{
    assay_monitor *monitor = context;
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    for (size_t i = 0; i < step->device_count; i++) {
        char id[ASSAY__BOARD_LABEL];
        count_device(monitor, assay__board_label(i, step->in_order, id), &step->devices[i]);
    }
    count_processor(monitor, step);
    const assay__journal_header *header =
        step->from != NULL ? assay__monitor_journal(monitor) : NULL;
    assay__journal_view view;
    if (header == NULL || assay__journal_view_bytes(&view, header, header->total_bytes, "a monitor",
                                                    NULL) != ASSAY_OK)
        return;
    meter_operations(&(window){.state = state,
                               .view = &view,
                               .meter = meter,
                               .step = step,
                               .end_ticks = ticks_at(state->clock, step->to->ns),
                               .first = state->meter_is_new});
    state->meter_is_new = false;
    assay__journal_view_release(&view);
}

static void on_close(void *context)
{
    assay__monitor_state_of(context)->meter = NULL;
}

void assay__monitor_detach(assay__monitor_state *state)
{
    if (state->meter != NULL)
        assay__meter_forget(state->meter);
    state->meter = NULL;
}

assay_status assay_monitor_attach_meter(assay_monitor *monitor, assay_meter *meter)
{
    if (monitor == NULL || assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return ASSAY_OK;
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    assay__monitor_detach(state);
    if (meter == NULL)
        return ASSAY_OK;
    state->meter_is_new = true;
    const assay__meter_observer observer = {on_reading, on_close, monitor};
    assay_status status = assay__meter_observe(meter, &observer);
    if (status == ASSAY_OK)
        state->meter = meter;
    return status;
}
