/* Spans on streams: their times, lanes and places in time, and how many there may be. The driver is
 * a fake one with the name of the real one (tests/fake/cuda.c). Its device runs when the test says
 * so. */
#include <math.h>
#include <pthread.h>

#include "tests/unit/gpu_stream_fixture.h"

static char second_stream;

static void test_time_of_the_device_beside_that_of_the_thread(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    ASSAY_TRACK(monitor, "step") {
        run_span(monitor, &first_stream, 0.010);
        run_span(monitor, &first_stream, 0.020);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->count, 2);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 0); /* the device has not run */
    assay_record_free(record);
    fake_advance(0.015);
    assert_int_equal(assay_gpu_resolve(monitor, 0), 1);
    fake_advance(1);
    assert_int_equal(assay_gpu_resolve(monitor, 0), 0);
    record = record_of(monitor);
    const assay_record_operation *forward = operation_of(record, "forward");
    assert_int_equal(record->operations[forward->parent].parent, -1);
    assert_string_equal(record->operations[forward->parent].name, "step");
    assert_int_equal(forward->count, 2);
    assert_true(forward->total_seconds < 0.005); /* the calls returned at once */
    assert_int_equal(forward->gpu_spans, 2);
    assert_near(forward->gpu_seconds.value, 0.030);
    assert_true(forward->gpu_seconds_low.value < 0.030 && forward->gpu_seconds_high.value > 0.030);
    assert_int_equal(operation_of(record, "step")->gpu_seconds.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(dropped(record), 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* Work that was queued before the block is not its own. */
static void test_earlier_work_is_not_counted(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    fake_work(&first_stream, 5);
    run_span(monitor, &first_stream, 0.25);
    fake_work(&first_stream, 7);
    fake_advance(20);
    assay_record *record = record_of(monitor);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 0.25);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_streams_are_lanes(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    run_span(monitor, NULL, 0.5);
    run_span(monitor, &first_stream, 0.5);
    run_span(monitor, &second_stream, 0.5);
    run_span(monitor, &first_stream, 0.5);
    fake_advance(2);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->lane_count, 4);
    const char *const names[] = {"cuda:3 default stream", "cuda:3 stream 2", "cuda:3 stream 3"};
    size_t found = 0;
    for (size_t i = 0; i < record->lane_count; i++)
        if (record->lanes[i].kind == ASSAY_LANE_GPU_STREAM)
            assert_string_equal(record->lanes[i].name, names[found++]);
    assert_int_equal(found, 3);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 2.0);
    size_t events = 0;
    for (size_t i = 0; i < record->event_count; i++)
        if (record->lanes[record->events[i].lane].kind == ASSAY_LANE_GPU_STREAM) {
            assert_near(record->events[i].duration_seconds, 0.5);
            events++;
        }
    assert_int_equal(events, 4);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* Events stand in the order and at the distances of the device, not where they were resolved. */
static void test_place_in_time(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < 3; i++) {
        run_span(monitor, &first_stream, 0.002);
        fake_work(&first_stream, 0.003);
    }
    fake_advance(1);
    assay_record *record = record_of(monitor);
    double starts[3];
    size_t count = 0;
    for (size_t i = 0; i < record->event_count && count < 3; i++)
        if (record->lanes[record->events[i].lane].kind == ASSAY_LANE_GPU_STREAM)
            starts[count++] = record->events[i].start_seconds;
    assert_int_equal(count, 3);
    assert_true(fabs(starts[1] - starts[0] - 0.005) < 1e-4);
    assert_true(fabs(starts[2] - starts[1] - 0.005) < 1e-4);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static uint64_t host_ns;

static uint64_t read_host(void *context)
{
    (void)context;
    return host_ns;
}

/* Let the host run for `seconds`. The device's clock is fast by `drift`. */
static void run_both(double seconds, double drift)
{
    host_ns += (uint64_t)(seconds * 1e9);
    fake_advance(seconds * (1 + drift));
}

/* The farthest that an event of ten minutes is from its true place, when the clock of the device
 * drifts and each span starts `queued` seconds after its launch, but at once every 20 s. */
static double farthest_event(double drift, double queued)
{
    enum { SPANS = 1200 };
    static const double step = 0.5, work = 0.01;
    assay_monitor *monitor = NULL;
    assay_clock *clock = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    host_ns = 1000000000;
    assert_int_equal(assay_clock_new_injected(read_host, NULL, &clock), ASSAY_OK);
    options.clock = clock;
    options.trace_events = 2 * SPANS;
    options.private_journal = true;
    assert_int_equal(assay_monitor_new(&options, &monitor), ASSAY_OK);
    for (int i = 0; i < SPANS; i++) {
        if (i % 40 != 0)
            fake_work(&first_stream, queued);
        run_span(monitor, &first_stream, work);
        run_both(step, drift);
    }
    assay_record *record = record_of(monitor);
    double far = 0;
    int found = 0;
    for (size_t i = 0; i < record->event_count; i++)
        if (record->lanes[record->events[i].lane].kind == ASSAY_LANE_GPU_STREAM) {
            const double truth = step * found + (found % 40 != 0 ? queued : 0);
            far = fmax(far, fabs(record->events[i].start_seconds - record->events[0].start_seconds -
                                 truth));
            found++;
        }
    assert_int_equal(found, SPANS);
    fprintf(stderr, "drift %g, queued %g: %g s\n", drift, queued, far);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_clock_free(clock);
    return far;
}

static void test_place_in_time_while_clocks_drift(void **state)
{
    (void)state;
    assert_true(farthest_event(0, 0) < 1e-4);
    assert_true(farthest_event(50e-6, 0) < 1e-3);
    assert_true(farthest_event(-50e-6, 0) < 1e-3);
    assert_true(farthest_event(50e-6, 0.1) < 3e-3);
    assert_true(farthest_event(-50e-6, 0.1) < 3e-3);
}

/* More than can be under way: the rest is counted, nothing is lost of the others. */
static void test_the_pool_is_bounded(void **state)
{
    (void)state;
    enum { SPANS = 5000, MOST = 4096 };
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < SPANS; i++)
        run_span(monitor, &first_stream, 0.001);
    assert_int_equal(assay_gpu_resolve(monitor, 0.001), MOST);
    fake_advance(100);
    for (int i = 0; i < 3 * MOST; i++) {
        run_span(monitor, &first_stream, 0.001);
        fake_advance(1);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 4 * MOST);
    assert_int_equal(dropped(record), SPANS - MOST);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* A program that makes a stream for each task makes more of them than there are lanes. A new stream
 * takes over the lane of one that is idle. */
static void test_thousands_of_streams(void **state)
{
    (void)state;
    enum { STREAMS = 1000, LANES = 256 };
    static char streams[STREAMS];
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < STREAMS; i++) {
        run_span(monitor, &streams[i], 0.01);
        fake_advance(0.02);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, STREAMS);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 0.01 * STREAMS);
    assert_int_equal(record->lane_count, 1 + LANES);
    assert_int_equal(dropped(record), 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* More streams are busy at once than there are lanes: the spans of the others are counted. */
static void test_too_many_busy_streams(void **state)
{
    (void)state;
    enum { STREAMS = 300, LANES = 256 };
    static char streams[STREAMS];
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < STREAMS; i++)
        run_span(monitor, &streams[i], 1);
    ASSAY_TRACK_STREAM(monitor, "last", &streams[STREAMS - 1])
    {
    }
    fake_advance(2);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, LANES);
    assert_int_equal(operation_of(record, "last")->gpu_seconds.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(dropped(record), STREAMS - LANES + 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* The end of a span that has already ended changes nothing, also if another span has its flight. */
static void test_a_span_ends_twice(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    assay_gpu_span first = assay_gpu_stream_begin(monitor, "forward", &first_stream);
    fake_work(&first_stream, 0.25);
    assay_gpu_stream_end(first);
    assay_gpu_stream_end(first);
    fake_advance(1);
    assert_int_equal(assay_gpu_resolve(monitor, 0), 0);
    assay_gpu_span second = assay_gpu_stream_begin(monitor, "forward", &first_stream);
    assay_gpu_stream_end(first);
    fake_work(&first_stream, 0.5);
    assay_gpu_stream_end(second);
    fake_advance(1);
    ASSAY_TRACK(monitor, "step") {
        assay_gpu_span part = assay_gpu_stream_enter(monitor, &first_stream);
        assay_gpu_stream_end(part);
        assay_gpu_stream_end(part);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 2);
    assert_near(operation_of(record, "forward")->gpu_seconds.value, 0.75);
    assert_int_equal(operation_of(record, "step")->gpu_spans, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
}

/* Two threads on one stream, each in a context that it has to enter first. */
static void *spans_of_a_thread(void *monitor)
{
    for (int i = 0; i < 1000; i++)
        run_span(monitor, &first_stream, 0);
    return NULL;
}

static void test_threads_share_a_stream(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, spans_of_a_thread, monitor), 0);
    pthread_join(thread, NULL);
    spans_of_a_thread(monitor);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "forward")->gpu_spans, 2000);
    assert_int_equal(dropped(record), 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Streams of two devices at once: each has its lane, and its events in its own context, which is
 * current only while they are made. */
static void test_several_devices(void **state)
{
    (void)state;
    static char here, there;
    assay_monitor *monitor = new_monitor();
    fake_put_stream(&here, fake_context(0));
    fake_put_stream(&there, fake_context(1));
    fake_set_context(fake_context(0));
    ASSAY_TRACK_STREAM(monitor, "copy", &here)
    {
        fake_work(&here, 0.25);
        ASSAY_TRACK_STREAM(monitor, "remote", &there)
        {
            fake_work(&there, 0.5);
        }
    }
    run_span(monitor, NULL, 1);
    fake_set_context(fake_context(1));
    run_span(monitor, NULL, 2); /* the default stream of another device is another stream */
    fake_advance(10);
    assay_record *record = record_of(monitor);
    const char *const names[] = {"cuda:0 stream 1", "cuda:1 stream 2", "cuda:0 default stream",
                                 "cuda:1 default stream"};
    size_t found = 0;
    for (size_t i = 0; i < record->lane_count; i++)
        if (record->lanes[i].kind == ASSAY_LANE_GPU_STREAM)
            assert_string_equal(record->lanes[i].name, names[found++]);
    assert_int_equal(found, 4);
    assert_near(operation_of(record, "copy")->gpu_seconds.value, 0.25);
    assert_near(operation_of(record, "remote")->gpu_seconds.value, 0.5);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
    fake_set_context(fake_context(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_of_the_device_beside_that_of_the_thread),
        cmocka_unit_test(test_earlier_work_is_not_counted),
        cmocka_unit_test(test_streams_are_lanes),
        cmocka_unit_test(test_place_in_time),
        cmocka_unit_test(test_place_in_time_while_clocks_drift),
        cmocka_unit_test(test_the_pool_is_bounded),
        cmocka_unit_test(test_thousands_of_streams),
        cmocka_unit_test(test_too_many_busy_streams),
        cmocka_unit_test(test_a_span_ends_twice),
        cmocka_unit_test(test_threads_share_a_stream),
        cmocka_unit_test(test_several_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
