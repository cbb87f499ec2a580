/* kill -9 at a random time in a busy loop: every completed span is in the journal, and the journal
 * can be read. The truth is a counter in shared memory, which is raised after each end of a span.
 */
#include "tests/unit/monitor_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sanitizers.h"

enum { KILLS = THREAD_SANITIZER || ADDRESS_SANITIZER ? 100 : 500, LANES = 8 };

typedef struct truth {
    atomic_bool started;
    _Atomic uint64_t completed[LANES];
} truth;

typedef struct worker {
    assay_monitor *monitor;
    _Atomic uint64_t *completed;
} worker;

/* A span, and the truth about it. */
#define SPAN(name)                                                                                 \
    do {                                                                                           \
        ASSAY_TRACK(self->monitor, name) {                                                         \
        }                                                                                          \
        atomic_fetch_add_explicit(self->completed, 1, memory_order_release);                       \
    } while (0)

static void *be_busy(void *argument)
{
    worker *self = argument;
    for (;;) {
        SPAN("a");
        SPAN("b");
        SPAN("c");
        SPAN("d");
        SPAN("e");
        SPAN("f");
        SPAN("g");
        SPAN("h");
        SPAN("i");
        SPAN("j");
        SPAN("k");
        SPAN("l");
        SPAN("m");
        SPAN("n");
        SPAN("o");
        SPAN("p");
        SPAN("q");
        SPAN("r");
        SPAN("s");
        SPAN("t");
    }
    return NULL;
}

static void child(const char *path, truth *shared, int round)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = path;
    options.journal_bytes = 1 << 20;
    options.trace_events = round % 2 ? 256 : 0;
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        _exit(3);
    atomic_store(&shared->started, true);
    static const int threads[] = {1, 2, LANES};
    worker workers[LANES];
    pthread_t thread;
    for (int i = 0; i < LANES; i++)
        workers[i] = (worker){monitor, &shared->completed[i]};
    for (int i = 1; i < threads[round % 3]; i++)
        if (pthread_create(&thread, NULL, be_busy, &workers[i]) != 0)
            _exit(4);
    be_busy(&workers[0]);
}

static void kill_once(const char *path, truth *shared, int round)
{
    memset(shared, 0, sizeof *shared);
    unlink(path);
    pid_t victim = fork();
    if (victim == 0)
        child(path, shared, round);
    while (!atomic_load(&shared->started))
        usleep(50);
    usleep((useconds_t)(rand() % 3000));
    kill(victim, SIGKILL);
    int status = 0;
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    assay_record *record = NULL;
    assay_error error = {0};
    if (assay_snapshot_file(path, &error, &record) != ASSAY_OK)
        fail_msg("round %d: %s", round, error.message);
    uint64_t recorded = 0, completed = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        recorded += record->operations[i].count;
    for (int i = 0; i < LANES; i++)
        completed += atomic_load(&shared->completed[i]);
    if (recorded < completed || recorded > completed + LANES)
        fail_msg("round %d: %llu spans completed, %llu recorded", round,
                 (unsigned long long)completed, (unsigned long long)recorded);
    assert_int_equal(record->integrity.torn_operations, 0);
    assert_int_equal(record->integrity.dropped_spans, 0);
    for (size_t i = 0; i < record->lane_count; i++)
        assert_true(record->lanes[i].ended);
    assay_record_free(record);
}

static void test_no_completed_span_is_lost_to_kill(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/assay-kill-%d.assay", (int)getpid());
    truth *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    assay_clock_default(); /* calibrated once, inherited by every child */
    srand(7);
    const char *more = getenv("ASSAY_KILLS"); /* for the patient */
    int kills = more != NULL ? atoi(more) : KILLS;
    for (int round = 0; round < kills; round++)
        kill_once(path, shared, round);
    unlink(path);
    munmap(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_completed_span_is_lost_to_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
