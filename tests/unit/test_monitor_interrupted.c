/* Interrupted spans: signal handlers that measure too, blocks that are left by longjmp, and plugins
 * whose call sites come and go. */
#include "tests/unit/monitor_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/sanitizers.h"

static assay_monitor *monitor, *handlers_monitor; /* the same one, or two */
static _Atomic uint64_t handled;

static assay_monitor *private_monitor(size_t trace_events)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.trace_events = trace_events;
    return open_monitor(&options);
}

static void in_handler(void)
{
    ASSAY_TRACK(handlers_monitor, "in a handler") {
    }
    atomic_fetch_add(&handled, 1);
}

/* `meet`: let the handler's operation be met at every place where the handler may come. */
static void one_round(int round, bool meet)
{
    if (meet)
        in_handler();
    ASSAY_TRACK(monitor, "outer") {
        if (meet)
            in_handler();
        ASSAY_TRACK(monitor, "inner") {
            if (meet)
                in_handler();
        }
        if (round % 4 == 0) {
            assay_span named = assay_monitor_begin(monitor, "named");
            if (meet)
                in_handler();
            assay_span_end(named);
        }
    }
}

static void meet_all_places(void)
{
    one_round(0, true);
    assay_monitor_clear(monitor);
    assay_monitor_clear(handlers_monitor);
    handled = 0;
}

static uint64_t spans_of(const assay_record *record, const char *name)
{
    uint64_t spans = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        if (strcmp(record->operations[i].name, name) == 0)
            spans += record->operations[i].count;
    return spans;
}

/* What was interrupted is whole; what a handler measured is counted or said to be missing. */
static void check(int rounds, int named)
{
    assay_record *record = record_of(monitor);
    assert_int_equal(spans_of(record, "outer"), rounds);
    assert_int_equal(spans_of(record, "inner"), rounds);
    assert_int_equal(spans_of(record, "named"), named);
    assay_record *handlers = record_of(handlers_monitor);
    uint64_t measured = spans_of(handlers, "in a handler");
    assert_true(measured > 0);
    assert_int_equal(measured + handlers->integrity.dropped_spans, handled);
    assay_record_free(handlers);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assert_int_equal(record->integrity.abandoned_spans, 0);
    assert_int_equal(record->integrity.torn_operations, 0);
    assay_record_free(record);
}

#if defined(__x86_64__) && !THREAD_SANITIZER && !ADDRESS_SANITIZER

enum { EVERY = -1 };

static volatile bool stepping; /* volatile: raise() is declared to call nothing of ours */
static volatile long steps, stop_at;

static void after_instruction(int signal_number, siginfo_t *info, void *context)
{
    enum { TRAP_FLAG = 0x100 };
    (void)signal_number;
    (void)info;
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    if (stepping && (stop_at == EVERY || steps++ == stop_at))
        in_handler();
    *flags = stepping ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

/* One round as usual, which leaves the thread at its own monitor, and one that is stepped through.
 */
static void step_through_round(int round, long at)
{
    one_round(round, false);
    steps = 0;
    stop_at = at;
    stepping = true;
    raise(SIGTRAP);
    one_round(round, false);
    stepping = false;
    raise(SIGTRAP);
}

/* The handler comes after every instruction of begin and end, fast and slow; or, in each round,
 * after one of them, so that the fast path goes on as if nothing had happened. */
static void step_through(size_t trace_events, int rounds, bool one_stop, bool two_monitors)
{
    struct sigaction action = {.sa_sigaction = after_instruction, .sa_flags = SA_SIGINFO}, before;
    monitor = private_monitor(trace_events);
    handlers_monitor = two_monitors ? private_monitor(0) : monitor;
    meet_all_places();
    sigaction(SIGTRAP, &action, &before);
    for (int i = 0; i < rounds; i++)
        step_through_round(i, one_stop ? i : EVERY);
    sigaction(SIGTRAP, &before, NULL);
    check(2 * rounds, 2 * ((rounds + 3) / 4));
    assert_true(handled > 100);
    if (two_monitors)
        assay_monitor_free(handlers_monitor);
    assay_monitor_free(monitor);
}

static void test_a_handler_after_every_instruction(void **state)
{
    enum { ROUNDS = 24, STOPS = 250 };
    (void)state;
    step_through(0, ROUNDS, false, false);
    step_through(1 << 14, ROUNDS, false, false);
    step_through(0, STOPS, true, false);
    step_through(0, STOPS, true, true);
}

/* In a forked child: one round, with a handler after instruction `at`. The exit status is 0 if all
 * is well, and 2 if the round has fewer instructions. */
static int round_of_child(long at)
{
    steps = 0;
    stop_at = at;
    handled = 0;
    stepping = true;
    raise(SIGTRAP);
    one_round(1, false);
    stepping = false;
    raise(SIGTRAP);
    if (handled == 0)
        return 2;
    assay_record *record = NULL, *handlers = NULL;
    bool good = assay_monitor_record(monitor, NULL, &record) == ASSAY_OK &&
                assay_monitor_record(handlers_monitor, NULL, &handlers) == ASSAY_OK &&
                spans_of(record, "outer") == 1 && spans_of(record, "inner") == 1 &&
                spans_of(handlers, "in a handler") + handlers->integrity.dropped_spans == 1;
    return good ? 0 : 1;
}

/* A handler comes while a forked child has no journal yet, or makes one. */
static void test_a_handler_before_a_child_has_a_journal(void **state)
{
    (void)state;
    enum { STRIDE = 997, MOST = 1000 };
    struct sigaction action = {.sa_sigaction = after_instruction, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGTRAP, &action, &before);
    for (int monitors = 1; monitors <= 2; monitors++) {
        monitor = handlers_monitor = private_monitor(0);
        if (monitors == 2)
            handlers_monitor = private_monitor(0);
        meet_all_places();
        int status = 0, children = 0;
        for (; WIFEXITED(status) && WEXITSTATUS(status) == 0 && children < MOST; children++) {
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                signal(SIGSEGV, SIG_DFL); /* else cmocka goes on with the tests in the child */
                _exit(round_of_child(STRIDE * children));
            }
            assert_int_equal(waitpid(child, &status, 0), child);
        }
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 2);
        assert_true(children > 5);
        if (monitors == 2)
            assay_monitor_free(handlers_monitor);
        assay_monitor_free(monitor);
    }
    sigaction(SIGTRAP, &before, NULL);
}

