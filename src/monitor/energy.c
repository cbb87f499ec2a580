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
 * counts.
 *
 * An operation may run on several threads, or streams, at the same time. Then its time in a window
 * is that in which at least one of them runs. The windows do not show how these times overlap. At
 * least, the operation ran as long as the lane that ran longest; at most, as long as all lanes
 * together. The figure takes the lanes to be independent of each other. Each node gets a part of
 * the figures of its operation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/monitor.h"
#include "base/grow.h"
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
    double seconds;
    double least, likely, most; /* of the time in which it ran */
    double busy_before, rest_before;
} division;

/* The share of one source's energy for an operation. `late` is by how many seconds the counter may
 * have been late at the begin of the window. */
static assay__journal_joules share_of(const assay__meter_source *source, double joules,
                                      const division *time, double late)
{
    const double most = source->limit_watts, rest = time->seconds - time->least;
    const double busy = time->most + fmin(time->busy_before, late);
    const double others = rest + fmin(time->rest_before, late);
    assay__journal_joules part = {.sum = joules * time->likely / time->seconds, .high = joules};
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

static void add(assay__journal_joules *total, assay__journal_joules part, double share)
{
    store(&total->sum, total->sum + share * part.sum);
    store(&total->low, total->low + share * part.low);
    store(&total->high, total->high + share * part.high);
}

static double load(const double *field)
{
    double value;
    __atomic_load(field, &value, __ATOMIC_RELAXED);
    return value;
}

/* A node that was busy for `busy` seconds of a window; 0 in the window after it ran. */
typedef struct busy_node {
    uint64_t path; /* the same for all nodes of an operation */
    int device;    /* the index of the GPU whose energy counts, or EVERY_DEVICE */
    uint32_t lane;
    bool runs;
    assay__journal_device *figures;
    double busy;
} busy_node;

static int by_operation(const void *left, const void *right)
{
    const busy_node *a = left, *b = right;
    if (a->path != b->path)
        return a->path < b->path ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

/* How the lanes of an operation together divide a window of `seconds`. The nodes are in the order
 * of their lanes. */
static division divide(const busy_node *nodes, size_t count, double seconds)
{
    division time = {.seconds = seconds, .rest_before = INFINITY};
    double idle = 1;
    for (size_t i = 0; i < count;) {
        const uint32_t lane = nodes[i].lane;
        double busy = 0;
        for (; i < count && nodes[i].lane == lane; i++) {
            busy += nodes[i].busy;
            time.busy_before += load(&nodes[i].figures->busy_seconds);
            if (nodes[i].figures->running != 0)
                time.rest_before = fmin(time.rest_before, load(&nodes[i].figures->rest_seconds));
        }
        time.most += busy;
        time.least = fmax(time.least, busy);
        idle *= seconds > 0 ? 1 - fmin(busy / seconds, 1) : 1;
    }
    time.likely = fmin(fmax(seconds * (1 - idle), fmin(time.least, seconds)), time.most);
    time.least = fmin(time.least, seconds);
    time.most = fmin(time.most, seconds);
    return time;
}

/* The part of a node in the figures of its operation, by its time in this window, or in the window
 * before if no node ran in this one. */
static double part_of(const busy_node *node, double all, double all_before)
{
    return all > 0 ? node->busy / all
                   : (all_before > 0 ? load(&node->figures->busy_seconds) / all_before : 0);
}

/* Add the energy of a window to the nodes of one operation. */
static void credit(const window *now, const busy_node *nodes, size_t count)
{
    const double tolerance = 1.05; /* the end of a window is not exactly that of its readings */
    const assay__meter_reading *to = now->step->to, *from = now->step->from;
    division time = divide(nodes, count, seconds_between(from, to));
    double longest = 0, all = 0, all_before = 0;
    for (size_t i = 0; i < count; i++) {
        longest = fmax(longest, nodes[i].busy);
        all += nodes[i].busy;
        all_before += load(&nodes[i].figures->busy_seconds);
    }
    if (longest > tolerance * time.seconds) {
        uint64_t back = (uint64_t)(longest * 1e9);
        from = assay__meter_reading_at(now->meter, to->ns > back ? to->ns - back : 0);
        time = divide(nodes, count, seconds_between(from, to));
        time.busy_before = 0;
        time.rest_before = INFINITY;
    }
    bool any = false;
    const int device = nodes->device;
    for (int i = 0; i < ASSAY__METER_SOURCES && time.seconds > 0; i++) {
        const assay__meter_source *source = &now->step->sources[i];
        if (!source->counted || ((to->silent | now->step->from->silent) >> i & 1) != 0 ||
            to->restarts[i] != from->restarts[i] || (device != EVERY_DEVICE && i != device))
            continue;
        const assay__journal_joules part =
            share_of(source, to->joules[i] - from->joules[i], &time,
                     assay__meter_late_seconds(now->meter, (size_t)i, from->ns));
        for (size_t k = 0; k < count; k++) {
            assay__journal_device *figures = nodes[k].figures;
            add(source->gpu ? &figures->gpu : &figures->cpu, part,
                part_of(&nodes[k], all, all_before));
            store(&figures->period_seconds, fmax(figures->period_seconds, source->period_seconds));
        }
        any = true;
    }
    for (size_t k = 0; k < count; k++) {
        assay__journal_device *figures = nodes[k].figures;
        const double busy = fmin(nodes[k].busy, time.seconds);
        if (any)
            store(&figures->metered_seconds, figures->metered_seconds + busy);
        store(&figures->busy_seconds, busy);
        store(&figures->rest_seconds, time.seconds - busy);
        __atomic_store_n(&figures->running, nodes[k].runs, __ATOMIC_RELAXED);
    }
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

/* Read for how long a node was busy in the window. False if it gets no energy. A node whose time
 * cannot be read now, because its span ends just now, or because it is being cleared, is left for
 * the next window. If its time is still less than it was then, a span that was open has been
 * abandoned, and its time will not come back. */
static bool read_busy(const window *now, uint32_t unit, const assay__lane *lane, assay__node *node,
                      busy_node *found)
{
    uint64_t pending, open;
    (void)assay__journal_add_pending(now->view, unit, node, &pending);
    assay__journal_device *figures = node->count > 0 ? assay__node_device(now->state, node) : NULL;
    if (figures == NULL || !read_open_ticks(now, unit, lane, node, &open))
        return false;
    const uint64_t before = figures->seen_ticks, all = node->sum + open;
    if (all < before) {
        if (figures->running == 0)
            __atomic_store_n(&figures->seen_ticks, all, __ATOMIC_RELAXED);
        __atomic_store_n(&figures->running, false, __ATOMIC_RELAXED);
        return false;
    }
    found->figures = figures;
    found->busy = (double)(all - before) * now->view->seconds_per_tick;
    found->runs = !now->first && all > before;
    __atomic_store_n(&figures->seen_ticks, all, __ATOMIC_RELAXED); /* readers copy it too */
    return found->runs || (!now->first && figures->running != 0);
}

/* A hash of the names on the way from the lane's root to a node. */
static uint64_t path_of(const window *now, const assay__node *node)
{
    uint64_t path = 14695981039346656037u;
    for (int levels = 0; node->parent != 0 && levels < ASSAY_LANE_FRAMES; levels++) {
        path = (path ^ node->operation) * 1099511628211u; /* as FNV-1a does with bytes */
        path ^= path >> 29;
        node = assay__journal_at(&now->state->journal, node->parent);
    }
    return path;
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

/* Find all nodes that get energy. The caller frees them; NULL if there are none. */
static busy_node *busy_nodes(const window *now, size_t *count)
{
    assay__lane lane;
    busy_node *list = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t unit = now->view->header.first_lane;
         assay__journal_read_lane(now->view, unit, &lane); unit = lane.next) {
        int device = device_of(&lane, now->step->device_count);
        assay__node node;
        for (uint32_t next = device == NO_DEVICE ? 0 : lane.first_node;
             next != 0 && assay__journal_read_node(now->view, next, &node); next = node.next) {
            busy_node found = {.device = device, .lane = unit};
            if (node.kind != ASSAY__NODE_SPAN || !read_busy(now, unit, &lane, &node, &found))
                continue;
            found.path = path_of(now, &node);
            if (assay__grow(&list, &capacity, *count + 1, sizeof *list))
                list[(*count)++] = found;
        }
    }
    return list;
}

static void meter_operations(const window *now)
{
    size_t count;
    busy_node *list = busy_nodes(now, &count);
    if (count > 0)
        qsort(list, count, sizeof *list, by_operation);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1;
             next < count && list[next].path == list[i].path && list[next].device == list[i].device;
             next++) {
        }
        credit(now, &list[i], next - i);
    }
    free(list);
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
