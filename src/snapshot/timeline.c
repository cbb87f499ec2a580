/* Lanes, events and open spans. A lane whose thread ended may have been taken over by another; its
 * events carry the thread they came from, and each such thread gets a lane of its own in the
 * record. Events that were completed late may overlap their neighbours; they stand in lanes of
 * their own, so that the others stay strictly nested. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/merge.h"

typedef struct lane_context {
    assay__gathering *gathering;
    const assay__journal_view *view;
    const assay__node_map *nodes;
    assay__lane_reading reading;
    size_t lane;
    uint32_t main_lane; /* in the record */
} lane_context;

static uint64_t spans_of_lane(const lane_context *context)
{
    uint64_t spans = 0;
    assay__node_reading node;
    uint32_t unit = context->reading.first_node;
    for (size_t i = 0; unit != 0 && i < context->nodes->count &&
                       assay__journal_read_node(context->view, unit, &node);
         i++) {
        if (node.kind == ASSAY__NODE_SPAN)
            spans += node.count;
        unit = node.next;
    }
    return spans;
}

static assay_status add_lane(const lane_context *context, int64_t thread, const char *suffix,
                             assay_lane_kind kind, bool ended, uint32_t *index)
{
    assay_record *record = context->gathering->record;
    char name[64];
    snprintf(name, sizeof name, "%s%s", context->reading.name, suffix);
    assay_record_lane lane = {
        .name = assay_record_text(record, name),
        .kind = kind,
        .process_id = context->view->header.process_id,
        .thread_id = thread,
        .ended = ended,
    };
    *index = (uint32_t)record->lane_count;
    return lane.name == NULL ? ASSAY_E_MEMORY : assay_record_add_lane(record, &lane);
}

/* The record's lane for an event: this lane's own, or one for an earlier thread or for late
 * completions. */
static assay_status lane_of_event(const lane_context *context, const assay__journal_event *event,
                                  uint32_t *index)
{
    bool late = (event->flags & ASSAY__EVENT_LATE) != 0;
    *index = context->main_lane;
    if (!late && event->thread == (uint32_t)context->reading.thread_id)
        return ASSAY_OK;
    const assay_record *record = context->gathering->record;
    assay_lane_kind kind = late ? ASSAY_LANE_TASK : ASSAY_LANE_THREAD;
    for (size_t i = context->main_lane + 1; i < record->lane_count; i++)
        if (record->lanes[i].thread_id == event->thread && record->lanes[i].kind == kind) {
            *index = (uint32_t)i;
            return ASSAY_OK;
        }
    return add_lane(context, event->thread, late ? " (late)" : "", kind, !late, index);
}

static assay_status add_event(const lane_context *context, const assay__journal_event *event)
{
    bool is_span = event->kind == ASSAY__EVENT_SPAN;
    if (!is_span && event->kind != ASSAY__EVENT_COUNTER)
        return ASSAY_OK;
    const assay__node_map *nodes = context->nodes;
    const int32_t *names = is_span ? nodes->operations : nodes->counters;
    if (event->node >= nodes->count || names[event->node] < 0)
        return ASSAY_OK;
    if (is_span && event->end < event->start)
        return ASSAY_OK;
    double start = assay__journal_monotonic_ns(context->view, event->start) -
                   (double)context->gathering->origin_monotonic_ns;
    assay_record_event entry = {
        .kind = is_span ? ASSAY_EVENT_SPAN : ASSAY_EVENT_COUNTER,
        .name = (uint32_t)names[event->node],
        .start_seconds = start * 1e-9,
    };
    if (is_span)
        entry.duration_seconds =
            (double)(event->end - event->start) * assay__journal_ns_per_tick(context->view) * 1e-9;
    else
        memcpy(&entry.value, &event->end, sizeof entry.value);
    assay_status status = lane_of_event(context, event, &entry.lane);
    return status == ASSAY_OK ? assay_record_add_event(context->gathering->record, &entry) : status;
}

/* By start; where two start together, the one that ends later encloses the other. */
static int by_start(const void *left, const void *right)
{
    const assay__journal_event *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->kind != ASSAY__EVENT_SPAN || b->kind != ASSAY__EVENT_SPAN)
        return 0;
    return (a->end < b->end) - (a->end > b->end);
}

static assay_status add_events(const lane_context *context)
{
    uint64_t lost = 0;
    size_t room = assay__journal_read_events(context->view, context->lane, NULL, 0, &lost);
    if (room == 0)
        return ASSAY_OK;
    assay__journal_event *events = malloc(room * sizeof *events);
    if (events == NULL)
        return ASSAY_E_MEMORY;
    size_t count = assay__journal_read_events(context->view, context->lane, events, room, &lost);
    context->gathering->record->integrity.dropped_events += lost;
    qsort(events, count, sizeof *events, by_start);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < count; i++)
        status = add_event(context, &events[i]);
    free(events);
    return status;
}

static assay_status add_open_spans(const lane_context *context)
{
    assay_record *record = context->gathering->record;
    for (uint32_t level = 1; level <= context->reading.depth; level++) {
        uint64_t start;
        uint32_t operation;
        if (!assay__journal_read_open(context->view, context->lane, level, &start, &operation))
            break;
        double since = assay__journal_monotonic_ns(context->view, start) -
                       (double)context->gathering->origin_monotonic_ns;
        assay_record_open_span span = {
            .operation =
                assay_record_text(record, assay__journal_operation_name(context->view, operation)),
            .lane = context->main_lane,
            .depth = (int32_t)level - 1,
            .start_seconds = since * 1e-9,
        };
        assay_status status =
            span.operation == NULL ? ASSAY_E_MEMORY : assay_record_add_open_span(record, &span);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

assay_status assay__gather_timeline(assay__gathering *gathering, const assay__journal_view *view,
                                    const assay__node_map *nodes)
{
    size_t lanes = assay__journal_lane_count(view);
    for (size_t lane = 0; lane < lanes; lane++) {
        lane_context context = {.gathering = gathering, .view = view, .nodes = nodes, .lane = lane};
        assay__journal_read_lane(view, lane, &context.reading);
        assay_record_integrity *integrity = &gathering->record->integrity;
        integrity->dropped_spans += context.reading.dropped_spans;
        integrity->mismatched_ends += context.reading.mismatched_ends;
        integrity->abandoned_spans += context.reading.abandoned_spans;
        bool ended = !gathering->live || context.reading.state != ASSAY__LANE_LIVE;
        assay_status status = add_lane(&context, context.reading.thread_id, "", ASSAY_LANE_THREAD,
                                       ended, &context.main_lane);
        if (status != ASSAY_OK)
            return status;
        gathering->record->lanes[context.main_lane].spans = spans_of_lane(&context);
        status = add_open_spans(&context);
        if (status == ASSAY_OK)
            status = add_events(&context);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}
