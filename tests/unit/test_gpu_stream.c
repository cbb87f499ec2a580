/* Spans on streams, with a fake driver that has the name of the real one (tests/fake/cuda.c). Its
 * device runs when the test says so. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/assay.h"
#include "assay/gpu.h"
#include "tests/fake/cuda.h"

static char first_stream, second_stream;

static assay_monitor *new_monitor(void)
{
    assay_monitor *monitor = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.trace_events = 1024;
    options.private_journal = true;
    assert_int_equal(assay_monitor_new(&options, &monitor), ASSAY_OK);
    memset(fake_cuda_faults(), 0, sizeof(fake_faults));
    return monitor;
}

static assay_record *record_of(assay_monitor *monitor)
{
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_record(monitor, NULL, &record), ASSAY_OK);
    return record;
}

static const assay_record_operation *operation(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->operation_count; i++)
        if (strcmp(record->operations[i].name, name) == 0)
            return &record->operations[i];
    fail_msg("no operation %s", name);
    return NULL;
}

static uint64_t dropped(const assay_record *record)
{
    return record->integrity.dropped_spans;
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * (1 + fabs(expected)))
        fail_msg("%.9g instead of %.9g", value, expected);
}

/* A span of `seconds` of work. */
static void run_span(assay_monitor *monitor, void *stream, double seconds)
{
    ASSAY_TRACK_STREAM(monitor, "forward", stream)
    {
        fake_work(stream, seconds);
    }
}

