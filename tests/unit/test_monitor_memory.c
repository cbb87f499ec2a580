/* Resident memory of spans, compared with allocations of known size that are touched and freed. */
#include "tests/unit/monitor_fixture.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>

#include "assay/memory.h"
#include "assay/monitor.h"
#include "assay/record.h"
#include "tests/unit/resident_check.h"

static void take_and_give_back(size_t bytes)
{
    munmap(touch(bytes), bytes);
}

static assay_monitor *monitor_with(unsigned memory)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.memory = memory;
    return open_monitor(&options);
}

static void assert_mib(assay_reading reading, double expected)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    if (fabs(reading.value / MEGABYTE - expected) > 1.5)
        fail_msg("%.2f MiB, expected %.2f", reading.value / MEGABYTE, expected);
}

static double resident(void)
{
    assay_memory memory = {.struct_size = sizeof memory};
    assert_int_equal(assay_memory_read(&memory), ASSAY_OK);
    return memory.rss_bytes.value;
}

static void test_deltas_are_those_of_each_span(void **state)
{
    (void)state;
    assay_monitor *monitor = monitor_with(ASSAY_MEMORY_RSS);
    void *kept = NULL;
    ASSAY_TRACK(monitor, "outer") {
        ASSAY_TRACK(monitor, "grow") {
            kept = touch(32 * MEGABYTE);
        }
        ASSAY_TRACK(monitor, "even") {
            take_and_give_back(16 * MEGABYTE);
        }
        ASSAY_TRACK(monitor, "shrink") {
            munmap(kept, 32 * MEGABYTE);
        }
    }
    assay_record *record = record_of(monitor);
    assert_mib(operation_of(record, "outer")->rss_delta_bytes, 0);
    assert_mib(operation_of(record, "grow")->rss_delta_bytes, 32);
    assert_mib(operation_of(record, "even")->rss_delta_bytes, 0);
    assert_mib(operation_of(record, "shrink")->rss_delta_bytes, -32);
    assert_int_equal(operation_of(record, "grow")->heap_peak_bytes.validity, ASSAY_NOT_MEASURED);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_metrics_have_their_delta(void **state)
{
    (void)state;
    assay_monitor *monitor = monitor_with(ASSAY_MEMORY_OFF);
    void *kept = NULL;
    ASSAY_METRIC(monitor, "load") {
        kept = touch(24 * MEGABYTE);
    }
    ASSAY_METRIC(monitor, "drop") {
        munmap(kept, 24 * MEGABYTE);
    }
    assay_record *record = record_of(monitor);
    assert_mib(record->metrics[0].cpu_delta_bytes, 24);
    assert_mib(record->metrics[1].cpu_delta_bytes, -24);
    assert_int_equal(record->operations[0].rss_delta_bytes.validity, ASSAY_NOT_MEASURED);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A peak inside an inner span belongs to the outer one too; what came before a span does not belong
 * to it. */
static void test_nested_spans_each_have_their_peak(void **state)
{
    (void)state;
    if (assay_memory_reset_peak() != ASSAY_OK) {
        print_message("the kernel does not let its peak be reset here\n");
        skip();
    }
    assay_monitor *monitor = monitor_with(ASSAY_MEMORY_PEAK);
    double before = resident();
    take_and_give_back(64 * MEGABYTE);
    ASSAY_TRACK(monitor, "outer") {
        take_and_give_back(8 * MEGABYTE);
        ASSAY_TRACK(monitor, "small") {
            take_and_give_back(4 * MEGABYTE);
        }
        ASSAY_TRACK(monitor, "large") {
            take_and_give_back(32 * MEGABYTE);
        }
        ASSAY_TRACK(monitor, "none") {
        }
    }
    ASSAY_TRACK(monitor, "early") {
        take_and_give_back(16 * MEGABYTE);
        ASSAY_TRACK(monitor, "inner") {
        }
    }
    assay_record *record = record_of(monitor);
    static const struct {
        const char *name;
        double mib;
    } expected[] = {{"outer", 32}, {"small", 4},  {"large", 32},
                    {"none", 0},   {"early", 16}, {"inner", 0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assay_reading peak = operation_of(record, expected[i].name)->rss_peak_bytes;
        peak.value -= before;
        assert_mib(peak, expected[i].mib);
    }
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_heap_without_the_interposer_is_unsupported(void **state)
{
    (void)state;
    if (assay_heap_available())
        skip();
    assay_monitor *monitor = monitor_with(ASSAY_MEMORY_HEAP);
    ASSAY_TRACK(monitor, "op") {
    }
    assay_record *record = record_of(monitor);
    const assay_record_operation *op = operation_of(record, "op");
    assert_int_equal(op->count, 1);
    assert_int_equal(op->heap_peak_bytes.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(op->heap_allocations.validity, ASSAY_UNSUPPORTED);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The kernel counts pages in batches on each processor (Linux 6.2 and later): who moves from one to
 * another leaves some uncounted on each. */
static int stay_on_this_processor(void **state)
{
    (void)state;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    return sched_setaffinity(0, sizeof here, &here);
}

int main(void)
{
    if (is_shadowed) {
        puts("skipped: the thread sanitizer's shadow of touched memory is resident too");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deltas_are_those_of_each_span),
        cmocka_unit_test(test_metrics_have_their_delta),
        cmocka_unit_test(test_nested_spans_each_have_their_peak),
        cmocka_unit_test(test_heap_without_the_interposer_is_unsupported),
    };
    return cmocka_run_group_tests(tests, stay_on_this_processor, NULL);
}
