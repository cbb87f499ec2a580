/* Checks the rules that every record obeys. The writer and the reader both call this check, so that
 * the writer never writes a record that the reader would refuse. */
#include "record/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "record/fields.h"

typedef struct checker {
    const assay_record *record;
    const char *source;
    assay_status status; /* returned on a violation */
    assay_error *error;
} checker;

ASSAY_PRINTF(2, 3)
static assay_status violated(const checker *check, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bool named = check->source != NULL;
    return assay__fail(check->error, check->status, "%s%s%s", named ? check->source : "",
                       named ? ": " : "", text);
}

static assay_status check_operation(const checker *check, size_t i)
{
    const assay_record_operation *it = &check->record->operations[i];
    if (it->name == NULL)
        return violated(check, "operations[%zu].name: missing", i);
    if (it->parent < -1 || (it->parent >= 0 && (size_t)it->parent >= i))
        return violated(check, "operations[%zu].parent: %d is not an earlier operation", i,
                        it->parent);
    for (size_t k = 1; k < it->bucket_count; k++)
        if (!(it->buckets[k - 1].seconds < it->buckets[k].seconds))
            return violated(check, "operations[%zu].buckets[%zu]: does not ascend", i, k);
    return ASSAY_OK;
}

static assay_status check_event(const checker *check, size_t i)
{
    const assay_record *record = check->record;
    const assay_record_event *it = &record->events[i];
    if (assay__event_kind_name(it->kind) == NULL)
        return violated(check, "events[%zu]: %d is no kind of event", i, (int)it->kind);
    const struct {
        const char *what;
        size_t count;
    } named[] = {[ASSAY_EVENT_SPAN] = {"operation", record->operation_count},
                 [ASSAY_EVENT_COUNTER] = {"counter", record->counter_count},
                 [ASSAY_EVENT_FUNCTION] = {"function", record->python.function_count},
                 [ASSAY_EVENT_KERNEL] = {"kernel", record->gpu.kernel_count},
                 [ASSAY_EVENT_COPY] = {"copy", record->gpu.copy_count}};
    if (it->name >= named[it->kind].count)
        return violated(check, "events[%zu]: there is no %s %u", i, named[it->kind].what, it->name);
    if (it->lane >= record->lane_count)
        return violated(check, "events[%zu]: there is no lane %u", i, it->lane);
    return ASSAY_OK;
}

static assay_status check_open_span(const checker *check, size_t i)
{
    const assay_record_open_span *it = &check->record->open_spans[i];
    if (it->operation == NULL)
        return violated(check, "open_spans[%zu].operation: missing", i);
    if (it->depth < 0)
        return violated(check, "open_spans[%zu].depth: %d is negative", i, it->depth);
    if (it->lane >= check->record->lane_count)
        return violated(check, "open_spans[%zu].lane: there is no lane %u", i, it->lane);
    return ASSAY_OK;
}

static assay_status check_metric(const checker *check, size_t i)
{
    const assay_record_metric *it = &check->record->metrics[i];
    if (it->operation == NULL)
        return violated(check, "metrics[%zu].operation: missing", i);
    if (it->depth < 0)
        return violated(check, "metrics[%zu].depth: %d is negative", i, it->depth);
    return ASSAY_OK;
}

static assay_status check_counter(const checker *check, size_t i)
{
    if (check->record->counters[i].name == NULL)
        return violated(check, "counters[%zu].name: missing", i);
    return ASSAY_OK;
}

static assay_status check_lane(const checker *check, size_t i)
{
    if (assay__lane_kind_name(check->record->lanes[i].kind) == NULL)
        return violated(check, "lanes[%zu].kind: %d is no kind of lane", i,
                        (int)check->record->lanes[i].kind);
    return ASSAY_OK;
}

static assay_status check_subject(const checker *check, size_t i)
{
    const assay_record_subject *it = &check->record->subjects[i];
    if (it->name == NULL)
        return violated(check, "subjects[%zu].name: missing", i);
    if (it->sample_count > 0 && it->samples_seconds == NULL)
        return violated(check, "subjects[%zu].samples_seconds: missing", i);
    for (size_t k = 0; k < it->measure_count; k++)
        if (it->measures[k].metric == NULL || it->measures[k].sample_count != it->sample_count)
            return violated(check, "subjects[%zu].measures[%zu]: %s", i, k,
                            it->measures[k].metric == NULL ? "no metric"
                                                           : "not one for each sample");
    if (it->look_count > ASSAY_RECORD_MAX_LOOKS)
        return violated(check, "subjects[%zu].look_pairs: more than %d looks", i,
                        ASSAY_RECORD_MAX_LOOKS);
    for (size_t k = 0; k < it->look_count; k++)
        if (!(it->look_pairs[k] > (k > 0 ? it->look_pairs[k - 1] : 0)) ||
            !(it->look_spent[k] >= (k > 0 ? it->look_spent[k - 1] : 0)) || it->look_spent[k] > 1)
            return violated(check, "subjects[%zu].look_pairs[%zu]: does not ascend", i, k);
    for (size_t k = 1; it->rounds != NULL && k < it->sample_count; k++)
        if (it->rounds[k - 1] >= it->rounds[k])
            return violated(check, "subjects[%zu].rounds[%zu]: does not ascend", i, k);
    return ASSAY_OK;
}

