/* Memory on a device, as the fake driver (tests/fake/cuda.c) reports it: in the record's metrics,
 * in the timers, in the lines of blocks and epochs. The pool is empty at the begin of the program,
 * so the order of the tests matters. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/assay.h"
#include "assay/performance.h"
#include "assay/timers.h"
#include "assay/training.h"
#include "tests/fake/cuda.h"

static const long long MB = 1 << 20;

static void assert_reads(assay_reading reading, long long bytes)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_int_equal((long long)reading.value, bytes);
}

/* Up by 300 MB and down again by 250. */
static void *work(void *unused)
{
    fake_allocate(300 * MB);
    fake_allocate(-250 * MB);
    return unused;
}

static void test_nothing_was_taken_from_the_pool(void **state)
{
    (void)state;
    assay_gpu_memory memory = assay_get_gpu_memory_usage();
    assert_int_not_equal(memory.allocated_bytes.validity, ASSAY_VALID); /* NVML is not here */
    assert_int_equal(memory.reserved_bytes.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(memory.max_allocated_bytes.validity, ASSAY_UNSUPPORTED);
}

static void test_metrics_have_delta_and_peak(void **state)
{
    (void)state;
    assay_monitor *monitor = NULL;
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_new(NULL, &monitor), ASSAY_OK);
    ASSAY_METRIC(monitor, "idle") {
    }
    ASSAY_METRIC(monitor, "forward") {
        work(NULL);
    } /* the first use of the pool */
    ASSAY_METRIC(monitor, "outer") {
        fake_allocate(100 * MB);
        ASSAY_METRIC(monitor, "inner") {
            work(NULL);
        }
        fake_allocate(-150 * MB);
    }
    ASSAY_METRIC(monitor, "free") {
        fake_allocate(-10 * MB);
    }
    assert_int_equal(assay_monitor_record(monitor, NULL, &record), ASSAY_OK);
    static const struct {
        const char *name;
        long long delta, peak;
    } expected[] = {{"forward", 50, 300}, {"inner", 50, 450}, {"outer", 0, 450}, {"free", -10, 50}};
    assert_int_equal(record->metric_count, 5);
    assert_int_equal(record->metrics[0].gpu_delta_bytes.validity, ASSAY_NOT_MEASURED);
    for (size_t i = 0; i < 4; i++) {
        const assay_record_metric *metric = &record->metrics[i + 1];
        assert_string_equal(metric->operation, expected[i].name);
        assert_reads(metric->gpu_delta_bytes, expected[i].delta * MB);
        assert_reads(metric->gpu_peak_bytes, expected[i].peak * MB);
    }
    for (size_t i = 0; i < record->operation_count; i++)
        if (strcmp(record->operations[i].name, "inner") == 0) {
            assert_reads(record->operations[i].gpu_delta_bytes, 50 * MB);
            assert_reads(record->operations[i].gpu_peak_bytes, 450 * MB);
        }
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_timers(void **state)
{
    (void)state;
    assay_timers *timers = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(assay_timers_new(stream, &timers), ASSAY_OK);
    fake_allocate(-40 * MB);
    assert_ptr_equal(assay_track_time_and_gpu(timers, "KAN", work, timers), timers);
    fclose(stream);
    assert_non_null(strstr(text, ", GPU peak: 450.0 MB\n"));
    assay_gpu_memory memory = assay_get_gpu_memory_usage();
    assert_reads(memory.allocated_bytes, 50 * MB);
    assert_reads(memory.reserved_bytes, 480 * MB);
    assert_reads(memory.max_allocated_bytes, 450 * MB);
    free(text);
    assay_timers_free(timers);
}

static void test_lines_of_blocks(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assay_record_metric metric;
    fake_allocate(450 * MB); /* to 500 */
    assay_track_performance("critical", stream, work, NULL, &metric);
    fclose(stream);
    assert_reads(metric.gpu_delta_bytes, 50 * MB);
    assert_reads(metric.gpu_peak_bytes, 800 * MB);
    assert_non_null(strstr(text, ", GPU +50.0MB\n"));
    assert_non_null(strstr(text, "GPU peak: 800.0MB\n"));
    free(text);
    fake_allocate(-500 * MB);
    assay_track_performance("lower", NULL, work, NULL, &metric); /* below the peak so far */
    assert_reads(metric.gpu_peak_bytes, 100 * MB);
}

static void test_lines_of_epochs(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    assay_epoch_monitor *monitor = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.output = open_memstream(&text, &length);
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_OK);
    assay_epoch_monitor_on_epoch_start(monitor);
    assay_epoch_monitor_on_batch_start(monitor, 0);
    assay_epoch_monitor_on_batch_end(monitor, 0, 0.5);
    assay_epoch_monitor_on_epoch_end(monitor);
    fclose(options.output);
    assert_non_null(strstr(text, ", GPU 100.0MB, "));
    assert_non_null(strstr(text, "GPU 100.0MB, 800MB reserved, peak 800MB"));
    free(text);
    assay_epoch_monitor_free(monitor);
}

/* A driver that is older, a context that is gone. */
static void test_no_pool_no_context(void **state)
{
    (void)state;
    fake_cuda_faults()->pool = 801;
    assert_int_equal(assay_get_gpu_memory_usage().reserved_bytes.validity, ASSAY_UNSUPPORTED);
    fake_cuda_faults()->pool = 0;
    fake_set_context(NULL);
    assay_gpu_memory memory = assay_get_gpu_memory_usage();
    assert_int_equal(memory.allocated_bytes.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(memory.max_allocated_bytes.validity, ASSAY_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_was_taken_from_the_pool),
        cmocka_unit_test(test_metrics_have_delta_and_peak),
        cmocka_unit_test(test_timers),
        cmocka_unit_test(test_lines_of_blocks),
        cmocka_unit_test(test_lines_of_epochs),
        cmocka_unit_test(test_no_pool_no_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