static void test_time_of_the_device_beside_that_of_the_thread(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    ASSAY_TRACK(monitor, "step") {
        run_span(monitor, &first_stream, 0.010);
        run_span(monitor, &first_stream, 0.020);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation(record, "forward")->count, 2);
    assert_int_equal(operation(record, "forward")->gpu_spans, 0); /* the device has not run */
    assay_record_free(record);
    fake_advance(0.015);
    assert_int_equal(assay_gpu_resolve(monitor, 0), 1);
    fake_advance(1);
    assert_int_equal(assay_gpu_resolve(monitor, 0), 0);
    record = record_of(monitor);
    const assay_record_operation *forward = operation(record, "forward");
    assert_int_equal(record->operations[forward->parent].parent, -1);
    assert_string_equal(record->operations[forward->parent].name, "step");
    assert_int_equal(forward->count, 2);
    assert_true(forward->total_seconds < 0.005); /* the calls returned at once */
    assert_int_equal(forward->gpu_spans, 2);
    assert_near(forward->gpu_seconds.value, 0.030);
    assert_true(forward->gpu_seconds_low.value < 0.030 && forward->gpu_seconds_high.value > 0.030);
    assert_int_equal(operation(record, "step")->gpu_seconds.validity, ASSAY_NOT_MEASURED);
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
    assert_near(operation(record, "forward")->gpu_seconds.value, 0.25);
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
    assert_near(operation(record, "forward")->gpu_seconds.value, 2.0);
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

static void assert_declined(assay_monitor *monitor)
{
    run_span(monitor, &first_stream, 0.1);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation(record, "forward")->count, 1); /* the thread's time is kept */
    assert_int_equal(operation(record, "forward")->gpu_spans, 0);
    assert_int_equal(operation(record, "forward")->gpu_seconds.validity, ASSAY_NOT_ENOUGH_DATA);
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
    assert_int_equal(operation(record, "forward")->gpu_spans, 1);
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
    assert_int_equal(operation(record, "forward")->gpu_spans, SPANS);
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
    assert_int_equal(operation(record, "forward")->count, 1);
    assert_int_equal(operation(record, "forward")->gpu_seconds.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(record->lane_count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_gpu_span nothing = assay_gpu_stream_begin(NULL, "forward", &first_stream);
    assay_gpu_stream_end(nothing);
    assert_int_equal(assay_gpu_resolve(NULL, 1), 0);
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
    assert_int_equal(operation(record, "forward")->gpu_spans, 4 * MOST);
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
    assert_int_equal(operation(record, "forward")->gpu_spans, STREAMS);
    assert_near(operation(record, "forward")->gpu_seconds.value, 0.01 * STREAMS);
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
    assert_int_equal(operation(record, "forward")->gpu_spans, LANES);
    assert_int_equal(operation(record, "last")->gpu_seconds.validity, ASSAY_UNSUPPORTED);
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
    assert_int_equal(operation(record, "forward")->gpu_spans, 2);
    assert_near(operation(record, "forward")->gpu_seconds.value, 0.75);
    assert_int_equal(operation(record, "step")->gpu_spans, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
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
                     operation(own, "forward")->count == 1;
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
    assert_near(operation(record, "forward")->gpu_seconds.value, 0.5);
    assay_record_free(record);
    assay_monitor_free(monitor);
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
    assert_int_equal(operation(record, "forward")->gpu_spans, 2000);
    assert_int_equal(dropped(record), 0);
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
    assert_near(operation(record, "forward")->gpu_seconds.value, 0.5);
    assert_int_equal(dropped(record), 0);
    assay_record_free(record);
    run_span(monitor, &stream, 0.5); /* it is no stream any more: the thread's time is kept */
    record = record_of(monitor);
    assert_int_equal(operation(record, "forward")->count, 2);
    assert_int_equal(operation(record, "forward")->gpu_spans, 1);
    assay_record_free(record);
    fake_put_stream(&stream, fake_context(0)); /* a new stream has the address of the old one */
    run_span(monitor, &stream, 0.25);
    fake_advance(1);
    record = record_of(monitor);
    assert_near(operation(record, "forward")->gpu_seconds.value, 0.75);
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
    assert_int_equal(operation(record, "forward")->count, 1);
    assert_int_equal(operation(record, "forward")->gpu_seconds.validity, ASSAY_NOT_ENOUGH_DATA);
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
    assert_int_equal(operation(record, "forward")->count, 5);
    assert_int_equal(operation(record, "forward")->gpu_spans, 0);
    assert_int_equal(dropped(record), 4);
    assay_record_free(record);
    assay_monitor_free(monitor); /* its events went with their context */
    fake_set_context(fake_context(0));
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
    assert_near(operation(record, "copy")->gpu_seconds.value, 0.25);
    assert_near(operation(record, "remote")->gpu_seconds.value, 0.5);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(fake_live_events(), 0);
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
                operation(own, "forward")->count == 1 &&
                operation(own, "forward")->gpu_seconds.validity == ASSAY_UNSUPPORTED;
        assay_record_free(own);
        assay_monitor_free(monitor);
        _exit(right && fake_live_events() == events ? 0 : 1);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    fake_advance(1);
    assay_record *record = record_of(monitor);
    assert_near(operation(record, "forward")->gpu_seconds.value, 0.5);
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
        cmocka_unit_test(test_time_of_the_device_beside_that_of_the_thread),
        cmocka_unit_test(test_earlier_work_is_not_counted),
        cmocka_unit_test(test_streams_are_lanes),
        cmocka_unit_test(test_place_in_time),
        cmocka_unit_test(test_place_in_time_while_clocks_drift),
        cmocka_unit_test(test_what_the_driver_refuses_is_counted),
        cmocka_unit_test(test_capture_begins_within_a_span),
        cmocka_unit_test(test_captures_elsewhere_are_left_alone),
        cmocka_unit_test(test_no_context_no_stream),
        cmocka_unit_test(test_the_pool_is_bounded),
        cmocka_unit_test(test_thousands_of_streams),
        cmocka_unit_test(test_too_many_busy_streams),
        cmocka_unit_test(test_a_span_ends_twice),
        cmocka_unit_test(test_a_child_leaves_the_device_alone),
        cmocka_unit_test(test_threads_share_a_stream),
        cmocka_unit_test(test_a_stream_is_destroyed_after_its_span),
        cmocka_unit_test(test_a_stream_is_destroyed_within_its_span),
        cmocka_unit_test(test_several_devices),
        cmocka_unit_test(test_fork_after_a_span),
        cmocka_unit_test(test_a_device_that_is_lost_at_any_call),
        cmocka_unit_test(test_exit_with_spans_under_way),
        cmocka_unit_test(test_the_contexts_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
