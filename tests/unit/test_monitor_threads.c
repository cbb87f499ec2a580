/* Threads on the real clock: counts are exact whatever the interleaving. These tests run under TSan
 * as well. */
#include "tests/unit/monitor_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/state.h"
#include "tests/emulator.h"
#include "tests/sanitizers.h"

enum { THREADS = 4, SPANS = 20000 };

static void *work(void *argument)
{
    assay_monitor *monitor = argument;
    for (int i = 0; i < SPANS; i++)
        ASSAY_TRACK(monitor, "outer") {
            ASSAY_TRACK(monitor, "inner") {
            }
        }
    return NULL;
}

static void run_threads(assay_monitor *monitor, size_t count, void *(*body)(void *))
{
    pthread_t threads[64];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, monitor), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static assay_monitor *private_monitor(size_t trace_events)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.trace_events = trace_events;
    return open_monitor(&options);
}

static void test_threads_that_ended_keep_their_figures(void **state)
{
    (void)state;
    assay_monitor *monitor = private_monitor(0);
    run_threads(monitor, THREADS, work);
    work(monitor);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "outer")->count, (THREADS + 1) * SPANS);
    assert_int_equal(operation_of(record, "inner")->count, (THREADS + 1) * SPANS);
    assert_int_equal(record->lane_count, THREADS + 1);
    size_t ended = 0;
    for (size_t i = 0; i < record->lane_count; i++)
        ended += record->lanes[i].ended;
    assert_int_equal(ended, THREADS);
    assert_clean(record);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void *work_a_little(void *argument)
{
    assay_monitor *monitor = argument;
    for (int i = 0; i < 3; i++)
        ASSAY_TRACK(monitor, "little") {
        }
    return NULL;
}

/* Ten times more threads than the journal has lanes for. */
static void test_lanes_are_recycled(void **state)
{
    (void)state;
    assay_monitor *monitor = private_monitor(4096);
    for (int i = 0; i < 640; i++)
        run_threads(monitor, 1, work_a_little);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "little")->count, 3 * 640);
    size_t events = 0;
    for (size_t i = 0; i < record->event_count; i++)
        events += record->events[i].kind == ASSAY_EVENT_SPAN;
    assert_int_equal(events, 3 * 640);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Opened when every thread of the crowd is at work. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t there;
    bool open;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void wait_at_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.there++;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.open)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void open_gate(size_t when_there)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.there < when_there)
        pthread_cond_wait(&gate.changed, &gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static void *work_at_once(void *argument)
{
    assay_monitor *monitor = argument;
    ASSAY_TRACK(monitor, "first") {
    }
    wait_at_gate(); /* every thread holds its lane now */
    ASSAY_TRACK(monitor, "second") {
    }
    return NULL;
}

/* How many threads there could be, up to `count`; all of them live at once. */
static size_t run_at_once(assay_monitor *monitor, size_t count, void *(*body)(void *))
{
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_attr_t attributes;
    size_t made = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 * 1024);
    gate.there = 0;
    gate.open = false;
    while (made < count && pthread_create(&threads[made], &attributes, body, monitor) == 0)
        made++;
    open_gate(made);
    for (size_t i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    free(threads);
    return made;
}

/* More threads at once than there are lanes: what cannot be recorded is counted. */
static void test_threads_beyond_the_lanes_are_dropped_and_said(void **state)
{
    (void)state;
    enum { CROWD = 600 };
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.journal_bytes = 1 << 20;
    assay_monitor *monitor = open_monitor(&options);
    assert_int_equal(run_at_once(monitor, CROWD, work_at_once), CROWD);
    assay_record *record = record_of(monitor);
    uint64_t recorded = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        recorded += record->operations[i].count;
    assert_true(record->integrity.dropped_spans > 0);
    assert_int_equal(recorded + record->integrity.dropped_spans, 2 * CROWD);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

enum { KINDS = 20, ROUNDS = 5 };

static void *work_in_kinds(void *argument)
{
    assay_monitor *monitor = argument;
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            char name[16];
            snprintf(name, sizeof name, "kind %d", kind);
            assay_span_end(assay_monitor_begin(monitor, name));
        }
        if (round == 0)
            wait_at_gate();
    }
    return NULL;
}

/* Thousands of threads that live at once, with twenty operations each, in a journal that takes no
 * more than 256 MiB of disk. */
static void test_thousands_of_threads_at_once(void **state)
{
    (void)state;
    bool slow = ADDRESS_SANITIZER || THREAD_SANITIZER || emulator() != NULL;
    const size_t crowd = slow ? 256 : 4096;
    char path[] = "/tmp/assay-crowd-XXXXXX";
    assert_non_null(mkdtemp(path));
    char file[64];
    snprintf(file, sizeof file, "%s/crowd.assay", path);
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = file;
    assay_monitor *monitor = open_monitor(&options);
    size_t made = run_at_once(monitor, crowd, work_in_kinds);
    assay_monitor_free(monitor);
    if (made < crowd)
        print_message("only %zu of %zu threads are allowed here\n", made, crowd);
    struct stat info;
    assert_int_equal(stat(file, &info), 0);
    assert_true(info.st_blocks * 512LL <= 256 << 20);
    assay_record *record = NULL;
    assert_int_equal(assay_snapshot_file(file, NULL, &record), ASSAY_OK);
    assert_clean(record);
    assert_int_equal(record->operation_count, KINDS);
    for (size_t i = 0; i < KINDS; i++)
        assert_int_equal(record->operations[i].count, ROUNDS * made);
    assert_int_equal(record->lane_count, made);
    assay_record_free(record);
    unlink(file);
    rmdir(path);
}

