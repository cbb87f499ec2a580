/* A record survives its JSON form field by field: full, empty, and with every reading missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "record/build.h"
#include "record/decode.h"
#include "record/fields.h"
#include "tests/unit/record_same.h"
#include "tests/unit/record_sample.h"

static void test_a_full_record_round_trips(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    check_round_trip(record, ASSAY_RECORD_EVENTS);
    check_round_trip(record, ASSAY_RECORD_EVENTS | ASSAY_RECORD_COMPACT);
    assay_record_free(record);
}

static void test_an_empty_record_round_trips(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_int_equal(record->struct_size, sizeof *record);
    assert_int_equal(record->process.wall_seconds.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(record->clock.cost_ns.validity, ASSAY_NOT_MEASURED);
    check_round_trip(record, ASSAY_RECORD_EVENTS);
    record->has_process = true;
    check_round_trip(record, 0);
    assay_record_free(record);
}

static void miss(assay_reading *first, size_t bytes, int *turn)
{
    for (size_t i = 0; i < bytes / sizeof *first; i++)
        first[i] = assay_reading_missing(
            (assay_validity)(ASSAY_NOT_MEASURED + (*turn)++ % ASSAY_NOT_ENOUGH_DATA));
}

#define MISS(structure, item, first, last)                                                         \
    miss(&(item)->first,                                                                           \
         offsetof(structure, last) + sizeof(assay_reading) - offsetof(structure, first), &turn)

static void test_every_missing_reading_keeps_its_reason(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    for (int start = 0; start < ASSAY_NOT_ENOUGH_DATA; start++) {
        int turn = start;
        MISS(assay_record_process, &record->process, wall_seconds, observer_seconds);
        MISS(assay_record_operation, &record->operations[0], min_seconds, p999_seconds);
        MISS(assay_record_operation, &record->operations[0], rss_delta_bytes, gpu_peak_bytes);
        MISS(assay_record_metric, &record->metrics[0], cpu_delta_bytes, gpu_peak_bytes);
        MISS(assay_record_clock, &record->clock, frequency_hz, cost_ns);
        MISS(assay_record_subject, &record->subjects[0], mean_seconds, peak_rss_bytes);
        MISS(assay_record_comparison, &record->comparisons[0], ratio, high);
        check_round_trip(record, ASSAY_RECORD_EVENTS);
    }
    assay_record_free(record);
}

static void test_the_contract_of_run(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    record->process.heap_peak_bytes = assay_reading_missing(ASSAY_NOT_MEASURED);
    char *text = printed(record, 0);
    assert_non_null(strstr(text, "\n  \"wall_seconds\": 12.345678901,\n"));
    assert_non_null(strstr(text, "\n  \"user_seconds\": 1.5,\n"));
    assert_non_null(strstr(text, "\n  \"sys_seconds\": 0.25,\n"));
    assert_non_null(strstr(text, "\n  \"peak_rss_bytes\": 104857600,\n"));
    assert_non_null(strstr(text, "\n  \"tree_peak_rss_bytes\": 204857600,\n"));
    assert_non_null(strstr(text, "\n  \"heap_peak_bytes\": null,\n"));
    assert_non_null(strstr(text, "\n  \"heap_allocations\": 42,\n"));
    assert_non_null(
        strstr(text, "\n  \"unavailable\": {\n    \"heap_peak_bytes\": \"not measured\"\n"));
    assert_null(strstr(text, "\"events\""));
    free(text);
    assay_record_free(record);
}

static void test_a_killed_process_has_no_exit_status(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    record->process.signal = 9;
    char *text = printed(record, ASSAY_RECORD_COMPACT);
    assert_non_null(strstr(text, "\"exit_status\":null,\"signal\":9,"));
    free(text);
    check_round_trip(record, ASSAY_RECORD_EVENTS);
    assay_record_free(record);
}

static void test_figures_that_are_not_finite(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    record->counters[0].last = NAN;
    record->events[1].value = NAN;
    check_round_trip(record, ASSAY_RECORD_EVENTS);
    record->counters[0].max = INFINITY;
    record->operations[0].mean_seconds = assay_reading_of(NAN);
    record->operations[0].rss_peak_bytes = assay_reading_of(INFINITY);
    char *text = printed(record, ASSAY_RECORD_EVENTS);
    assay_record *back = NULL;
    assert_int_equal(assay__record_parse(text, strlen(text), NULL, &back), ASSAY_OK);
    assert_true(isnan(back->counters[0].max));
    assert_int_equal(back->operations[0].mean_seconds.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(back->operations[0].rss_peak_bytes.validity, ASSAY_NOT_MEASURED);
    assay_record_free(back);
    free(text);
    assay_record_free(record);
}

static void test_counts_beyond_signed_integers(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    record->operations[0].count = UINT64_MAX;
    char *text = printed(record, 0);
    assay_record *back = NULL;
    assert_int_equal(assay__record_parse(text, strlen(text), NULL, &back), ASSAY_OK);
    assert_int_equal(back->operations[0].count, INT64_MAX);
    assay_record_free(back);
    free(text);
    assay_record_free(record);
}

static void test_benchmarks_show_their_comparisons(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assay_record_subject subject;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    char *text = printed(record, ASSAY_RECORD_COMPACT);
    assert_null(strstr(text, "comparisons"));
    free(text);
    assay_record_subject_init(&subject);
    subject.name = "x";
    assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
    text = printed(record, ASSAY_RECORD_COMPACT);
    assert_non_null(strstr(text, "\"comparisons\":[]"));
    free(text);
    assay_record_comparison comparison;
    assay__record_comparison_init(&comparison);
    assert_int_equal(comparison.ratio.validity, ASSAY_NOT_MEASURED);
    comparison.baseline = comparison.candidate = "x";
    comparison.reason = "too few samples";
    assert_int_equal(assay__record_add_comparison(record, &comparison), ASSAY_OK);
    text = printed(record, ASSAY_RECORD_COMPACT);
    assert_non_null(strstr(text, "\"ratio\":null,\"low\":null,\"high\":null,"
                                 "\"verdict\":\"inconclusive\",\"reason\":\"too few samples\""));
    free(text);
    assay_record_free(record);
}

static void check_refused(assay_record *record, const char *message)
{
    char *text = NULL;
    size_t length = 0;
    assay_error error = {0};
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(assay_record_print(record, stream, 0, &error), ASSAY_E_ARGUMENT);
    fclose(stream);
    assert_int_equal(length, 0);
    assert_string_equal(error.message, message);
    free(text);
}

static void test_dangling_references_are_not_written(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    record->operations[1].parent = 1;
    check_refused(record, "operations[1].parent: 1 is not an earlier operation");
    record->operations[1].parent = 0;
    record->events[0].lane = 2;
    check_refused(record, "events[0]: there is no lane 2");
    record->events[0].lane = 0;
    record->events[1].name = 1;
    check_refused(record, "events[1]: there is no counter 1");
    record->events[1].name = 0;
    record->lanes[1].kind = (assay_lane_kind)9;
    check_refused(record, "lanes[1].kind: 9 is no kind of lane");
    record->lanes[1].kind = ASSAY_LANE_TASK;
    record->metrics[0].operation = NULL;
    check_refused(record, "metrics[0].operation: missing");
    record->metrics[0].operation = "x";
    record->subjects[0].samples_seconds = NULL;
    check_refused(record, "subjects[0].samples_seconds: missing");
    record->subjects[0].sample_count = 0;
    check_refused(record, "subjects[0].measures[0]: not one for each sample");
    record->subjects[0].measure_count = 0;
    record->subjects[1].name = NULL;
    check_refused(record, "subjects[1].name: missing");
    record->subjects[1].name = "x";
    record->comparisons[0].verdict = (assay_verdict)4;
    check_refused(record, "comparisons[0].verdict: 4 is no verdict");
    record->comparisons[0].candidate = NULL;
    check_refused(record, "comparisons[0].candidate: missing");
    record->comparison_count = 0;
    record->differences[0].what = NULL;
    check_refused(record, "differences[0].what: missing");
    assay_record_free(record);
}

static void test_files_are_replaced_whole_or_not_at_all(void **state)
{
    (void)state;
    char folder[] = "/tmp/assay-record-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.json", folder);
    assay_record *record = sample_record(), *back = NULL;
    assay_error error;
    assert_int_equal(assay_record_save(record, path, ASSAY_RECORD_EVENTS, &error), ASSAY_OK);
    assert_int_equal(assay_record_read(path, &error, &back), ASSAY_OK);
    same_record(record, back);
    assay_record_free(back);

    record->operations[1].parent = 5;
    assert_int_equal(assay_record_save(record, path, 0, &error), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_record_read(path, &error, &back), ASSAY_OK); /* still the old one */
    assay_record_free(back);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* fails if anything was left behind */

    assert_int_equal(assay_record_read(path, &error, &back), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(assay_record_save(record, path, 0, &error), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assay_record_free(record);
}

static void test_a_full_disk_is_reported(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assay_record *record = sample_record();
    assay_error error = {0};
    assert_int_equal(assay_record_save(record, "/dev/full", 0, &error), ASSAY_E_FULL);
    assert_non_null(strstr(error.message, "/dev/full"));
    assay_record_free(record);
}

static size_t field_size(assay__field_type type)
{
    switch (type) {
    case ASSAY__FIELD_READING:
    case ASSAY__FIELD_RARE_READING:
        return sizeof(assay_reading);
    case ASSAY__FIELD_FLAG:
        return sizeof(bool);
    case ASSAY__FIELD_DEPTH:
    case ASSAY__FIELD_PARENT:
    case ASSAY__FIELD_INDEX:
    case ASSAY__FIELD_LANE_KIND:
    case ASSAY__FIELD_VERDICT:
        return 4;
    default:
        return 8;
    }
}

static void cover(unsigned char *bytes, const assay__field *fields)
{
    for (; fields->key != NULL; fields++)
        memset(bytes + fields->offset, 1, field_size(fields->type));
}

/* Everything from `from` on that is not covered must be padding, which is shorter than a word. */
static void check_covered(const unsigned char *bytes, size_t from, size_t size)
{
    size_t run = 0;
    for (size_t i = from; i < size; i++) {
        run = bytes[i] ? 0 : run + 1;
        if (run >= 8)
            fail_msg("bytes %zu to %zu are in no table", i + 1 - run, i);
    }
}

#define COVER(structure, first, last)                                                              \
    memset(bytes + offsetof(structure, first), 1,                                                  \
           offsetof(structure, last) + sizeof(((structure *)NULL)->last) -                         \
               offsetof(structure, first))

static void test_no_member_is_forgotten(void **state)
{
    (void)state;
    static const struct {
        const assay__field *fields;
        size_t size;
    } plain[] = {
        {assay__record_clock_fields, sizeof(assay_record_clock)},
        {assay__record_metric_fields, offsetof(assay_record_metric, reserved)},
        {assay__record_counter_fields, offsetof(assay_record_counter, reserved)},
        {assay__record_lane_fields, offsetof(assay_record_lane, reserved)},
        {assay__record_open_span_fields, offsetof(assay_record_open_span, reserved)},
        {assay__record_comparison_fields, offsetof(assay_record_comparison, reserved)},
        {assay__record_difference_fields, offsetof(assay_record_difference, reserved)},
        {assay__record_integrity_fields, offsetof(assay_record_integrity, reserved)},
        {assay__record_member_fields, offsetof(assay_record_member, reserved)},
        {assay__record_device_fields, offsetof(assay_record_device, reserved)},
        {assay__record_python_fields, offsetof(assay_record_python, functions)},
        {assay__record_code_fields, offsetof(assay_record_code, reserved)},
        {assay__record_allocation_fields, offsetof(assay_record_allocation, reserved)},
        {assay__record_gpu_fields, offsetof(assay_record_gpu, kernels)},
        {assay__record_kernel_fields, offsetof(assay_record_kernel, reserved)},
        {assay__record_copy_fields, offsetof(assay_record_copy, reserved)},
        {assay__record_idle_fields, offsetof(assay_record_idle, reserved)},
        {assay__record_measure_fields, offsetof(assay_record_measure, samples)},
        {assay__record_flops_fields, offsetof(assay_record_flops, reserved)},
        {assay__record_figure_fields, offsetof(assay_record_figure, reserved)},
        {assay__record_series_fields, offsetof(assay_record_series, places)},
        {assay__record_scaling_fields, offsetof(assay_record_scaling, reserved)},
    };
    unsigned char bytes[4096];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        memset(bytes, 0, sizeof bytes);
        cover(bytes, plain[i].fields);
        check_covered(bytes, 0, plain[i].size);
    }
    memset(bytes, 0, sizeof bytes);
    cover(bytes, assay__record_operation_fields);
    COVER(assay_record_operation, buckets, sample_count);
    check_covered(bytes, 0, offsetof(assay_record_operation, reserved));
    memset(bytes, 0, sizeof bytes);
    cover(bytes, assay__record_subject_fields);
    COVER(assay_record_subject, command, rounds);
    COVER(assay_record_subject, measures, look_count);
    check_covered(bytes, 0, offsetof(assay_record_subject, reserved));
    memset(bytes, 0, sizeof bytes);
    cover(bytes, assay__record_model_fields);
    COVER(assay_record_model, settings, setting_count);
    COVER(assay_record_model, flops, flop_count);
    check_covered(bytes, 0, offsetof(assay_record_model, reserved));
    memset(bytes, 0, sizeof bytes);
    cover(bytes, assay__record_summary_fields);
    cover(bytes, assay__record_process_fields);
    COVER(assay_record_process, command, command_count);
    COVER(assay_record_process, exit_status, signal);
    check_covered(bytes, 0, offsetof(assay_record_process, reserved));
    memset(bytes, 0, sizeof bytes);
    cover(bytes, assay__record_fields);
    COVER(assay_record, machine, growths);
    check_covered(bytes, offsetof(assay_record, kind), sizeof(assay_record));
}

