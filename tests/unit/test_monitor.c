/* Spans with a clock that the test sets, so that every figure is known beforehand. */
#include "tests/unit/monitor_fixture.h"

#include <float.h>
#include <pthread.h>
#include <stdio.h>

static void test_nested_spans_give_total_and_self_time(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 10; i++)
        ASSAY_TRACK(monitor, "step") {
            hand_ns += 100;
            ASSAY_TRACK(monitor, "forward") {
                hand_ns += 300;
                ASSAY_TRACK(monitor, "matmul") {
                    hand_ns += 50;
                }
            }
            ASSAY_TRACK(monitor, "backward") {
                hand_ns += 600;
            }
        }
    assay_record *record = record_of(monitor);
    const assay_record_operation *step = operation_of(record, "step");
    assert_int_equal(step->count, 10);
    assert_int_equal(step->parent, -1);
    assert_seconds(step->total_seconds, 10 * 1050e-9);
    assert_seconds(step->self_seconds, 10 * 100e-9);
    const assay_record_operation *forward = operation_of(record, "forward");
    assert_int_equal(forward->parent, step - record->operations);
    assert_seconds(forward->total_seconds, 10 * 350e-9);
    assert_seconds(forward->self_seconds, 10 * 300e-9);
    assert_int_equal(operation_of(record, "matmul")->parent, forward - record->operations);
    assert_seconds(operation_of(record, "backward")->self_seconds, 10 * 600e-9);
    assert_seconds(record->total_seconds, 10 * 1050e-9);
    assert_clean(record);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: the textbook set, mean 5, population deviation 2, sample deviation
 * sqrt(32/7). */