static void *leave_open(void *argument)
{
    assay_monitor_begin(argument, "never ended");
    return NULL;
}

static void test_a_thread_that_ends_inside_a_span(void **state)
{
    (void)state;
    assay_monitor *monitor = private_monitor(0);
    run_threads(monitor, 2, leave_open);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.abandoned_spans, 2);
    assert_int_equal(record->open_span_count, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static atomic_bool stop;

static void *work_until_stopped(void *argument)
{
    assay_monitor *monitor = argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        ASSAY_TRACK(monitor, "busy") {
            assay_monitor_count(monitor, "counter", 1.0);
        }
    return NULL;
}

/* Snapshots while others write: never torn beyond one span of each, never ahead of the next
 * snapshot. */
static void test_snapshots_beside_busy_threads(void **state)
{
    (void)state;
    assay_monitor *monitor = private_monitor(256);
    atomic_store(&stop, false);
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_until_stopped, monitor), 0);
    uint64_t previous = 0;
    for (int i = 0; i < 50 || previous == 0; i++) {
        assay_record *record = record_of(monitor);
        const assay_record_operation *busy = find_operation(record, "busy");
        if (busy != NULL && busy->count > 0) {
            assert_true(busy->count >= previous);
            previous = busy->count;
            double count = (double)busy->count;
            assert_true(busy->total_seconds >= 0.999 * count * busy->min_seconds.value);
            assert_true(busy->total_seconds <= 1.001 * (count + 2) * busy->max_seconds.value);
        }
        for (size_t k = 1; k < record->event_count; k++)
            if (record->events[k].lane == record->events[k - 1].lane)
                assert_true(record->events[k].start_seconds >= record->events[k - 1].start_seconds);
        assay_record_free(record);
        usleep(1000);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assay_monitor_free(monitor);
}

static pthread_barrier_t all_there;

static void *use_and_outlive(void *argument)
{
    assay_monitor **monitors = argument;
    ASSAY_TRACK(monitors[0], "mine") {
    }
    pthread_barrier_wait(&all_there); /* the monitor is freed here */
    pthread_barrier_wait(&all_there);
    ASSAY_TRACK(monitors[1], "mine") {
    }
    return NULL;
}

static void test_a_thread_outlives_a_monitor(void **state)
{
    (void)state;
    assay_monitor *monitors[2] = {private_monitor(0), private_monitor(0)};
    pthread_t thread;
    pthread_barrier_init(&all_there, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, use_and_outlive, monitors), 0);
    pthread_barrier_wait(&all_there);
    assay_monitor_free(monitors[0]);
    pthread_barrier_wait(&all_there);
    pthread_join(thread, NULL);
    assay_record *record = record_of(monitors[1]);
    assert_int_equal(operation_of(record, "mine")->count, 1);
    assert_clean(record);
    assay_record_free(record);
    assay_monitor_free(monitors[1]);
    pthread_barrier_destroy(&all_there);
}

static _Atomic uint64_t spans_ended;
static atomic_bool may_be_cancelled;

static void *measure_until_cancelled(void *argument)
{
    assay_monitor *monitor = argument;
    for (int i = 0;; i++) {
        ASSAY_TRACK(monitor, "cancelled") {
        }
        atomic_fetch_add_explicit(&spans_ended, 1, memory_order_relaxed);
        if (i == SPANS) { /* the slow paths are behind us */
            pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
            may_be_cancelled = true;
        }
    }
    return NULL;
}

