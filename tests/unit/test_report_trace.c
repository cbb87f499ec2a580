/* The Chrome trace, parsed back: slices are nested whatever the record says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "assay/record.h"
#include "assay/report.h"
#include "record/build.h"

static uint32_t add_operation(assay_record *record, const char *name, int32_t parent)
{
    assay_record_operation operation;
    assay_record_operation_init(&operation);
    operation.name = name;
    operation.parent = parent;
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
    return (uint32_t)record->operation_count - 1;
}

static uint32_t add_lane(assay_record *record, const char *name, int64_t process, int64_t thread)
{
    assay_record_lane lane = {
        .name = name, .kind = ASSAY_LANE_THREAD, .process_id = process, .thread_id = thread};
    assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    return (uint32_t)record->lane_count - 1;
}

static void add_span(assay_record *record, uint32_t operation, uint32_t lane, double start,
                     double end)
{
    assay_record_event event = {.kind = ASSAY_EVENT_SPAN,
                                .name = operation,
                                .lane = lane,
                                .start_seconds = start,
                                .duration_seconds = end - start};
    assert_int_equal(assay_record_add_event(record, &event), ASSAY_OK);
}

/* The traceEvents of a record; caller drops the reference. */
static json_t *trace_of(const assay_record *record)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assay_error error = {0};
    assert_int_equal(assay_report_print(record, "trace", stream, &error), ASSAY_OK);
    assert_int_equal(fclose(stream), 0);
    json_error_t where;
    json_t *root = json_loadb(text, length, 0, &where);
    if (root == NULL)
        fail_msg("%s in %s", where.text, text);
    json_t *events = json_incref(json_object_get(root, "traceEvents"));
    json_decref(root);
    free(text);
    assert_true(json_is_array(events));
    return events;
}

static double number(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

static const char *text(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

static int64_t nanoseconds(double microseconds)
{
    return llround(microseconds * 1e3);
}

/* Events of one tid come outer before inner; each must lie within the one around it. */
static void assert_nested(const json_t *events)
{
    enum { MAX_DEPTH = 64 };
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *first = json_array_get(events, i);
        if (strcmp(text(first, "ph"), "X") != 0)
            continue;
        int64_t stack[MAX_DEPTH], begin_before = INT64_MIN;
        size_t used = 0;
        for (size_t j = 0; j < json_array_size(events); j++) {
            const json_t *event = json_array_get(events, j);
            if (strcmp(text(event, "ph"), "X") != 0 ||
                number(event, "tid") != number(first, "tid") ||
                number(event, "pid") != number(first, "pid"))
                continue;
            int64_t begin = nanoseconds(number(event, "ts"));
            int64_t end = begin + nanoseconds(number(event, "dur"));
            assert_true(begin >= begin_before && end >= begin);
            begin_before = begin;
            while (used > 0 && stack[used - 1] <= begin)
                used--;
            assert_true(used == 0 || end <= stack[used - 1]);
            assert_true(used < MAX_DEPTH);
            stack[used++] = end;
        }
    }
}

static const json_t *find(const json_t *events, const char *phase, const char *name)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (strcmp(text(event, "ph"), phase) == 0 && strcmp(text(event, "name"), name) == 0)
            return event;
    }
    return NULL;
}

static assay_record *new_record(void)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    return record;
}

static void empty_record_gives_a_valid_empty_trace(void **state)
{
    (void)state;
    assay_record *record = new_record();
    json_t *events = trace_of(record);
    assert_int_equal(json_array_size(events), 0);
    json_decref(events);
    assay_record_free(record);
}

/* A journal lists spans as they end, so children come before parents. */
static void times_are_microseconds_with_decimals(void **state)
{
    (void)state;
    assay_record *record = new_record();
    uint32_t outer = add_operation(record, "outer", -1), inner = add_operation(record, "inner", 0);
    uint32_t lane = add_lane(record, "main", 7, 8);
    add_span(record, inner, lane, 1000.000000002, 1000.000000004);
    add_span(record, outer, lane, 1000.000000001, 1000.000001001);
    json_t *events = trace_of(record);
    const json_t *span = find(events, "X", "outer");
    assert_non_null(span);
    assert_true(nanoseconds(number(span, "ts")) == 1000000000001);
    assert_true(nanoseconds(number(span, "dur")) == 1000);
    assert_true(number(span, "pid") == 7 && number(span, "tid") == 8);
    span = find(events, "X", "inner");
    assert_true(nanoseconds(number(span, "dur")) == 2);
    assert_nested(events);
    json_decref(events);
    assay_record_free(record);
}

/* Durations rounded on their own would stick out of their parents by a nanosecond. */
static void rounding_keeps_spans_nested(void **state)
{
    (void)state;
    assay_record *record = new_record();
    uint32_t outer = add_operation(record, "outer", -1), inner = add_operation(record, "inner", 0);
    uint32_t lane = add_lane(record, "main", 1, 1);
    for (int i = 0; i < 2000; i++) {
        double start = 3600 + i * 1e-6 + 0.49e-9, end = start + 1.3e-9 * (1 + i % 700);
        add_span(record, inner, lane, start + 0.3e-9, end);
        add_span(record, outer, lane, start, end);
    }
    json_t *events = trace_of(record);
    assert_nested(events);
    json_decref(events);
    assay_record_free(record);
}

