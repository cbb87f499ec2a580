/* Adds lanes, events and open spans to a record. After a thread has ended, another thread may have
 * taken over its lane. Each event stores the thread it came from, and each such thread gets a lane
 * of its own in the record. Events that completed late may overlap their neighbours. They get lanes
 * of their own, so that the other events stay strictly nested. */
#include <stdio.h>
#include <stdlib.h>

#include "record/build.h"
#include "snapshot/merge.h"

typedef struct lane_context {
    assay__merge *merge;
    const assay__journal_view *view;
    const assay__node_map *nodes;
    const assay__lane *lane;
    uint32_t unit;      /* of the lane in the journal */
    size_t index;       /* in the journal's list of lanes */
    uint32_t main_lane; /* in the record */
} lane_context;

static double seconds_of(const lane_context *context, uint64_t ticks)
{
    return assay__journal_seconds_since(context->view, ticks, context->merge->origin_monotonic_ns);
}

/* The kind of a lane. An unknown kind, in a damaged journal, counts as a thread, because nearly all
 * lanes are threads. */
static assay_lane_kind kind_of_lane(const assay__lane *lane)
{
    bool known = lane->kind >= ASSAY_LANE_THREAD && lane->kind <= ASSAY_LANE_GPU_STREAM;
    return known ? (assay_lane_kind)lane->kind : ASSAY_LANE_THREAD;
}

static assay_status add_lane(const lane_context *context, int64_t thread, const char *suffix,
                             assay_lane_kind kind, bool ended, uint32_t *index)
{
    assay_record *record = context->merge->record;
    char name[64];
    snprintf(name, sizeof name, "%s%s", context->lane->name, suffix);
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

/* Find the record's lane for an event: that of this lane, or one for an earlier thread or for late
 * completions, which is added if it is missing. */
static assay_status lane_of_event(const lane_context *context, const assay__journal_event *event,
                                  uint32_t *index)
{
    bool late = (event->flags & ASSAY__EVENT_LATE) != 0;
    *index = context->main_lane;
    if (!late && event->thread == (uint32_t)context->lane->thread_id)
        return ASSAY_OK;
    const assay_record *record = context->merge->record;
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
    bool is_span = event->kind == ASSAY_EVENT_SPAN;
    if (!is_span && event->kind != ASSAY_EVENT_COUNTER)
        return ASSAY_OK;
    const assay__node_map *nodes = context->nodes;
    const int32_t *names = is_span ? nodes->operations : nodes->counters;
    if (event->node >= nodes->count || names[event->node] <= 0)
        return ASSAY_OK;
    if (is_span && event->end < event->start)
        return ASSAY_OK;
    assay_record_event entry = {
        .kind = (assay_event_kind)event->kind,
        .name = (uint32_t)names[event->node] - 1,
        .start_seconds = seconds_of(context, event->start),
    };
    if (is_span)
        entry.duration_seconds =
            (double)(event->end - event->start) * context->view->seconds_per_tick;
    else
        entry.value = assay__double_of(event->end);
    assay_status status = lane_of_event(context, event, &entry.lane);
    return status == ASSAY_OK ? assay_record_add_event(context->merge->record, &entry) : status;
}

/* Sort by start. If two spans start at the same time, the one that ends later encloses the other
 * and comes first. */
static int by_start(const void *left, const void *right)
{
    const assay__journal_event *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->kind != ASSAY_EVENT_SPAN || b->kind != ASSAY_EVENT_SPAN)
        return 0;
    return (a->end < b->end) - (a->end > b->end);
}

static assay_status add_events(const lane_context *context)
{
    uint64_t lost = 0;
    size_t room =
        assay__journal_read_events(context->view, context->unit, context->index, NULL, 0, &lost);
    if (room == 0)
        return ASSAY_OK;
    assay__journal_event *events = malloc(room * sizeof *events);
    if (events == NULL)
        return ASSAY_E_MEMORY;
    size_t count = assay__journal_read_events(context->view, context->unit, context->index, events,
                                              room, &lost);
    context->merge->record->integrity.dropped_events += lost;
    qsort(events, count, sizeof *events, by_start);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < count; i++)
        status = add_event(context, &events[i]);
    free(events);
    return status;
}

static assay_status add_open_spans(const lane_context *context)
{
    assay_record *record = context->merge->record;
    uint32_t depth = assay__journal_depth(context->view, context->unit, context->lane);
    for (uint32_t level = 1; level <= depth; level++) {
        uint32_t operation;
        if (!assay__journal_read_open(context->view, context->lane, level, &operation))
            break;
        assay_record_open_span span = {
            .operation =
                assay_record_text(record, assay__journal_operation_name(context->view, operation)),
            .lane = context->main_lane,
            .depth = (int32_t)level - 1,
            .start_seconds = seconds_of(context, assay__frame_start(&context->lane->frames[level])),
        };
        assay_status status =
            span.operation == NULL ? ASSAY_E_MEMORY : assay__record_add_open_span(record, &span);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

assay_status assay__merge_lane(assay__merge *merge, const assay__journal_view *view, uint32_t unit,
                               size_t index, const assay__lane *lane, const assay__node_map *nodes,
                               uint64_t spans)
{
    lane_context context = {merge, view, nodes, lane, unit, index, 0};
    assay_record_integrity *integrity = &merge->record->integrity;
    integrity->dropped_spans += lane->dropped_spans;
    integrity->mismatched_ends += lane->mismatched_ends;
    integrity->abandoned_spans += lane->abandoned_spans;
    bool ended = !merge->live || lane->state != ASSAY__LANE_LIVE;
    assay_status status =
        add_lane(&context, lane->thread_id, "", kind_of_lane(lane), ended, &context.main_lane);
    if (status != ASSAY_OK)
        return status;
    merge->record->lanes[context.main_lane].spans = spans;
    status = add_open_spans(&context);
    return status == ASSAY_OK ? add_events(&context) : status;
}