/* Not a test of its own: tests/accuracy/test_record_schema.sh asks for files to hold against the
 * schema. */
static void test_samples_are_written_when_asked_for(void **state)
{
    (void)state;
    const char *folder = getenv("ASSAY_RECORD_SAMPLES");
    if (folder == NULL)
        skip();
    char path[4096];
    assay_record *record = sample_record(), *empty = NULL;
    snprintf(path, sizeof path, "%s/full.json", folder);
    assert_int_equal(assay_record_save(record, path, ASSAY_RECORD_EVENTS, NULL), ASSAY_OK);
    int turn = 0;
    MISS(assay_record_process, &record->process, wall_seconds, observer_seconds);
    MISS(assay_record_operation, &record->operations[0], min_seconds, p999_seconds);
    MISS(assay_record_operation, &record->operations[0], rss_delta_bytes, gpu_peak_bytes);
    MISS(assay_record_clock, &record->clock, frequency_hz, cost_ns);
    MISS(assay_record_subject, &record->subjects[0], mean_seconds, peak_rss_bytes);
    MISS(assay_record_comparison, &record->comparisons[0], ratio, high);
    snprintf(path, sizeof path, "%s/missing.json", folder);
    assert_int_equal(assay_record_save(record, path, ASSAY_RECORD_COMPACT, NULL), ASSAY_OK);
    assert_int_equal(assay_record_new(&empty), ASSAY_OK);
    snprintf(path, sizeof path, "%s/empty.json", folder);
    assert_int_equal(assay_record_save(empty, path, 0, NULL), ASSAY_OK);
    assay_record_free(empty);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_record_round_trips),
        cmocka_unit_test(test_an_empty_record_round_trips),
        cmocka_unit_test(test_every_missing_reading_keeps_its_reason),
        cmocka_unit_test(test_the_contract_of_run),
        cmocka_unit_test(test_a_killed_process_has_no_exit_status),
        cmocka_unit_test(test_figures_that_are_not_finite),
        cmocka_unit_test(test_counts_beyond_signed_integers),
        cmocka_unit_test(test_benchmarks_show_their_comparisons),
        cmocka_unit_test(test_dangling_references_are_not_written),
        cmocka_unit_test(test_files_are_replaced_whole_or_not_at_all),
        cmocka_unit_test(test_a_full_disk_is_reported),
        cmocka_unit_test(test_no_member_is_forgotten),
        cmocka_unit_test(test_samples_are_written_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
