/* Resident memory of spans as every monitor samples it: for which spans it is read, and to which
 * operation it is added. The test sets the clock where that is possible; the inlined code reads the
 * machine's own clock. */
#include "tests/unit/monitor_fixture.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "assay/task.h"
#include "tests/unit/resident_check.h"

enum { MILLISECOND = 1000000, LONG_ENOUGH = 16 * MILLISECOND }; /* a reading is due after that */

static void assert_read(assay_record *record, const char *name, uint64_t spans, double mib)
{
    const assay_record_operation *operation = operation_of(record, name);
    if (operation->rss_spans != spans)
        fail_msg("%s: %llu spans were read, expected %llu", name,
                 (unsigned long long)operation->rss_spans, (unsigned long long)spans);
    if (spans == 0) {
        assert_int_equal(operation->rss_delta_bytes.validity, ASSAY_NOT_MEASURED);
        return;
    }
    assert_int_equal(operation->rss_delta_bytes.validity, ASSAY_VALID);
    if (fabs(operation->rss_delta_bytes.value / MEGABYTE - mib) > 1.5)
        fail_msg("%s: %.2f MiB, expected %.2f", name, operation->rss_delta_bytes.value / MEGABYTE,
                 mib);
    assert_true(operation->rss_peak_bytes.value > operation->rss_delta_bytes.value);
}

/* The first span of each operation is read, however short. */
static void test_first_spans_are_read(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    void *kept = NULL;
    ASSAY_TRACK(monitor, "grow") {
        kept = touch(32 * MEGABYTE);
    }
    ASSAY_TRACK(monitor, "even") {
        munmap(touch(16 * MEGABYTE), 16 * MEGABYTE);
    }
    ASSAY_TRACK(monitor, "shrink") {
        munmap(kept, 32 * MEGABYTE);
    }
    assay_record *record = record_of(monitor);
    assert_read(record, "grow", 1, 32);
    assert_read(record, "even", 1, 0);
    assert_read(record, "shrink", 1, -32);
    assay_record_free(record);
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    assert_int_equal(assay_monitor_print_summary(monitor, stream, 0), ASSAY_OK);
    assert_int_equal(fclose(stream), 0);
    double seconds, change = 0;
    assert_int_equal(sscanf(strstr(text, "\ngrow"), "\ngrow %lf %lf", &seconds, &change), 2);
    assert_true(change > 30.5 && change < 33.5);
    free(text);
    assay_monitor_free(monitor);
}

/* After a reading, no span is read for 10 ms, and one that begins 15 ms later is. */
static void test_readings_keep_their_distance(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 10000; i++)
        ASSAY_TRACK(monitor, "step") {
            hand_ns += 1000;
        }
    assay_record *record = record_of(monitor);
    assert_read(record, "step", 1, 0);
    assay_record_free(record);
    hand_ns += 6 * MILLISECOND;
    for (int i = 0; i < 5; i++)
        ASSAY_TRACK(monitor, "step") {
            hand_ns += 1000;
        }
    record = record_of(monitor);
    assert_read(record, "step", 2, 0);
    assay_record_free(record);
    for (int i = 0; i < 100 * 1000; i++) /* 0.1 s */
        ASSAY_TRACK(monitor, "step") {
            hand_ns += 1000;
        }
    record = record_of(monitor);
    uint64_t spans = operation_of(record, "step")->rss_spans;
    assert_in_range(spans, 2 + 6, 2 + 10);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A short span that comes first in every step is due each time; the long one behind it must not go
 * without, nor the one around both, which ends just after a reading. */
