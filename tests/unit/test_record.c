/* A record survives its JSON form field by field: full, empty, and with every reading missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record_sample.h"

static void same_number(double a, double b)
{
    if (!isnan(a) || !isnan(b))
        assert_memory_equal(&a, &b, sizeof a);
}

static void same_reading(assay_reading a, assay_reading b)
{
    assert_int_equal(a.validity, b.validity);
    if (a.validity == ASSAY_VALID)
        same_number(a.value, b.value);
}

static void same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

static void same_facts(const assay_record_fact *a, size_t a_count, const assay_record_fact *b,
                       size_t b_count)
{
    assert_int_equal(a_count, b_count);
    for (size_t i = 0; i < a_count; i++) {
        same_text(a[i].key, b[i].key);
        same_text(a[i].value, b[i].value);
        assert_int_equal(a[i].validity, b[i].validity);
    }
}

static void same_process(const assay_record_process *a, const assay_record_process *b)
{
    assert_int_equal(a->command_count, b->command_count);
    for (size_t i = 0; i < a->command_count; i++)
        same_text(a->command[i], b->command[i]);
    assert_int_equal(a->process_id, b->process_id);
    assert_int_equal(a->finished, b->finished);
    if (a->signal == 0)
        assert_int_equal(a->exit_status, b->exit_status);
    assert_int_equal(a->signal, b->signal);
    same_reading(a->wall_seconds, b->wall_seconds);
    same_reading(a->user_seconds, b->user_seconds);
    same_reading(a->sys_seconds, b->sys_seconds);
    same_reading(a->peak_rss_bytes, b->peak_rss_bytes);
    same_reading(a->tree_peak_rss_bytes, b->tree_peak_rss_bytes);
    same_reading(a->heap_peak_bytes, b->heap_peak_bytes);
    same_reading(a->heap_allocations, b->heap_allocations);
    same_reading(a->heap_frees, b->heap_frees);
    same_reading(a->heap_leaked_bytes, b->heap_leaked_bytes);
    same_reading(a->voluntary_switches, b->voluntary_switches);
    same_reading(a->involuntary_switches, b->involuntary_switches);
    same_reading(a->minor_faults, b->minor_faults);
    same_reading(a->major_faults, b->major_faults);
    same_reading(a->read_bytes, b->read_bytes);
    same_reading(a->written_bytes, b->written_bytes);
    same_reading(a->steal_seconds, b->steal_seconds);
    same_reading(a->process_count, b->process_count);
}

static void same_distribution(const assay_record_operation *a, const assay_record_operation *b)
{
    assert_int_equal(a->bucket_count, b->bucket_count);
    for (size_t i = 0; i < a->bucket_count; i++) {
        same_number(a->buckets[i].seconds, b->buckets[i].seconds);
        assert_int_equal(a->buckets[i].count, b->buckets[i].count);
    }
    assert_int_equal(a->sample_count, b->sample_count);
    for (size_t i = 0; i < a->sample_count; i++)
        same_number(a->samples_seconds[i], b->samples_seconds[i]);
    assert_int_equal(a->samples_dropped, b->samples_dropped);
}

static void same_operation(const assay_record_operation *a, const assay_record_operation *b)
{
    same_text(a->name, b->name);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->count, b->count);
    same_number(a->total_seconds, b->total_seconds);
    same_number(a->self_seconds, b->self_seconds);
    same_reading(a->min_seconds, b->min_seconds);
    same_reading(a->max_seconds, b->max_seconds);
    same_reading(a->mean_seconds, b->mean_seconds);
    same_reading(a->std_seconds, b->std_seconds);
    same_reading(a->p50_seconds, b->p50_seconds);
    same_reading(a->p95_seconds, b->p95_seconds);
    same_reading(a->p99_seconds, b->p99_seconds);
    same_reading(a->p999_seconds, b->p999_seconds);
    same_reading(a->rss_delta_bytes, b->rss_delta_bytes);
    same_reading(a->rss_peak_bytes, b->rss_peak_bytes);
    same_reading(a->heap_delta_bytes, b->heap_delta_bytes);
    same_reading(a->heap_peak_bytes, b->heap_peak_bytes);
    same_reading(a->heap_allocations, b->heap_allocations);
    same_reading(a->gpu_delta_bytes, b->gpu_delta_bytes);
    same_reading(a->gpu_peak_bytes, b->gpu_peak_bytes);
    same_distribution(a, b);
}

static void same_metric(const assay_record_metric *a, const assay_record_metric *b)
{
    same_text(a->operation, b->operation);
    assert_int_equal(a->depth, b->depth);
    same_number(a->start_seconds, b->start_seconds);
    same_number(a->duration_seconds, b->duration_seconds);
    same_reading(a->cpu_delta_bytes, b->cpu_delta_bytes);
    same_reading(a->gpu_delta_bytes, b->gpu_delta_bytes);
    same_reading(a->gpu_peak_bytes, b->gpu_peak_bytes);
}

static void same_counter(const assay_record_counter *a, const assay_record_counter *b)
{
    same_text(a->name, b->name);
    assert_int_equal(a->count, b->count);
    same_number(a->last, b->last);
    same_number(a->min, b->min);
    same_number(a->max, b->max);
    same_number(a->mean, b->mean);
}

static void same_lane(const assay_record_lane *a, const assay_record_lane *b)
{
    same_text(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->process_id, b->process_id);
    assert_int_equal(a->thread_id, b->thread_id);
    assert_int_equal(a->spans, b->spans);
    assert_int_equal(a->ended, b->ended);
}

static void same_event(const assay_record_event *a, const assay_record_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->name, b->name);
    assert_int_equal(a->lane, b->lane);
    same_number(a->start_seconds, b->start_seconds);
    same_number(a->duration_seconds, b->duration_seconds);
    same_number(a->value, b->value);
}

static void same_open_span(const assay_record_open_span *a, const assay_record_open_span *b)
{
    same_text(a->operation, b->operation);
    assert_int_equal(a->lane, b->lane);
    assert_int_equal(a->depth, b->depth);
    same_number(a->start_seconds, b->start_seconds);
}

static void same_integrity(const assay_record_integrity *a, const assay_record_integrity *b)
{
    assert_int_equal(a->dropped_spans, b->dropped_spans);
    assert_int_equal(a->dropped_events, b->dropped_events);
    assert_int_equal(a->mismatched_ends, b->mismatched_ends);
    assert_int_equal(a->abandoned_spans, b->abandoned_spans);
    assert_int_equal(a->torn_operations, b->torn_operations);
    assert_int_equal(a->unreadable_journals, b->unreadable_journals);
}

#define SAME_ALL(compare, array, count)                                                            \
    do {                                                                                           \
        assert_int_equal(a->count, b->count);                                                      \
        for (size_t i = 0; i < a->count; i++)                                                      \
            compare(&a->array[i], &b->array[i]);                                                   \
    } while (0)

static void same_record(const assay_record *a, const assay_record *b)
{
    same_text(a->kind, b->kind);
    same_text(a->name, b->name);
    same_text(a->created, b->created);
    same_text(a->assay_version, b->assay_version);
    same_facts(a->machine, a->machine_count, b->machine, b->machine_count);
    same_facts(a->build, a->build_count, b->build, b->build_count);
    same_facts(a->git, a->git_count, b->git, b->git_count);
    same_text(a->clock.source, b->clock.source);
    same_reading(a->clock.frequency_hz, b->clock.frequency_hz);
    same_reading(a->clock.resolution_ns, b->clock.resolution_ns);
    same_reading(a->clock.cost_ns, b->clock.cost_ns);
    assert_int_equal(a->has_process, b->has_process);
    same_process(&a->process, &b->process);
    SAME_ALL(same_operation, operations, operation_count);
    SAME_ALL(same_metric, metrics, metric_count);
    SAME_ALL(same_counter, counters, counter_count);
    SAME_ALL(same_lane, lanes, lane_count);
    SAME_ALL(same_event, events, event_count);
    SAME_ALL(same_open_span, open_spans, open_span_count);
    same_integrity(&a->integrity, &b->integrity);
}

static void check_round_trip(const assay_record *record, unsigned flags)
{
    assay_error error = {0};
    assay_record *back = NULL;
    char *text = printed(record, flags);
    if (assay_record_parse(text, strlen(text), &error, &back) != ASSAY_OK)
        fail_msg("%s", error.message);
    same_record(record, back);
    char *again = printed(back, flags);
    assert_string_equal(text, again);
    free(again);
    free(text);
    assay_record_free(back);
}

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
        MISS(assay_record_process, &record->process, wall_seconds, process_count);
        MISS(assay_record_operation, &record->operations[0], min_seconds, p999_seconds);
        MISS(assay_record_operation, &record->operations[0], rss_delta_bytes, gpu_peak_bytes);
        MISS(assay_record_metric, &record->metrics[0], cpu_delta_bytes, gpu_peak_bytes);
        MISS(assay_record_clock, &record->clock, frequency_hz, cost_ns);
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
    assert_int_equal(assay_record_parse(text, strlen(text), NULL, &back), ASSAY_OK);
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
    assert_int_equal(assay_record_parse(text, strlen(text), NULL, &back), ASSAY_OK);
    assert_int_equal(back->operations[0].count, INT64_MAX);
    assay_record_free(back);
    free(text);
    assay_record_free(record);
}

static void test_arrays_grow_also_after_a_caller_put_its_own(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assay_record_lane lane = {"x", ASSAY_LANE_THREAD, 0, 0, 0, false};
    for (int i = 0; i < 40; i++) {
        lane.thread_id = i;
        assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    }
    assay_record_lane *own = assay_record_allocate(record, 40, sizeof *own);
    assert_non_null(own);
    memcpy(own, record->lanes, 40 * sizeof *own);
    record->lanes = own; /* exactly full, though ours had room for more */
    for (int i = 40; i < 1000; i++) {
        lane.thread_id = i;
        assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    }
    assert_int_equal(record->lane_count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(record->lanes[i].thread_id, i);
    record->lane_count = ASSAY_RECORD_MAX_ITEMS;
    assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_E_LIMIT);
    assay_record_free(record);
}