static void overlapping_spans_of_a_damaged_record_are_cut(void **state)
{
    (void)state;
    assay_record *record = new_record();
    uint32_t a = add_operation(record, "a", -1), b = add_operation(record, "b", -1);
    uint32_t lane = add_lane(record, "main", 1, 1);
    add_span(record, a, lane, 1.0, 2.0);
    add_span(record, b, lane, 1.5, 2.5);
    add_span(record, b, lane, 1.7, NAN);
    add_span(record, a, lane, 5.0, 4.0);
    add_span(record, a, lane, 1e300, 1e301);
    json_t *events = trace_of(record);
    assert_nested(events);
    assert_true(nanoseconds(number(find(events, "X", "b"), "dur")) == 500000000);
    json_decref(events);
    assay_record_free(record);
}

/* Two monitors on one thread need not nest with each other. */
static void lanes_that_share_a_thread_get_their_own_tid(void **state)
{
    (void)state;
    assay_record *record = new_record();
    uint32_t a = add_operation(record, "a", -1), b = add_operation(record, "b", -1);
    uint32_t first = add_lane(record, "main", 1, 42), second = add_lane(record, "main", 1, 42);
    uint32_t other = add_lane(record, "worker", 2, 42);
    add_span(record, a, first, 1.0, 2.0);
    add_span(record, b, second, 1.5, 2.5);
    add_span(record, b, other, 1.5, 2.5);
    json_t *events = trace_of(record);
    assert_nested(events);
    const json_t *span = find(events, "X", "b");
    assert_true(number(find(events, "X", "a"), "tid") == 42);
    assert_true(number(span, "tid") != 42 && nanoseconds(number(span, "dur")) == 1000000000);
    json_decref(events);
    assay_record_free(record);
}

static void open_spans_reach_to_the_end(void **state)
{
    (void)state;
    assay_record *record = new_record();
    uint32_t done = add_operation(record, "done", -1);
    uint32_t lane = add_lane(record, "main", 1, 1), other = add_lane(record, "worker", 1, 2);
    add_span(record, done, lane, 3.0, 4.0);
    assay_record_open_span outer = {"outer", other, 0, 1.0, {0}};
    assay_record_open_span inner = {"inner", other, 1, 2.0, {0}};
    assert_int_equal(assay__record_add_open_span(record, &outer), ASSAY_OK);
    assert_int_equal(assay__record_add_open_span(record, &inner), ASSAY_OK);
    json_t *events = trace_of(record);
    const json_t *span = find(events, "X", "inner");
    assert_true(json_is_true(json_object_get(json_object_get(span, "args"), "open")));
    assert_true(nanoseconds(number(span, "ts") + number(span, "dur")) == 4000000000);
    assert_nested(events);
    json_decref(events);
    assay_record_free(record);
}

static void counters_and_names_are_there(void **state)
{
    (void)state;
    assay_record *record = new_record();
    uint32_t lane = add_lane(record, "quote \" slash \\", 11, 12);
    assay_record_counter counter = {.name = "loss", .count = 2};
    assert_int_equal(assay_record_add_counter(record, &counter), ASSAY_OK);
    assay_record_event event = {
        .kind = ASSAY_EVENT_COUNTER, .lane = lane, .start_seconds = 0.25, .value = -1.5};
    assert_int_equal(assay_record_add_event(record, &event), ASSAY_OK);
    event.value = NAN; /* no number in JSON: left out */
    assert_int_equal(assay_record_add_event(record, &event), ASSAY_OK);
    json_t *events = trace_of(record);
    const json_t *sample = find(events, "C", "loss");
    assert_true(number(sample, "ts") == 250000 && number(sample, "pid") == 11);
    assert_true(number(json_object_get(sample, "args"), "value") == -1.5);
    const json_t *name = find(events, "M", "thread_name");
    assert_string_equal(text(json_object_get(name, "args"), "name"), "quote \" slash \\");
    assert_non_null(find(events, "M", "process_name"));
    assert_non_null(find(events, "M", "thread_sort_index"));
    size_t samples = 0;
    for (size_t i = 0; i < json_array_size(events); i++)
        samples += strcmp(text(json_array_get(events, i), "ph"), "C") == 0;
    assert_int_equal(samples, 1);
    json_decref(events);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_record_gives_a_valid_empty_trace),
        cmocka_unit_test(times_are_microseconds_with_decimals),
        cmocka_unit_test(rounding_keeps_spans_nested),
        cmocka_unit_test(overlapping_spans_of_a_damaged_record_are_cut),
        cmocka_unit_test(lanes_that_share_a_thread_get_their_own_tid),
        cmocka_unit_test(open_spans_reach_to_the_end),
        cmocka_unit_test(counters_and_names_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
