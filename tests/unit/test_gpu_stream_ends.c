/* Spans on streams when the driver refuses, when streams, contexts and devices go, and when the
 * process forks or exits. The driver is a fake one (tests/fake/cuda.c). */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/gpu_stream_fixture.h"

static void assert_declined(assay_monitor *monitor)
{
    run_span(monitor, &first_stream, 0.1);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->count, 1); /* the thread's time is kept */
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 0);
    assert_int_equal(operation_of(record, "forward")->gpu_seconds.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(dropped(record), 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_what_the_driver_refuses_is_counted(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    fake_cuda_faults()->capturing = 1;
    assert_declined(monitor);
    monitor = new_monitor();
    fake_cuda_faults()->event_new = 2;
    assert_declined(monitor);
    monitor = new_monitor();
    fake_cuda_faults()->event_record = 400;
    assert_declined(monitor);
    monitor = new_monitor();
    fake_cuda_faults()->event_query = 719; /* the device is lost in the middle */
    assert_declined(monitor);
    monitor = new_monitor();
    fake_cuda_faults()->event_elapsed = 400;
    assert_declined(monitor);
}

/* A capture that begins inside of a block: its start is recorded, its end must not be. */
static void test_capture_begins_within_a_span(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    assay_gpu_span span = assay_gpu_stream_begin(monitor, "forward", &first_stream);
    fake_cuda_faults()->capturing = 1;
    assay_gpu_stream_end(span);
    fake_cuda_faults()->capturing = 0;
    run_span(monitor, &first_stream, 0.5);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 1);
    assert_int_equal(dropped(record), 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* Another stream is captured while spans of this one are under way: asking for them must not break
 * that capture, neither at the begin of a span nor for a record, and no span is lost. */
static void test_captures_elsewhere_are_left_alone(void **state)
{
    (void)state;
    enum { SPANS = 100 };
    assay_monitor *monitor = new_monitor();
    fake_cuda_faults()->captures_elsewhere = 1;
    for (int i = 0; i < SPANS; i++) {
        run_span(monitor, &first_stream, 0.01);
        fake_advance(0.02);
    }
    assert_int_equal(assay_gpu_resolve(monitor, 0), 0);
    assay_record *record = record_of(monitor);
    assert_int_equal(fake_cuda_faults()->broken_captures, 0);
    assert_int_equal(fake_capture_mode(), 0);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, SPANS);
    assert_int_equal(dropped(record), 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_no_context_no_stream(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    fake_cuda_faults()->stream_context = 201;
    run_span(monitor, &first_stream, 0.1);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->count, 1);
    assert_int_equal(operation_of(record, "forward")->gpu_seconds.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(record->lane_count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_gpu_span nothing = assay_gpu_stream_begin(NULL, "forward", &first_stream);
    assay_gpu_stream_end(nothing);
    assert_int_equal(assay_gpu_resolve(NULL, 1), 0);
}

static void test_a_child_leaves_the_device_alone(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    assay_gpu_span span = assay_gpu_stream_begin(monitor, "forward", &first_stream);
    pid_t child = fork();
    if (child == 0) {
        assay_gpu_stream_end(span);
        run_span(monitor, &first_stream, 0.1);
        assay_record *own = NULL;
        bool right = assay_monitor_record(monitor, NULL, &own) == ASSAY_OK &&
                     operation_of(own, "forward")->count == 1;
        assay_record_free(own);
        assay_monitor_free(monitor);
        _exit(right ? 0 : 1);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    fake_work(&first_stream, 0.5);
    assay_gpu_stream_end(span);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 0.5);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A stream that is destroyed after its span: what was queued completes, and counts. */
static void test_a_stream_is_destroyed_after_its_span(void **state)
{
    (void)state;
    static char stream;
    assay_monitor *monitor = new_monitor();
    run_span(monitor, &stream, 0.5);
    fake_destroy_stream(&stream);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 0.5);
    assert_int_equal(dropped(record), 0);
    assay_record_free(record);
    run_span(monitor, &stream, 0.5); /* it is no stream any more: the thread's time is kept */
    record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->count, 2);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 1);
    assay_record_free(record);
    fake_put_stream(&stream, fake_context(0)); /* a new stream has the address of the old one */
    run_span(monitor, &stream, 0.25);
    fake_advance(1);
    record = record_of(monitor);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 0.75);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

static void test_a_stream_is_destroyed_within_its_span(void **state)
{
    (void)state;
    static char stream;
    assay_monitor *monitor = new_monitor();
    assay_gpu_span span = assay_gpu_stream_begin(monitor, "forward", &stream);
    fake_destroy_stream(&stream);
    assay_gpu_stream_end(span);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->count, 1);
    assert_int_equal(operation_of(record, "forward")->gpu_seconds.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(dropped(record), 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* The device is lost, or reset, with spans under way and one open: all are counted, none waits. */
static void test_the_contexts_are_gone(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 3; i++)
        run_span(monitor, &first_stream, 0.5);
    assay_gpu_span open = assay_gpu_stream_begin(monitor, "forward", &first_stream);
    fake_destroy_contexts();
    assay_gpu_stream_end(open);
    assert_int_equal(assay_gpu_resolve(monitor, 5), 0);
    run_span(monitor, NULL, 0.5); /* no context is current */
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->count, 5);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 0);
    assert_int_equal(dropped(record), 4);
    assay_record_free(record);
    assay_monitor_free(monitor); /* its events went with their context */
    fake_set_context(fake_context(0));
}

/* A child of a process that has spans under way: it neither asks for them nor frees their events,
 * and counts its own on its thread. The parent loses nothing. */
static void test_fork_after_a_span(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    run_span(monitor, &first_stream, 0.5);
    const size_t events = fake_live_events();
    pid_t child = fork();
    if (child == 0) {
        bool right = assay_gpu_resolve(monitor, 1) == 0;
        fake_cuda_faults()->context_now = 3; /* as after a fork: CUDA is not initialised */
        fake_cuda_faults()->stream_context = 3;
        run_span(monitor, &first_stream, 0.5);
        assay_record *own = NULL;
        right = right && assay_monitor_record(monitor, NULL, &own) == ASSAY_OK &&
                operation_of(own, "forward")->count == 1 &&
                operation_of(own, "forward")->gpu_seconds.validity == ASSAY_UNSUPPORTED;
        assay_record_free(own);
        assay_monitor_free(monitor);
        _exit(right && fake_live_events() == events ? 0 : 1);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 0.5);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* The device is lost at each call of the driver in turn. The program goes on, and every span is
 * either timed or counted as dropped or declined. */
static void test_a_device_that_is_lost_at_any_call(void **state)
{
    (void)state;
    for (int calls = 1; calls < 120; calls++) {
        assay_monitor *monitor = NULL;
        assay_record *record = NULL;
        assert_int_equal(assay_monitor_new(NULL, &monitor), ASSAY_OK);
        fake_cuda_reset_calls();
        fake_cuda_faults()->lost_after = calls;
        for (int i = 0; i < 4; i++) {
            ASSAY_TRACK_STREAM(monitor, "step", (void *)0x7000)
            {
                ASSAY_TRACK_STREAM(monitor, "default", NULL)
                {
                    fake_work((void *)0x7000, 0.25);
                }
            }
            fake_advance(1);
            (void)assay_gpu_resolve(monitor, 0);
        }
        assert_int_equal(assay_gpu_resolve(monitor, 0), 0);
        assert_int_equal(assay_monitor_record(monitor, NULL, &record), ASSAY_OK);
        assert_int_equal(record->operation_count, 2);
        uint64_t timed = 0;
        for (size_t i = 0; i < record->operation_count; i++) {
            const assay_record_operation *it = &record->operations[i];
            assert_int_equal(it->count, 4); /* on the thread */
            timed += it->gpu_spans;
            if (it->gpu_spans == 0)
                assert_true(it->gpu_seconds.validity == ASSAY_UNSUPPORTED ||
                            it->gpu_seconds.validity == ASSAY_NOT_ENOUGH_DATA);
        }
        assert_true(timed + record->integrity.dropped_spans <= 8);
        assay_record_free(record);
        assay_monitor_free(monitor);
        fake_cuda_faults()->lost_after = 0;
    }
}

/* The program ends with spans that were not resolved, with or without freeing its monitor. */
static void test_exit_with_spans_under_way(void **state)
{
    (void)state;
    for (int frees = 0; frees < 2; frees++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            assay_monitor *monitor = new_monitor();
            run_span(monitor, &first_stream, 1e9);
            (void)assay_gpu_stream_begin(monitor, "open", &first_stream);
            fake_cuda_faults()->context_push =
                4; /* CUDA_ERROR_DEINITIALIZED, as in exit handlers */
            fake_cuda_faults()->event_query = 4;
            fake_set_context(NULL);
            if (frees)
                assay_monitor_free(monitor);
#ifdef __SANITIZE_ADDRESS__
            else
                _exit(0); /* what is kept is a leak to the sanitizer */
#endif
            exit(0);
        }
        int how = -1;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_int_equal(how, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_driver_refuses_is_counted),
        cmocka_unit_test(test_capture_begins_within_a_span),
        cmocka_unit_test(test_captures_elsewhere_are_left_alone),
        cmocka_unit_test(test_no_context_no_stream),
        cmocka_unit_test(test_a_child_leaves_the_device_alone),
        cmocka_unit_test(test_a_stream_is_destroyed_after_its_span),
        cmocka_unit_test(test_a_stream_is_destroyed_within_its_span),
        cmocka_unit_test(test_fork_after_a_span),
        cmocka_unit_test(test_a_device_that_is_lost_at_any_call),
        cmocka_unit_test(test_exit_with_spans_under_way),
        cmocka_unit_test(test_the_contexts_are_gone), /* the last, because they stay away */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
