/* A driver and a management library that are too old for us (tests/fake, built with FAKE_OLD): the
 * program goes on, and the missing figures have a reason. */
#include "assay/assay.h"
#include "assay/gpu.h"
#include "assay/meter.h"
#include "assay/timers.h"
#include "tests/fake/cuda.h"
#include "tests/unit/fake_gpu.h"

static char stream;

/* cuStreamGetCtx is missing: the time of the thread is kept, that of the device is unsupported. */
static void test_spans_without_the_device(void **state)
{
    (void)state;
    assay_monitor *monitor = NULL;
    assay_record *record = NULL;
    fake_work(&stream, 1);
    assert_int_equal(assay_monitor_new(NULL, &monitor), ASSAY_OK);
    ASSAY_TRACK_STREAM(monitor, "forward", &stream)
    {
        fake_work(&stream, 1);
    }
    ASSAY_TRACK(monitor, "plain") {
    }
    assert_int_equal(assay_gpu_resolve(monitor, 0.01), 0);
    assert_int_equal(assay_monitor_record(monitor, NULL, &record), ASSAY_OK);
    assert_int_equal(record->operation_count, 2);
    assert_int_equal(record->operations[0].count, 1);
    assert_int_equal(record->operations[0].gpu_seconds.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(record->operations[1].gpu_seconds.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(record->lane_count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

static void test_memory_is_unsupported(void **state)
{
    (void)state;
    assay_gpu_memory memory = assay_get_gpu_memory_usage();
    assert_int_equal(memory.allocated_bytes.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(memory.reserved_bytes.validity, ASSAY_UNSUPPORTED);
}

static void test_the_library_is_too_old(void **state)
{
    (void)state;
    size_t count = 7;
    assay_error error = {0};
    assay_meter *meter = NULL;
    assert_int_equal(assay_device_count(&error, &count), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "too old: update the NVIDIA driver"));
    assert_int_equal(assay_meter_new(NULL, &error, &meter), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "too old"));
    assert_null(meter);
}

int main(void)
{
    setenv("ASSAY_POWERCAP", "/nonexistent", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_without_the_device),
        cmocka_unit_test(test_memory_is_unsupported),
        cmocka_unit_test(test_the_library_is_too_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
