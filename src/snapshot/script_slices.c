/* Turns samples of stacks into slices of a flame chart. Between two events of a thread, its stack
 * is assumed to stay the same. If a function is at the same depth below the same callers in both
 * events, its slice continues. The slices of the other functions end, and those of new functions
 * begin. */
#include <stdio.h>
#include <stdlib.h>

#include "assay/record_build.h"
#include "base/grow.h"
#include "snapshot/script_merge.h"

enum { MAX_DEPTH = ASSAY__SCRIPT_MAX_DEPTH };

/* A thread's stack between two of its events. */
typedef struct chart {
    uint32_t thread, lane;
    assay__script_slice open[MAX_DEPTH];
    size_t depth;
} chart;

/* End the open slices at and below `depth`. */
static assay_status close_down_to(assay__script_merge *m, chart *c, size_t depth, uint64_t time_ns)
{
    while (c->depth > depth) {
        c->depth--;
        c->open[c->depth].end_ns = time_ns;
        if (!assay__grow(&m->slices, &m->slice_capacity, m->slice_count + 1, sizeof *m->slices))
            return ASSAY_E_MEMORY;
        m->slices[m->slice_count++] = c->open[c->depth];
    }
    return ASSAY_OK;
}

/* Write the functions of a stack, the outermost first. Returns their number. */
static size_t path_of(const assay__script_view *view, const int32_t *functions, uint32_t place,
                      uint32_t path[MAX_DEPTH])
{
    uint32_t reversed[MAX_DEPTH];
    size_t depth = 0;
    while (place != 0 && depth < MAX_DEPTH) {
        const assay__script_node *node = assay__script_at(view, place);
        reversed[depth++] = (uint32_t)functions[assay__script_index(&view->nodes, place)];
        place = node->parent;
    }
    for (size_t i = 0; i < depth; i++)
        path[i] = reversed[depth - 1 - i];
    return depth;
}

static assay_status add_event(assay__script_merge *m, chart *c, const assay__script_view *view,
                              const int32_t *functions, const assay__script_event *event)
{
    uint32_t path[MAX_DEPTH];
    size_t depth = path_of(view, functions, event->node, path), same = 0;
    while (same < depth && same < c->depth && c->open[same].function == path[same])
        same++;
    assay_status status = close_down_to(m, c, same, event->time_ns);
    for (; c->depth < depth; c->depth++)
        c->open[c->depth] = (assay__script_slice){.function = path[c->depth],
                                                  .lane = c->lane,
                                                  .depth = (uint32_t)c->depth,
                                                  .begin_ns = event->time_ns};
    return status;
}

static assay_status add_lane(assay__script_merge *m, const assay__script_view *view, chart *c)
{
    char name[64];
    const assay__script_thread *thread = assay__script_at(view, c->thread);
    bool is_main = thread->thread_id == view->header->process_id;
    snprintf(name, sizeof name, is_main ? "Python, main thread" : "Python, thread %lld",
             (long long)thread->thread_id);
    assay_record_lane lane = {.name = assay_record_text(m->record, name),
                              .kind = ASSAY_LANE_THREAD,
                              .process_id = view->header->process_id,
                              .thread_id = thread->thread_id,
                              .ended = true};
    c->lane = (uint32_t)m->record->lane_count;
    return lane.name != NULL ? assay_record_add_lane(m->record, &lane) : ASSAY_E_MEMORY;
}

/* Add the events of one thread. */
static assay_status add_thread(assay__script_merge *m, const assay__script_view *view,
                               const int32_t *functions, const assay__script_event *const *events,
                               size_t count)
{
    chart c = {.thread = events[0]->thread}; /* 8 KiB */
    assay_status status = add_lane(m, view, &c);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = add_event(m, &c, view, functions, events[i]);
    return status == ASSAY_OK ? close_down_to(m, &c, 0, view->header->end_ns) : status;
}

/* Sort by thread, and then by the order in the file. */
static int by_thread(const void *left, const void *right)
{
    const assay__script_event *a = *(const assay__script_event *const *)left,
                              *b = *(const assay__script_event *const *)right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a < b ? -1 : a > b;
}

assay_status assay__script_merge_events(assay__script_merge *m, const assay__script_view *view,
                                        const int32_t *functions)
{
    size_t count = view->events.count;
    const assay__script_event **events = malloc((count + 1) * sizeof *events);
    assay_status status = events != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    m->record->integrity.dropped_events += view->header->dropped_events;
    for (size_t i = 0; i < count && events != NULL; i++)
        events[i] = assay__script_at(view, view->events.places[i]);
    if (count > 0 && events != NULL)
        qsort(events, count, sizeof *events, by_thread);
    for (size_t i = 0, next; i < count && status == ASSAY_OK; i = next) {
        for (next = i + 1; next < count && events[next]->thread == events[i]->thread;)
            next++;
        status = add_thread(m, view, functions, &events[i], next - i);
    }
    free(events);
    return status;
}

static int in_order(const void *left, const void *right)
{
    const assay__script_slice *a = left, *b = right;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

assay_status assay__script_put_events(assay__script_merge *m)
{
    assay_status status = ASSAY_OK;
    if (m->slice_count > 0)
        qsort(m->slices, m->slice_count, sizeof *m->slices, in_order);
    for (size_t i = 0; i < m->slice_count && status == ASSAY_OK; i++) {
        const assay__script_slice *slice = &m->slices[i];
        assay_record_event event = {
            .kind = ASSAY_EVENT_FUNCTION,
            .name = m->functions.items[slice->function].rank,
            .lane = slice->lane,
            .start_seconds = (double)(int64_t)(slice->begin_ns - m->origin_ns) / 1e9,
            .duration_seconds = (double)(slice->end_ns - slice->begin_ns) / 1e9};
        if (event.name < m->record->python.function_count)
            status = assay_record_add_event(m->record, &event);
    }
    return status;
}
