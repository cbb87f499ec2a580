/* The end of a span is stopped at every instruction. At each of them the journal must hold each
 * completed span exactly once.
 *
 * A child measures spans and raises a counter in shared memory after each. The parent steps it
 * through them by ptrace and reads the journal, which both have mapped, after every step. The
 * journal may be one span ahead of the counter, but never behind. */
#include "tests/unit/monitor_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "snapshot/merge.h"
#include "tests/sanitizers.h"

enum { WARM = 14, ROUNDS = 12, MOST_STEPS = 400000 };

typedef struct truth {
    _Atomic uint64_t completed;
    _Atomic bool over;
} truth;

typedef struct variant {
    const char *name;
    size_t trace_events, samples;
    bool warm; /* false: step through the first meetings too */
} variant;

static const variant variants[] = {{"statistics", 0, 0, true},
                                   {"event ring", 256, 0, true},
                                   {"samples", 0, 64, true},
                                   {"first spans", 0, 0, false}};

static void spin(double seconds)
{
    double until = assay_clock_seconds(assay_clock_default()) + seconds;
    while (seconds > 0 && assay_clock_seconds(assay_clock_default()) < until)
        ;
}

/* Five spans. Each lasts at least `seconds`, but for the last one, which was measured elsewhere. */
static void one_round(assay_monitor *monitor, truth *shared, double seconds)
{
    for (int i = 0; i < 2; i++) {
        ASSAY_TRACK(monitor, "repeated") {
            spin(seconds);
        }
        atomic_fetch_add(&shared->completed, 1);
    }
    ASSAY_TRACK(monitor, "outer") {
        ASSAY_TRACK(monitor, "inner") {
            spin(seconds);
        }
        atomic_fetch_add(&shared->completed, 1);
    }
    atomic_fetch_add(&shared->completed, 1);
    assay_monitor_add(monitor, "added", 1000);
    atomic_fetch_add(&shared->completed, 1);
}

/* A stepped span lasts for milliseconds. To take the fast path it must be no new extreme and its
 * bucket must be there, so the operations meet durations of every size first. */
static void warm_up(assay_monitor *monitor, truth *shared)
{
    for (int i = 0; i < WARM; i++)
        one_round(monitor, shared, i == 0 ? 0 : ldexp(10e-6, i));
}

static void child(const char *path, const variant *kind, truth *shared)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = path;
    options.journal_bytes = 1 << 20;
    options.trace_events = kind->trace_events;
    options.samples = kind->samples;
    options.memory = ASSAY_MEMORY_OFF; /* its system calls are many instructions */
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK || ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
        _exit(3);
    if (kind->warm)
        warm_up(monitor, shared);
    raise(SIGSTOP);
    for (int i = 0; i < ROUNDS; i++)
        one_round(monitor, shared, 0);
    atomic_store(&shared->over, true);
    for (;;)
        pause();
}

typedef struct journal_file {
    void *bytes;
    size_t length;
} journal_file;

static journal_file map_journal(const char *path)
{
    int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0);
    struct stat status;
    assert_int_equal(fstat(descriptor, &status), 0);
    journal_file file = {.length = (size_t)status.st_size};
    file.bytes = mmap(NULL, file.length, PROT_READ, MAP_SHARED, descriptor, 0);
    assert_ptr_not_equal(file.bytes, MAP_FAILED);
    close(descriptor);
    return file;
}

/* Spans on record; fails where figures of an operation contradict each other. */
static uint64_t recorded(const journal_file *file, uint64_t step)
{
    assay__journal_view view;
    assay_error error = {0};
    assay_record *record = NULL;
    assert_int_equal(assay__journal_view_bytes(&view, file->bytes, file->length, "stepped", &error),
                     ASSAY_OK);
    assert_int_equal(assay__snapshot_view(&view, NULL, &error, &record), ASSAY_OK);
    assay__journal_view_release(&view);
    uint64_t spans = 0;
    for (size_t i = 0; i < record->operation_count; i++) {
        const assay_record_operation *operation = &record->operations[i];
        uint64_t in_buckets = 0;
        for (size_t b = 0; b < operation->bucket_count; b++)
            in_buckets += operation->buckets[b].count;
        if (in_buckets != operation->count)
            fail_msg("step %llu: '%s' counts %llu spans, its buckets %llu",
                     (unsigned long long)step, operation->name,
                     (unsigned long long)operation->count, (unsigned long long)in_buckets);
        if (operation->count > 0 &&
            !(operation->min_seconds.value <= operation->mean_seconds.value * (1 + 1e-9) &&
              operation->mean_seconds.value <= operation->max_seconds.value * (1 + 1e-9)))
            fail_msg("step %llu: the mean of '%s' is not between its extremes",
                     (unsigned long long)step, operation->name);
        spans += operation->count;
    }
    assert_int_equal(record->integrity.dropped_spans, 0);
    assay_record_free(record);
    return spans;
}

static uint64_t step_through(pid_t child_id, const journal_file *file, truth *shared)
{
    uint64_t steps = 0;
    for (; !atomic_load(&shared->over) && steps < MOST_STEPS; steps++) {
        int status;
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child_id, 0, 0), 0);
        assert_int_equal(waitpid(child_id, &status, 0), child_id);
        assert_true(WIFSTOPPED(status));
        uint64_t completed = atomic_load(&shared->completed), found = recorded(file, steps);
        if (found < completed || found > completed + 1)
            fail_msg("step %llu: %llu spans completed, %llu recorded", (unsigned long long)steps,
                     (unsigned long long)completed, (unsigned long long)found);
    }
    return steps;
}

static void test_no_boundary_loses_or_doubles_a_span(void **state)
{
    (void)state;
    truth *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    assay_clock_default(); /* calibrated once, inherited by every child */
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/assay-step-%d-%zu.assay", (int)getpid(), i);
        memset(shared, 0, sizeof *shared);
        pid_t child_id = fork();
        if (child_id == 0)
            child(path, &variants[i], shared);
        int status;
        assert_int_equal(waitpid(child_id, &status, 0), child_id);
        if (!WIFSTOPPED(status)) {
            print_message("skipped: ptrace is not permitted here\n");
            unlink(path);
            skip();
        }
        journal_file file = map_journal(path);
        uint64_t steps = step_through(child_id, &file, shared);
        kill(child_id, SIGKILL);
        waitpid(child_id, &status, 0);
        assert_true(atomic_load(&shared->over));
        assert_int_equal(recorded(&file, steps), 5 * ((variants[i].warm ? WARM : 0) + ROUNDS));
        printf("%-12s %6llu boundaries, %llu spans\n", variants[i].name, (unsigned long long)steps,
               (unsigned long long)(5 * ROUNDS));
        munmap(file.bytes, file.length);
        unlink(path);
    }
    munmap(shared, sizeof *shared);
}

int main(void)
{
    if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
        puts("skipped: the sanitizers' own code has too many boundaries");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_boundary_loses_or_doubles_a_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