static void test_statistics_of_known_durations(void **state)
{
    (void)state;
    static const uint64_t durations[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assay_monitor *monitor = new_monitor();
    for (size_t i = 0; i < 8; i++)
        ASSAY_TRACK(monitor, "op") {
            hand_ns += durations[i] * 1000;
        }
    assay_record *record = record_of(monitor);
    const assay_record_operation *op = operation_of(record, "op");
    assert_int_equal(op->count, 8);
    assert_seconds(op->mean_seconds.value, 5e-6);
    assert_seconds(op->std_seconds.value, sqrt(32.0 / 7.0) * 1e-6);
    assert_seconds(op->min_seconds.value, 2e-6);
    assert_seconds(op->max_seconds.value, 9e-6);
    assert_true(fabs(op->p50_seconds.value / 4e-6 - 1) < 0.01);
    assert_int_equal(op->p95_seconds.validity, ASSAY_NOT_ENOUGH_DATA);
    uint64_t bucketed = 0;
    for (size_t i = 0; i < op->bucket_count; i++)
        bucketed += op->buckets[i].count;
    assert_int_equal(bucketed, 8);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A spread of one part in a million beside a large mean: plain sums of squares in doubles lose it.
 */
static void test_a_small_spread_beside_a_large_mean_survives(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 20000; i++)
        ASSAY_TRACK(monitor, "op") {
            hand_ns += 3000000000u + (i % 2 ? 1000 : 0);
        }
    assay_record *record = record_of(monitor);
    const assay_record_operation *op = operation_of(record, "op");
    double expected = 500e-9 * sqrt(20000.0 / 19999.0);
    assert_true(fabs(op->std_seconds.value / expected - 1) < 1e-6);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static int leave_by_return(assay_monitor *monitor)
{
    ASSAY_TRACK(monitor, "returned") {
        hand_ns += 10;
        return 7;
    }
    return 0;
}

static void leave_by_goto(assay_monitor *monitor)
{
    ASSAY_TRACK(monitor, "jumped") {
        hand_ns += 20;
        goto out;
    }
out:
    return;
}

static void scope(assay_monitor *monitor)
{
    ASSAY_SCOPE(monitor, "scope");
    hand_ns += 30;
}

static void test_every_way_out_of_a_block_ends_the_span(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    int rounds = 0;
    for (int i = 0; i < 3; i++) {
        ASSAY_TRACK(monitor, "broken") {
            hand_ns += 1;
            if (i == 1)
                break;
            hand_ns += 1;
            continue;
        }
        rounds++; /* break and continue leave the block, not the loop */
    }
    assert_int_equal(rounds, 3);
    assert_int_equal(leave_by_return(monitor), 7);
    leave_by_goto(monitor);
    scope(monitor);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "broken")->count, 3);
    assert_seconds(operation_of(record, "broken")->total_seconds, 5e-9);
    assert_seconds(operation_of(record, "returned")->total_seconds, 10e-9);
    assert_seconds(operation_of(record, "jumped")->total_seconds, 20e-9);
    assert_seconds(operation_of(record, "scope")->total_seconds, 30e-9);
    assert_int_equal(record->open_span_count, 0);
    assert_clean(record);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_two_sites_of_one_name_are_one_operation(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    ASSAY_TRACK(monitor, "same") {
        hand_ns += 5;
    }
    ASSAY_TRACK(monitor, "same") {
        hand_ns += 7;
    }
    assay_span_end(assay_monitor_begin(monitor, "same"));
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 1);
    assert_int_equal(record->operations[0].count, 3);
    assert_seconds(record->operations[0].total_seconds, 12e-9);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void track_shared(assay_monitor *monitor, uint64_t duration)
{
    ASSAY_TRACK(monitor, "shared") {
        hand_ns += duration;
    }
}

static void test_several_monitors_share_a_site(void **state)
{
    (void)state;
    assay_monitor *first = new_monitor(), *second = new_monitor();
    for (int i = 0; i < 5; i++) {
        track_shared(first, 10);
        track_shared(second, 1000);
        ASSAY_TRACK(first, "outer") {
            track_shared(second, 1000); /* no child of another monitor's span */
        }
    }
    assay_record *record = record_of(second);
    assert_int_equal(record->operation_count, 1);
    assert_int_equal(record->operations[0].count, 10);
    assay_record_free(record);
    record = record_of(first);
    assert_seconds(operation_of(record, "shared")->total_seconds, 50e-9);
    assert_clean(record);
    assay_record_free(record);
    assay_monitor_free(first);
    assay_monitor_free(second);
}

/* A new monitor at the address of a freed one must not inherit its cached lane; real clock, so that
 * the inlined path is what runs. */
static void test_a_monitor_at_a_reused_address_starts_empty(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
        options.private_journal = true;
        assay_monitor *monitor = open_monitor(&options);
        for (int k = 0; k <= i; k++)
            track_shared(monitor, 0);
        assay_record *record = record_of(monitor);
        assert_int_equal(operation_of(record, "shared")->count, i + 1);
        assert_clean(record);
        assay_record_free(record);
        assay_monitor_free(monitor);
    }
}

