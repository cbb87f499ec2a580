/* Collects the slices of a trace, so that those of one lane are strictly nested. The begin and the
 * end of a slice are each rounded to whole nanoseconds, not the begin and the length: rounding is
 * monotone and so keeps spans nested. A slice that still reaches beyond its parent (by the last bit
 * of a double, or in a damaged record) is cut at the parent's end. */
#include "report/slices.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/operations.h"
#include "base/error.h"

int64_t assay__trace_ns(double seconds)
{
    return isfinite(seconds) && fabs(seconds) < 9e9 ? llround(seconds * 1e9) : 0;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add_slice(assay__slices *t, assay__slice added)
{
    added.end_ns = later(added.begin_ns, added.end_ns);
    t->end_ns = later(t->end_ns, added.end_ns);
    t->items[t->count++] = added;
}

/* Set the name, depth and category of an event that has a duration. Returns false if it has none,
 * or no name. */
static bool name_slice(const assay_record *record, const int32_t *depths,
                       const assay_record_event *event, assay__slice *named)
{
    const size_t i = event->name;
    switch (event->kind) {
    case ASSAY_EVENT_SPAN:
        if (i >= record->operation_count)
            return false;
        named->name = record->operations[i].name;
        named->depth = depths[i];
        named->category = "span";
        return true;
    case ASSAY_EVENT_FUNCTION:
        named->category = "sampled";
        named->name = i < record->python.function_count ? record->python.functions[i].name : NULL;
        return named->name != NULL;
    case ASSAY_EVENT_KERNEL:
        named->category = "kernel";
        named->name = i < record->gpu.kernel_count ? record->gpu.kernels[i].name : NULL;
        return named->name != NULL;
    case ASSAY_EVENT_COPY:
        named->category = "copy";
        named->name = i < record->gpu.copy_count ? record->gpu.copies[i].direction : NULL;
        return named->name != NULL;
    case ASSAY_EVENT_COUNTER:
        break;
    }
    return false;
}

static void collect(const assay_record *record, const int32_t *depths, assay__slices *t)
{
    for (size_t i = 0; i < record->event_count; i++) {
        const assay_record_event *event = &record->events[i];
        t->end_ns = later(t->end_ns, assay__trace_ns(event->start_seconds));
        assay__slice added = {.lane = event->lane,
                              .begin_ns = assay__trace_ns(event->start_seconds),
                              .end_ns =
                                  assay__trace_ns(event->start_seconds + event->duration_seconds),
                              .order = i};
        if (event->lane < record->lane_count && name_slice(record, depths, event, &added))
            add_slice(t, added);
    }
    if (record->has_process && record->process.wall_seconds.validity == ASSAY_VALID)
        t->end_ns = later(t->end_ns, assay__trace_ns(record->process.wall_seconds.value));
    for (size_t i = 0; i < record->open_span_count; i++)
        t->end_ns = later(t->end_ns, assay__trace_ns(record->open_spans[i].start_seconds));
    for (size_t i = 0; i < record->open_span_count; i++) {
        const assay_record_open_span *span = &record->open_spans[i];
        if (span->lane < record->lane_count)
            add_slice(t, (assay__slice){.name = span->operation,
                                        .lane = span->lane,
                                        .depth = span->depth,
                                        .begin_ns = assay__trace_ns(span->start_seconds),
                                        .end_ns = t->end_ns,
                                        .category = "span",
                                        .open = true});
    }
}

/* Sort by lane, then outer slices before inner ones. */
static int stacking_order(const void *left, const void *right)
{
    const assay__slice *a = left, *b = right;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Cut slices that reach beyond their parent. `stack` holds the ends of the enclosing slices. */
static void enforce_nesting(assay__slices *t, int64_t *stack)
{
    size_t used = 0;
    for (size_t i = 0; i < t->count; i++) {
        assay__slice *s = &t->items[i];
        if (i > 0 && s->lane != t->items[i - 1].lane)
            used = 0;
        while (used > 0 && stack[used - 1] <= s->begin_ns)
            used--;
        if (used > 0 && s->end_ns > stack[used - 1])
            s->end_ns = stack[used - 1];
        stack[used++] = s->end_ns;
    }
}

assay_status assay__slices_collect(const assay_record *record, assay_error *error,
                                   assay__slices *slices)
{
    size_t most = record->event_count + record->open_span_count;
    *slices = (assay__slices){.items = calloc(most + 1, sizeof *slices->items)};
    int32_t *depths = assay__operation_depths(record);
    int64_t *stack = calloc(most + 1, sizeof *stack);
    bool whole = slices->items != NULL && depths != NULL && stack != NULL;
    if (whole) {
        collect(record, depths, slices);
        qsort(slices->items, slices->count, sizeof *slices->items, stacking_order);
        enforce_nesting(slices, stack);
    } else {
        assay__slices_release(slices);
    }
    free(stack);
    free(depths);
    return whole
               ? ASSAY_OK
               : assay__fail(error, ASSAY_E_MEMORY, "out of memory for a trace of %zu spans", most);
}

void assay__slices_release(assay__slices *slices)
{
    free(slices->items);
    *slices = (assay__slices){0};
}
