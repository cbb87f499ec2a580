/* The heap figures of a monitor's spans, compared with known allocations. */
#include "tests/unit/monitor_fixture.h"

#include <pthread.h>

#include "tests/accuracy/heap_blocks.h"

static assay_monitor *heap_monitor(void)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.memory = ASSAY_MEMORY_HEAP;
    return open_monitor(&options);
}

static void check(const assay_record *record, const char *name, double delta, double peak,
                  double allocations)
{
    const assay_record_operation *op = operation_of(record, name);
    assert_int_equal(op->heap_delta_bytes.validity, ASSAY_VALID);
    assert_true(op->heap_delta_bytes.value == delta);
    assert_true(op->heap_peak_bytes.value == peak);
    assert_true(op->heap_allocations.value == allocations);
}

/* The first pass makes the nodes, which allocates; what is checked is the second, after clear. */
static void test_spans_have_exact_heap_figures(void **state)
{
    (void)state;
    assay_monitor *monitor = heap_monitor();
    double large = 0, small = 0;
    for (int pass = 0; pass < 2; pass++) {
        void *kept = NULL;
        assay_monitor_clear(monitor);
        ASSAY_TRACK(monitor, "outer") {
            ASSAY_TRACK(monitor, "passing") {
                for (int i = 0; i < 10; i++) {
                    void *block = do_malloc(100000);
                    large = (double)malloc_usable_size(block);
                    do_free(block);
                }
            }
            ASSAY_TRACK(monitor, "keeping") {
                kept = do_malloc(1000);
                small = (double)malloc_usable_size(kept);
            }
            ASSAY_TRACK(monitor, "freeing") {
                do_free(kept);
            }
            ASSAY_TRACK(monitor, "nothing") {
            }
        }
    }
    assay_record *record = record_of(monitor);
    check(record, "passing", 0, large, 10);
    check(record, "keeping", small, small, 1);
    check(record, "freeing", -small, 0, 0);
    check(record, "nothing", 0, 0, 0);
    check(record, "outer", 0, large, 11);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void *allocate_a_lot(void *argument)
{
    for (int i = 0; i < 1000; i++)
        do_free(do_malloc(5000));
    return argument;
}

/* Another thread's allocations are none of this thread's spans. */
static void test_spans_see_their_own_thread_only(void **state)
{
    (void)state;
    assay_monitor *monitor = heap_monitor();
    for (int pass = 0; pass < 2; pass++) {
        pthread_t thread;
        assay_monitor_clear(monitor);
        assert_int_equal(pthread_create(&thread, NULL, allocate_a_lot, NULL), 0);
        ASSAY_TRACK(monitor, "alone") {
            do_free(do_malloc(10));
        }
        pthread_join(thread, NULL);
    }
    assay_record *record = record_of(monitor);
    assert_true(operation_of(record, "alone")->heap_allocations.value == 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The promise of the hot path: once an operation is known, its spans do not allocate. */
static void test_spans_do_not_allocate(void **state)
{
    (void)state;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.trace_events = 1024;
    assay_monitor *monitor = open_monitor(&options);
    assay_heap_figures before = {.struct_size = sizeof before}, after = before;
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(assay_heap_read(&before), ASSAY_OK);
        for (int i = 0; i < 100000; i++)
            ASSAY_TRACK(monitor, "outer") {
                ASSAY_TRACK(monitor, "inner") {
                }
            }
        for (int i = 0; i < 1000; i++) {
            assay_span_end(assay_monitor_begin(monitor, "named at run time"));
            assay_monitor_count(monitor, "counter", i);
            ASSAY_METRIC(monitor, "metric") {
            }
        }
        assert_int_equal(assay_heap_read(&after), ASSAY_OK);
    }
    assert_true(after.allocations == before.allocations);
    assay_monitor_free(monitor);
}

int main(int count, char **arguments)
{
    (void)count;
    int status = run_preloaded(arguments);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_have_exact_heap_figures),
        cmocka_unit_test(test_spans_see_their_own_thread_only),
        cmocka_unit_test(test_spans_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