static void test_run_time_names_nest_and_report_their_duration(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer_%d", i % 4);
        assay_span outer = assay_monitor_begin(monitor, name);
        hand_ns += 10;
        assay_span inner = assay_monitor_begin(monitor, "inner");
        hand_ns += 7;
        assert_int_equal(assay_span_end_ns(inner), 7);
        assert_int_equal(assay_span_end_ns(outer), 17);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 8);
    assert_int_equal(operation_of(record, "layer_3")->count, 25);
    assert_seconds(operation_of(record, "layer_3")->self_seconds, 250e-9);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_metrics_are_recorded_one_by_one(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 3; i++)
        ASSAY_METRIC(monitor, "load") {
            hand_ns += 100u * (unsigned)(i + 1);
        }
    ASSAY_TRACK(monitor, "outer") {
        assay_span span = assay_monitor_begin_metric(monitor, "named");
        hand_ns += 5;
        assay_span_end(span);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->metric_count, 4);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(record->metrics[i].operation, "load");
        assert_seconds(record->metrics[i].duration_seconds, 100e-9 * (i + 1));
        assert_int_equal(record->metrics[i].cpu_delta_bytes.validity, ASSAY_VALID);
        assert_int_equal(record->metrics[i].gpu_delta_bytes.validity, ASSAY_NOT_MEASURED);
    }
    assert_int_equal(record->metrics[3].depth, 1);
    assert_int_equal(operation_of(record, "load")->count, 3);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_metrics_beyond_the_room_are_counted(void **state)
{
    (void)state;
    enum { METRICS = 4096 + 10 };
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < METRICS; i++)
        ASSAY_METRIC(monitor, "metric") {
        }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "metric")->count, METRICS);
    assert_int_equal(record->metric_count, 4096);
    assert_int_equal(record->integrity.dropped_metrics, 10);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_samples_are_kept_up_to_their_bound(void **state)
{
    (void)state;
    assay_monitor_options options = by_hand();
    options.samples = 4;
    assay_monitor *monitor = open_monitor(&options);
    for (unsigned i = 0; i < 6; i++)
        ASSAY_TRACK(monitor, "op") {
            hand_ns += 10 * (i + 1);
        }
    assay_record *record = record_of(monitor);
    const assay_record_operation *op = operation_of(record, "op");
    assert_int_equal(op->sample_count, 4);
    assert_int_equal(op->samples_dropped, 2);
    for (size_t i = 0; i < 4; i++)
        assert_seconds(op->samples_seconds[i], 10e-9 * (double)(i + 1));
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_the_event_ring_keeps_the_newest(void **state)
{
    (void)state;
    assay_monitor_options options = by_hand();
    options.trace_events = 8;
    assay_monitor *monitor = open_monitor(&options);
    for (int i = 0; i < 3; i++)
        ASSAY_TRACK(monitor, "step") {
            hand_ns += 10;
            ASSAY_TRACK(monitor, "part") {
                hand_ns += 10;
            }
        }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->event_count, 6);
    assert_int_equal(record->integrity.dropped_events, 0);
    assert_string_equal(record->operations[record->events[0].name].name, "step");
    assert_seconds(record->events[0].duration_seconds, 20e-9);
    assert_string_equal(record->operations[record->events[1].name].name, "part");
    assert_seconds(record->events[1].start_seconds - record->events[0].start_seconds, 10e-9);
    assay_record_free(record);
    for (int i = 0; i < 100; i++)
        ASSAY_TRACK(monitor, "late step") {
            hand_ns += 10;
        }
    record = record_of(monitor);
    assert_int_equal(record->event_count, 7); /* the eighth slot is where the next is written */
    assert_int_equal(record->integrity.dropped_events, 99);
    for (size_t i = 0; i < record->event_count; i++)
        assert_string_equal(record->operations[record->events[i].name].name, "late step");
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void *count_below_zero(void *monitor)
{
    assay_monitor_count(monitor, "threads", -DBL_MAX);
    return NULL;
}

/* The sum of such values does not fit in a double; the counter is in the record all the same. */
static void test_counters_near_the_largest_double(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 10; i++) {
        assay_monitor_count(monitor, "large", DBL_MAX);
        assay_monitor_count(monitor, "negative", -DBL_MAX);
        assay_monitor_count(monitor, "both", i < 5 ? DBL_MAX : -DBL_MAX);
        assay_monitor_count(monitor, "mixed", i == 0 || i == 5 ? 1.5e308 : 0.5e308);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, count_below_zero, monitor), 0);
    pthread_join(thread, NULL);
    assay_monitor_count(monitor, "threads", DBL_MAX);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->counter_count, 5);
    assert_true(record->counters[4].mean == 0 && record->counters[4].count == 2);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(record->counters[i].count, 10);
    assert_true(record->counters[0].mean == DBL_MAX && record->counters[0].max == DBL_MAX);
    assert_true(record->counters[1].mean == -DBL_MAX && record->counters[1].min == -DBL_MAX);
    assert_true(fabs(record->counters[2].mean) < 1e294);
    assert_true(fabs(record->counters[3].mean / 0.7e308 - 1) < 1e-12);
    assay_record_free(record);
    assay_monitor_clear(monitor);
    assay_monitor_count(monitor, "large", 3);
    record = record_of(monitor);
    assert_true(record->counters[0].mean == 3);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_counters_and_late_completions(void **state)
{
    (void)state;
    assay_monitor_options options = by_hand();
    options.trace_events = 64;
    assay_monitor *monitor = open_monitor(&options);
    assay_monitor_count(monitor, "loss", 3.0);
    assay_monitor_count(monitor, "loss", -1.5);
    assay_monitor_count(monitor, "loss", NAN);
    assay_monitor_add(monitor, "kernel", 2500);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->counter_count, 1);
    assert_int_equal(record->counters[0].count, 2);
    assert_true(record->counters[0].last == -1.5 && record->counters[0].min == -1.5);
    assert_true(record->counters[0].max == 3.0 && record->counters[0].mean == 0.75);
    assert_int_equal(record->event_count, 3);
    assert_seconds(operation_of(record, "kernel")->total_seconds, 2.5e-6);
    assert_null(find_operation(record, "loss"));
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_clear_forgets_figures(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5; i++)
            ASSAY_TRACK(monitor, "op") {
                hand_ns += 10u * (unsigned)(round + 1);
            }
        ASSAY_METRIC(monitor, "metric") {
            hand_ns += 1;
        }
        assay_record *record = record_of(monitor);
        assert_int_equal(operation_of(record, "op")->count, 5);
        assert_seconds(operation_of(record, "op")->max_seconds.value, 10e-9 * (round + 1));
        assert_seconds(operation_of(record, "op")->std_seconds.value, 0);
        assert_int_equal(record->metric_count, 1);
        assert_clean(record);
        assay_record_free(record);
        assay_monitor_clear(monitor);
        record = record_of(monitor);
        assert_int_equal(record->operation_count, 0);
        assay_record_free(record);
    }
    assay_monitor_free(monitor);
}