static void test_facts_are_unique_and_bounded(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_int_equal(assay_record_add_git(record, "branch", "a", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_git(record, "dirty", NULL, ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_git(record, "branch", "b", ASSAY_UNSUPPORTED), ASSAY_OK);
    assert_int_equal(assay_record_add_git(record, "unavailable", "x", ASSAY_VALID),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(record->git_count, 2);
    assert_string_equal(record->git[0].value, "b");
    assert_int_equal(record->git[0].validity, ASSAY_VALID);
    assert_int_equal(record->git[1].validity, ASSAY_NOT_MEASURED);
    char key[16];
    for (int i = 2; i < ASSAY_RECORD_MAX_FACTS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(assay_record_add_git(record, key, NULL, ASSAY_UNSUPPORTED), ASSAY_OK);
    }
    assert_int_equal(assay_record_add_git(record, "more", "x", ASSAY_VALID), ASSAY_E_LIMIT);
    check_round_trip(record, 0);
    assay_record_free(record);
}

static void test_texts_are_made_printable_and_bounded(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_null(assay_record_text(record, NULL));
    assert_string_equal(assay_record_text(record, ""), "");
    assert_string_equal(assay_record_text(record, "a\nb\xFF"), "a?b?");
    size_t length = 1 << 20;
    char *huge = malloc(length + 1);
    assert_non_null(huge);
    memset(huge, 'x', length);
    huge[length] = '\0';
    record->name = assay_record_text(record, huge);
    free(huge);
    assert_int_equal(strlen(record->name), ASSAY_RECORD_MAX_TEXT);
    assert_string_equal(record->name + ASSAY_RECORD_MAX_TEXT - 4, "x...");
    check_round_trip(record, 0);
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
    assert_int_equal(assay_record_write(record, path, ASSAY_RECORD_EVENTS, &error), ASSAY_OK);
    assert_int_equal(assay_record_read(path, &error, &back), ASSAY_OK);
    same_record(record, back);
    assay_record_free(back);

    record->operations[1].parent = 5;
    assert_int_equal(assay_record_write(record, path, 0, &error), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_record_read(path, &error, &back), ASSAY_OK); /* still the old one */
    assay_record_free(back);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* fails if anything was left behind */

    assert_int_equal(assay_record_read(path, &error, &back), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(assay_record_write(record, path, 0, &error), ASSAY_E_NOT_FOUND);
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
    assert_int_equal(assay_record_write(record, "/dev/full", 0, &error), ASSAY_E_FULL);
    assert_non_null(strstr(error.message, "/dev/full"));
    assay_record_free(record);
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
    assert_int_equal(assay_record_write(record, path, ASSAY_RECORD_EVENTS, NULL), ASSAY_OK);
    int turn = 0;
    MISS(assay_record_process, &record->process, wall_seconds, process_count);
    MISS(assay_record_operation, &record->operations[0], min_seconds, p999_seconds);
    MISS(assay_record_operation, &record->operations[0], rss_delta_bytes, gpu_peak_bytes);
    MISS(assay_record_clock, &record->clock, frequency_hz, cost_ns);
    snprintf(path, sizeof path, "%s/missing.json", folder);
    assert_int_equal(assay_record_write(record, path, ASSAY_RECORD_COMPACT, NULL), ASSAY_OK);
    assert_int_equal(assay_record_new(&empty), ASSAY_OK);
    snprintf(path, sizeof path, "%s/empty.json", folder);
    assert_int_equal(assay_record_write(empty, path, 0, NULL), ASSAY_OK);
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
        cmocka_unit_test(test_arrays_grow_also_after_a_caller_put_its_own),
        cmocka_unit_test(test_facts_are_unique_and_bounded),
        cmocka_unit_test(test_texts_are_made_printable_and_bounded),
        cmocka_unit_test(test_dangling_references_are_not_written),
        cmocka_unit_test(test_files_are_replaced_whole_or_not_at_all),
        cmocka_unit_test(test_a_full_disk_is_reported),
        cmocka_unit_test(test_samples_are_written_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