static void test_long_spans_are_all_read(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    assay_monitor *monitor = new_monitor();
    void *kept[STEPS];
    for (int i = 0; i < STEPS; i++)
        ASSAY_TRACK(monitor, "step") {
            ASSAY_TRACK(monitor, "prepare") {
                hand_ns += 1000;
            }
            ASSAY_TRACK(monitor, "work") {
                kept[i] = touch(8 * MEGABYTE);
                hand_ns += LONG_ENOUGH;
            }
            hand_ns += 1000;
        }
    for (int i = 0; i < STEPS; i++)
        munmap(kept[i], 8 * MEGABYTE);
    assay_record *record = record_of(monitor);
    assert_read(record, "work", STEPS, 8 * STEPS);
    assert_read(record, "step", STEPS, 8 * STEPS);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* What changes between spans, longer than 10 ms before the next, belongs to none of them. */
static void test_what_lies_between_is_nobodys(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 3; i++) {
        ASSAY_TRACK(monitor, "step") {
            hand_ns += LONG_ENOUGH;
        }
        touch(8 * MEGABYTE);
        hand_ns += LONG_ENOUGH;
    }
    assay_record *record = record_of(monitor);
    assert_read(record, "step", 3, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The mark of an open span is none of its start. */
static void test_open_spans_keep_their_start(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    uint64_t before = hand_ns;
    hand_ns += 250 * MILLISECOND;
    ASSAY_TRACK(monitor, "outer") {
        hand_ns += LONG_ENOUGH;
        ASSAY_TRACK(monitor, "inner") {
            hand_ns += LONG_ENOUGH;
        }
        assay_record *record = record_of(monitor);
        assert_int_equal(record->open_span_count, 1);
        assert_true(record->open_spans[0].start_seconds > 0.249 &&
                    record->open_spans[0].start_seconds < 0.251);
        assay_record_free(record);
    }
    assay_record *record = record_of(monitor);
    const assay_record_operation *outer = operation_of(record, "outer");
    assert_true(fabs(outer->total_seconds - (double)(hand_ns - before) / 1e9 + 0.25) < 1e-6);
    assert_read(record, "outer", 1, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Many tasks on a thread do not make for many readings. */
static void test_tasks_share_the_readings_of_their_thread(void **state)
{
    (void)state;
    enum { TASKS = 20 };
    assay_monitor *monitor = new_monitor();
    assay_task *tasks[TASKS];
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(assay_task_new(monitor, "task", &tasks[i]), ASSAY_OK);
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < TASKS; i++) {
            assay_monitor_switch_task(monitor, tasks[i]);
            ASSAY_TRACK(monitor, "step") {
                hand_ns += 100000;
            }
            assay_monitor_switch_task(monitor, NULL);
        }
    for (int i = 0; i < TASKS; i++)
        assay_task_free(tasks[i]);
    assay_record *record = record_of(monitor);
    assert_in_range(operation_of(record, "step")->rss_spans, 1, 3); /* in 20 ms */
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_off_is_off(void **state)
{
    (void)state;
    assay_monitor_options options = by_hand();
    options.memory = ASSAY_MEMORY_OFF;
    assay_monitor *monitor = open_monitor(&options);
    ASSAY_TRACK(monitor, "step") {
        hand_ns += LONG_ENOUGH;
    }
    assay_record *record = record_of(monitor);
    assert_read(record, "step", 0, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void pass(double seconds)
{
    struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

/* The same by the inlined code, with the machine's clock: with an event ring and without. */
static void check_inlined_code(size_t trace_events)
{
    /* Steps enough that most ends take the fast path: a rare duration has no bucket there yet. */
    enum { STEPS = 24, GAPS = 4 };
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.trace_events = trace_events;
    assay_monitor *monitor = open_monitor(&options);
    for (int i = 0; i < 100; i++) /* both operations are met, and the lane's slot is in use */
        ASSAY_TRACK(monitor, "warm-up") {
        }
    for (int i = 0; i < STEPS; i++)
        ASSAY_TRACK(monitor, "step") {
            ASSAY_TRACK(monitor, "prepare") {
            }
            ASSAY_TRACK(monitor, "work") {
                touch(MEGABYTE);
                pass(0.020);
            }
        }
    for (int i = 0; i < GAPS; i++) { /* what lies between is nobody's, here too */
        ASSAY_TRACK(monitor, "after a gap") {
            pass(0.001);
        }
        touch(4 * MEGABYTE);
        pass(0.020);
    }
    uint64_t spans = 200000;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint64_t i = 0; i < spans; i++)
        ASSAY_TRACK(monitor, "tight") {
        }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double tight =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    assay_record *record = record_of(monitor);
    assert_read(record, "work", STEPS, STEPS);
    assert_read(record, "step", STEPS, STEPS);
    assert_read(record, "after a gap", GAPS, 0);
    const assay_record_operation *operation = operation_of(record, "tight");
    assert_int_equal(operation->count, spans);
    assert_in_range(operation->rss_spans, 1, 2 + (uint64_t)(tight / 0.010));
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_inlined_spans_are_read(void **state)
{
    (void)state;
    check_inlined_code(0);
    check_inlined_code(1024);
}

static int prepare(void **state)
{
    cpu_set_t here; /* see test_monitor_memory.c */
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    return sched_setaffinity(0, sizeof here, &here) | make_clock(state);
}

int main(void)
{
    if (is_shadowed) {
        puts("skipped: the thread sanitizer's shadow of touched memory is resident too");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_spans_are_read),
        cmocka_unit_test(test_readings_keep_their_distance),
        cmocka_unit_test(test_long_spans_are_all_read),
        cmocka_unit_test(test_what_lies_between_is_nobodys),
        cmocka_unit_test(test_open_spans_keep_their_start),
        cmocka_unit_test(test_tasks_share_the_readings_of_their_thread),
        cmocka_unit_test(test_off_is_off),
        cmocka_unit_test(test_inlined_spans_are_read),
    };
    return cmocka_run_group_tests(tests, prepare, drop_clock);
}