/* Most of these threads are cancelled in the middle of a begin or an end. */
static void test_threads_that_are_cancelled_at_any_instruction(void **state)
{
    (void)state;
    enum { CANCELLED = 40 };
    if (THREAD_SANITIZER || ADDRESS_SANITIZER) {
        print_message("skipped: sanitizers do not support asynchronous cancelling\n");
        skip();
    }
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.memory = ASSAY_MEMORY_OFF;
    assay_monitor *monitor = open_monitor(&options);
    for (int i = 0; i < CANCELLED; i++) {
        pthread_t thread;
        may_be_cancelled = false;
        assert_int_equal(pthread_create(&thread, NULL, measure_until_cancelled, monitor), 0);
        while (!may_be_cancelled)
            sched_yield();
        usleep((useconds_t)(10 * i));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    assay_record *record = record_of(monitor);
    uint64_t count = operation_of(record, "cancelled")->count;
    assert_true(count >= spans_ended && count <= spans_ended + CANCELLED);
    assert_true(record->integrity.abandoned_spans <= CANCELLED);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static double monotonic_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The wall clock of a busy loop, measured independently from inside the span and from outside: its
 * time lies between the two, but for the rate's error. */
static void test_a_known_busy_loop_is_measured_right(void **state)
{
    (void)state;
    assay_monitor *monitor = private_monitor(0);
    double inner = 0, outer_start = monotonic_seconds();
    ASSAY_TRACK(monitor, "busy") {
        double start = monotonic_seconds();
        while (inner < 0.05)
            inner = monotonic_seconds() - start;
    }
    double outer = monotonic_seconds() - outer_start;
    assay_record *record = record_of(monitor);
    double measured = operation_of(record, "busy")->total_seconds;
    assert_true(measured >= inner * 0.999);
    assert_true(measured <= outer * 1.001);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Many operations, so that a reader of the file often meets one between two of its stores. */
static atomic_bool writing;
static atomic_uint written;

static void *write_many(void *argument)
{
    assay_monitor *monitor = argument;
    for (unsigned i = 0; writing; written = ++i) {
        char name[16];
        snprintf(name, sizeof name, "op %u", i % 5000);
        assay_span_end(assay_monitor_begin(monitor, name));
    }
    return NULL;
}

/* The journal of a process in another container has a process id that means nothing here. While it
 * is written it is live, and no operation of it is torn. */
static void test_a_journal_of_another_container_is_live(void **state)
{
    (void)state;
    enum { SNAPSHOTS = 20 };
    char file[64];
    snprintf(file, sizeof file, "/tmp/assay-container-%d.assay", (int)getpid());
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = file;
    assay_monitor *monitor = open_monitor(&options);
    ((assay__journal_header *)(uintptr_t)assay__monitor_journal(monitor))->process_id = INT32_MAX;
    writing = true;
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_many, monitor), 0);
    uint64_t torn = 0;
    while (written < 20000)
        usleep(1000);
    for (int i = 0; i < SNAPSHOTS; i++) {
        assay_record *record = NULL;
        assert_int_equal(assay_snapshot_file(file, NULL, &record), ASSAY_OK);
        torn += record->integrity.torn_operations;
        assay_record_free(record);
    }
    writing = false;
    pthread_join(writer, NULL);
    assert_int_equal(torn, 0);
    assay_monitor_free(monitor);
    assert_int_equal(unlink(file), 0);
}

/* Called once by kill() below: the reader asks whether the writer is there after it has read the
 * header and before it reads the pool. */
static void (*before_the_pool)(void);
static assay_monitor *growing;

int kill(pid_t pid, int signal)
{
    void (*now)(void) = before_the_pool;
    before_the_pool = NULL;
    if (now != NULL)
        now();
    return (int)syscall(SYS_kill, pid, signal);
}

enum { LATE_OPERATIONS = 500 };

static void add_operations(void)
{
    for (int i = 0; i < LATE_OPERATIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "late %d", i);
        assay_span_end(assay_monitor_begin(growing, name));
    }
}

/* A writer in another container, whose process id means nothing here, adds operations while the
 * reader is between the header and the rest, and is quiet afterwards. They are read in full. */
static void test_a_journal_that_grows_behind_its_header(void **state)
{
    (void)state;
    char file[64];
    snprintf(file, sizeof file, "/tmp/assay-growing-%d.assay", (int)getpid());
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = file;
    growing = open_monitor(&options);
    assay_span_end(assay_monitor_begin(growing, "first"));
    ((assay__journal_header *)(uintptr_t)assay__monitor_journal(growing))->process_id = INT32_MAX;
    before_the_pool = add_operations;
    assay_record *record = NULL;
    assert_int_equal(assay_snapshot_file(file, NULL, &record), ASSAY_OK);
    assert_null(before_the_pool);
    assert_int_equal(record->integrity.torn_operations, 0);
    assert_int_equal(record->operation_count, LATE_OPERATIONS + 1);
    for (size_t i = 0; i < record->operation_count; i++)
        assert_int_equal(record->operations[i].bucket_count, 1);
    assay_record_free(record);
    assay_monitor_free(growing);
    assert_int_equal(unlink(file), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_journal_that_grows_behind_its_header),
        cmocka_unit_test(test_threads_that_ended_keep_their_figures),
        cmocka_unit_test(test_lanes_are_recycled),
        cmocka_unit_test(test_a_journal_of_another_container_is_live),
        cmocka_unit_test(test_threads_beyond_the_lanes_are_dropped_and_said),
        cmocka_unit_test(test_thousands_of_threads_at_once),
        cmocka_unit_test(test_a_thread_that_ends_inside_a_span),
        cmocka_unit_test(test_snapshots_beside_busy_threads),
        cmocka_unit_test(test_a_thread_outlives_a_monitor),
        cmocka_unit_test(test_threads_that_are_cancelled_at_any_instruction),
        cmocka_unit_test(test_a_known_busy_loop_is_measured_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