/* outer { middle { inner } }, cleared, and then only inner again: its place in the tree is kept,
 * and so are those it stands below, but no other. */
static void test_clear_keeps_the_places_of_what_comes_after(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    assay_record *record = NULL;
    ASSAY_TRACK(monitor, "before") {
        hand_ns += 1;
    }
    for (int round = 0; round < 2; round++)
        ASSAY_TRACK(monitor, "outer") {
            ASSAY_TRACK(monitor, "middle") {
                assay_monitor_clear(monitor);
                ASSAY_TRACK(monitor, "inner") {
                    hand_ns += 10;
                }
                assay_record_free(record);
                record = record_of(monitor);
            }
        }
    assert_int_equal(record->operation_count, 3);
    assert_string_equal(record->operations[0].name, "outer");
    assert_string_equal(record->operations[1].name, "middle");
    assert_string_equal(record->operations[2].name, "inner");
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(record->operations[i].parent, i - 1);
    assert_int_equal(record->operations[0].count, 0);
    assert_int_equal(record->operations[2].count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_spans_give_total_and_self_time),
        cmocka_unit_test(test_statistics_of_known_durations),
        cmocka_unit_test(test_a_small_spread_beside_a_large_mean_survives),
        cmocka_unit_test(test_every_way_out_of_a_block_ends_the_span),
        cmocka_unit_test(test_two_sites_of_one_name_are_one_operation),
        cmocka_unit_test(test_several_monitors_share_a_site),
        cmocka_unit_test(test_a_monitor_at_a_reused_address_starts_empty),
        cmocka_unit_test(test_run_time_names_nest_and_report_their_duration),
        cmocka_unit_test(test_metrics_are_recorded_one_by_one),
        cmocka_unit_test(test_metrics_beyond_the_room_are_counted),
        cmocka_unit_test(test_samples_are_kept_up_to_their_bound),
        cmocka_unit_test(test_the_event_ring_keeps_the_newest),
        cmocka_unit_test(test_counters_and_late_completions),
        cmocka_unit_test(test_counters_near_the_largest_double),
        cmocka_unit_test(test_clear_forgets_figures),
        cmocka_unit_test(test_clear_keeps_the_places_of_what_comes_after),
    };
    return cmocka_run_group_tests(tests, make_clock, drop_clock);
}