#else

static void test_a_handler_after_every_instruction(void **state)
{
    (void)state;
    print_message("skipped: needs the trap flag of x86, and no sanitizer\n");
    skip();
}

static void test_a_handler_before_a_child_has_a_journal(void **state)
{
    test_a_handler_after_every_instruction(state);
}

#endif

static atomic_bool over;
static pthread_t target;

static void on_signal(int signal_number)
{
    (void)signal_number;
    in_handler();
}

static void *send_signals(void *argument)
{
    while (!over) {
        pthread_kill(target, SIGUSR1);
        sched_yield();
    }
    return argument;
}

static void test_handlers_at_random_moments(void **state)
{
    (void)state;
    enum { ROUNDS = 100000 };
    struct sigaction action = {.sa_handler = on_signal}, before;
    monitor = handlers_monitor = private_monitor(0);
    meet_all_places();
    sigaction(SIGUSR1, &action, &before);
    pthread_t sender;
    over = false;
    target = pthread_self();
    assert_int_equal(pthread_create(&sender, NULL, send_signals, NULL), 0);
    while (handled == 0)
        sched_yield();
    for (int i = 0; i < ROUNDS; i++)
        one_round(i, false);
    over = true;
    pthread_join(sender, NULL);
    sigaction(SIGUSR1, &before, NULL);
    check(ROUNDS, (ROUNDS + 3) / 4);
    assay_monitor_free(monitor);
}

static jmp_buf back;

static __attribute__((noinline)) void leave(int depth)
{
    ASSAY_TRACK(monitor, "left") {
        if (depth == 0)
            longjmp(back, 1);
        leave(depth - 1);
    }
}

/* Blocks that are left by longjmp are counted as abandoned, and what comes after is where it
 * belongs. */
static void test_blocks_that_are_left_by_longjmp(void **state)
{
    (void)state;
    enum { ROUNDS = 1000 };
    monitor = private_monitor(0);
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (setjmp(back) == 0)
            leave(2);
        ASSAY_TRACK(monitor, "after") {
        }
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assert_int_equal(record->integrity.abandoned_spans, 3 * ROUNDS);
    assert_int_equal(operation_of(record, "after")->count, ROUNDS);
    assert_int_equal(operation_of(record, "after")->parent, -1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The same block, left and begun again by the same function. */
static void test_a_block_that_its_own_function_leaves(void **state)
{
    (void)state;
    enum { ROUNDS = 1000 };
    monitor = private_monitor(0);
    for (volatile int i = 0; i < ROUNDS; i++)
        if (setjmp(back) == 0)
            ASSAY_TRACK(monitor, "again") {
                if (i + 1 < ROUNDS)
                    longjmp(back, 1);
            }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assert_int_equal(record->integrity.abandoned_spans, ROUNDS - 1);
    assert_int_equal(record->operation_count, 1);
    assert_int_equal(operation_of(record, "again")->count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Recursion enters the same block again and again, further down in the stack. */
static __attribute__((noinline)) void recurse(int depth)
{
    ASSAY_TRACK(monitor, "deeper") {
        if (depth > 0)
            recurse(depth - 1);
    }
}

static void test_recursion_is_no_longjmp(void **state)
{
    (void)state;
    monitor = private_monitor(0);
    recurse(9);
    recurse(19);
    assay_record *record = record_of(monitor);
    assert_clean(record);
    assert_int_equal(record->operation_count, 20);
    assert_int_equal(record->operations[9].count, 2);
    assert_int_equal(record->operations[19].count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A plugin that is loaded again has a new call site of the same name. */
static void test_sites_that_come_and_go_share_nodes(void **state)
{
    (void)state;
    enum { LOADS = 20000 };
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.journal_bytes = 1 << 20;
    monitor = open_monitor(&options);
    static assay_site plugin = {"in a plugin", 0, 0};
    for (int i = 0; i < LOADS; i++) {
        assay_span span;
        plugin.id = 0;
        assay__span_begin(&span, monitor, &plugin);
        ASSAY_TRACK(monitor, "of the program") {
        }
        assay_span_end(span);
    }
    assay_record *record = record_of(monitor);
    assert_clean(record);
    assert_int_equal(operation_of(record, "in a plugin")->count, LOADS);
    assert_int_equal(operation_of(record, "of the program")->count, LOADS);
    assert_int_equal(record->operation_count, 2);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_handler_after_every_instruction),
        cmocka_unit_test(test_a_handler_before_a_child_has_a_journal),
        cmocka_unit_test(test_handlers_at_random_moments),
        cmocka_unit_test(test_blocks_that_are_left_by_longjmp),
        cmocka_unit_test(test_a_block_that_its_own_function_leaves),
        cmocka_unit_test(test_recursion_is_no_longjmp),
        cmocka_unit_test(test_sites_that_come_and_go_share_nodes),
    };
    return cmocka_run_group_tests_name("monitor, interrupted", tests, NULL, NULL);
}