static assay_status check_comparison(const checker *check, size_t i)
{
    const assay_record_comparison *it = &check->record->comparisons[i];
    if (it->baseline == NULL || it->candidate == NULL)
        return violated(check, "comparisons[%zu].%s: missing", i,
                        it->baseline == NULL ? "baseline" : "candidate");
    if (assay_verdict_text(it->verdict) == NULL)
        return violated(check, "comparisons[%zu].verdict: %d is no verdict", i, (int)it->verdict);
    return ASSAY_OK;
}

static assay_status check_device(const checker *check, size_t i)
{
    if (check->record->devices[i].id == NULL)
        return violated(check, "devices[%zu].id: missing", i);
    return ASSAY_OK;
}

static assay_status check_function(const checker *check, size_t i)
{
    const assay_record_code *it = &check->record->python.functions[i];
    if (it->name == NULL || it->file == NULL)
        return violated(check, "python.functions[%zu]: no name or file", i);
    return ASSAY_OK;
}

static assay_status check_line(const checker *check, size_t i)
{
    const assay_record_code *it = &check->record->python.lines[i];
    if (it->name == NULL || it->file == NULL)
        return violated(check, "python.lines[%zu]: no name or file", i);
    return ASSAY_OK;
}

static assay_status check_allocation(const checker *check, size_t i)
{
    const assay_record_allocation *it = &check->record->python.allocations[i];
    if (it->name == NULL || it->file == NULL)
        return violated(check, "python.allocations[%zu]: no name or file", i);
    return ASSAY_OK;
}

static assay_status check_kernel(const checker *check, size_t i)
{
    if (check->record->gpu.kernels[i].name == NULL)
        return violated(check, "gpu.kernels[%zu].name: missing", i);
    return ASSAY_OK;
}

static assay_status check_copy(const checker *check, size_t i)
{
    if (check->record->gpu.copies[i].direction == NULL)
        return violated(check, "gpu.copies[%zu].direction: missing", i);
    return ASSAY_OK;
}

static assay_status check_idle(const checker *check, size_t i)
{
    if (check->record->gpu.idle[i].cause == NULL)
        return violated(check, "gpu.idle[%zu].cause: missing", i);
    return ASSAY_OK;
}

static assay_status check_model(const checker *check, size_t i)
{
    const assay_record_model *it = &check->record->models[i];
    if (it->name == NULL)
        return violated(check, "models[%zu].name: missing", i);
    for (size_t k = 0; k < i; k++)
        if (strcmp(check->record->models[k].name, it->name) == 0)
            return violated(check, "models[%zu].name: '%.100s' is the name of another one", i,
                            it->name);
    for (size_t k = 0; k < it->flop_count; k++)
        if (it->flops[k].component == NULL || it->flops[k].convention == NULL)
            return violated(check, "models[%zu].flops[%zu]: no component or convention", i, k);
    return ASSAY_OK;
}

static assay_status check_figure(const checker *check, size_t i)
{
    if (check->record->figures[i].name == NULL)
        return violated(check, "figures[%zu].name: missing", i);
    return ASSAY_OK;
}

static assay_status check_series(const checker *check, size_t i)
{
    const assay_record_series *it = &check->record->series[i];
    if (it->name == NULL)
        return violated(check, "series[%zu].name: missing", i);
    if (it->count > 0 && it->values == NULL)
        return violated(check, "series[%zu].values: missing", i);
    return ASSAY_OK;
}

static assay_status check_scaling(const checker *check, size_t i)
{
    const assay_record_scaling *it = &check->record->scalings[i];
    if (it->name == NULL || it->parameter == NULL)
        return violated(check, "scalings[%zu].%s: missing", i,
                        it->name == NULL ? "name" : "parameter");
    return ASSAY_OK;
}

static assay_status check_difference(const checker *check, size_t i)
{
    if (check->record->differences[i].what == NULL)
        return violated(check, "differences[%zu].what: missing", i);
    return ASSAY_OK;
}

assay_status assay__record_check(const assay_record *record, const char *source,
                                 assay_status status, assay_error *error)
{
    const checker check = {record, source, status, error};
    const struct {
        size_t count;
        assay_status (*one)(const checker *, size_t);
    } parts[] = {
        {record->operation_count, check_operation},
        {record->metric_count, check_metric},
        {record->counter_count, check_counter},
        {record->lane_count, check_lane},
        {record->event_count, check_event},
        {record->open_span_count, check_open_span},
        {record->subject_count, check_subject},
        {record->comparison_count, check_comparison},
        {record->difference_count, check_difference},
        {record->device_count, check_device},
        {record->model_count, check_model},
        {record->figure_count, check_figure},
        {record->series_count, check_series},
        {record->scaling_count, check_scaling},
        {record->python.function_count, check_function},
        {record->python.line_count, check_line},
        {record->python.allocation_count, check_allocation},
        {record->gpu.kernel_count, check_kernel},
        {record->gpu.copy_count, check_copy},
        {record->gpu.idle_count, check_idle},
    };
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        for (size_t i = 0; i < parts[part].count; i++) {
            assay_status found = parts[part].one(&check, i);
            if (found != ASSAY_OK)
                return found;
        }
    return ASSAY_OK;
}
