/* Tasks: coroutines whose spans interleave on one thread, and tasks that change threads. */
#include "tests/unit/monitor_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "assay/task.h"
#include "tests/emulator.h"
#include "tests/sanitizers.h"

enum { COROUTINES = 3, STEPS = 50 };

static assay_monitor *monitor;

static assay_task *new_task(const char *name)
{
    assay_task *task = NULL;
    assert_int_equal(assay_task_new(monitor, name, &task), ASSAY_OK);
    return task;
}

static size_t lanes_of_kind(const assay_record *record, assay_lane_kind kind)
{
    size_t lanes = 0;
    for (size_t i = 0; i < record->lane_count; i++)
        lanes += record->lanes[i].kind == kind;
    return lanes;
}

#if !ADDRESS_SANITIZER && !THREAD_SANITIZER /* they do not know of ucontext's stacks */

typedef struct coroutine {
    ucontext_t context, scheduler;
    _Alignas(16) char stack[64 * 1024];
    assay_task *task;
} coroutine;

static coroutine coroutines[COROUTINES];

static void yield(coroutine *self)
{
    swapcontext(&self->context, &self->scheduler);
}

static void body(int index)
{
    coroutine *self = &coroutines[index];
    for (int i = 0; i < STEPS; i++)
        ASSAY_TRACK(monitor, "request") {
            yield(self);
            ASSAY_TRACK(monitor, "query") {
                yield(self);
            }
            if (i % (index + 1) == 0)
                yield(self);
        }
}

/* Resume them in turn until all are done. */
static void run_coroutines(void)
{
    bool done[COROUTINES] = {0};
    for (int i = 0; i < COROUTINES; i++) {
        coroutine *one = &coroutines[i];
        getcontext(&one->context);
        one->context.uc_stack.ss_sp = one->stack;
        one->context.uc_stack.ss_size = sizeof one->stack;
        one->context.uc_link = &one->scheduler;
        makecontext(&one->context, (void (*)(void))body, 1, i);
    }
    const int most = COROUTINES * STEPS * 4;
    for (int turn = 0; turn < most; turn++) {
        coroutine *one = &coroutines[turn % COROUTINES];
        if (done[turn % COROUTINES])
            continue;
        int yields = 2 * STEPS + (STEPS + turn % COROUTINES) / (turn % COROUTINES + 1);
        assert_null(assay_monitor_switch_task(monitor, one->task));
        swapcontext(&one->scheduler, &one->context);
        assert_ptr_equal(assay_monitor_switch_task(monitor, NULL), one->task);
        done[turn % COROUTINES] = turn / COROUTINES >= yields;
        ASSAY_TRACK(monitor, "schedule") {
        }
    }
}

static void test_coroutines_do_not_mix(void **state)
{
    (void)state;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    monitor = open_monitor(&options);
    for (int i = 0; i < COROUTINES; i++)
        coroutines[i].task = new_task("coroutine");
    run_coroutines();
    for (int i = 0; i < COROUTINES; i++)
        assay_task_free(coroutines[i].task);
    assay_record *record = record_of(monitor);
    assert_clean(record);
    assert_int_equal(record->operation_count, 3);
    assert_int_equal(operation_of(record, "request")->count, COROUTINES * STEPS);
    assert_int_equal(operation_of(record, "query")->count, COROUTINES * STEPS);
    assert_int_equal(operation_of(record, "request")->parent, -1);
    assert_int_equal(operation_of(record, "schedule")->parent, -1);
    assert_int_equal(lanes_of_kind(record, ASSAY_LANE_TASK), COROUTINES);
    assert_int_equal(lanes_of_kind(record, ASSAY_LANE_THREAD), 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

#else

static void test_coroutines_do_not_mix(void **state)
{
    (void)state;
    print_message("skipped: the sanitizers do not know of ucontext's stacks\n");
    skip();
}

#endif

static void *end_elsewhere(void *argument)
{
    assay_task *task = argument;
    assay_monitor_switch_task(monitor, task);
    ASSAY_TRACK(monitor, "second half") {
        hand_ns += 10;
    }
    assay_monitor_switch_task(monitor, NULL);
    return NULL;
}

/* A span stays open while its task changes threads, and encloses what the task does there. */
static void test_a_task_changes_threads(void **state)
{
    (void)state;
    monitor = new_monitor();
    assay_task *task = new_task("traveller");
    assay_monitor_switch_task(monitor, task);
    assay_span open = assay_monitor_begin(monitor, "journey");
    hand_ns += 1;
    assay_monitor_switch_task(monitor, NULL);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, task), 0);
    pthread_join(thread, NULL);
    assay_monitor_switch_task(monitor, task);
    assay_span_end(open);
    assay_monitor_switch_task(monitor, NULL);
    assay_task_free(task);
    assay_record *record = record_of(monitor);
    assert_clean(record);
    assert_seconds(operation_of(record, "journey")->total_seconds, 11e-9);
    const assay_record_operation *half = operation_of(record, "second half");
    assert_string_equal(record->operations[half->parent].name, "journey");
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The lane of a task that ended is used again; what the task left open is said. */
static void test_many_tasks_need_few_lanes(void **state)
{
    (void)state;
    enum { TASKS = 1000 };
    monitor = new_monitor();
    for (int i = 0; i < TASKS; i++) {
        assay_task *task = new_task(NULL);
        assay_monitor_switch_task(monitor, task);
        ASSAY_TRACK(monitor, "done") {
        }
        if (i % 10 == 0)
            assay_monitor_begin(monitor, "left open");
        assay_monitor_switch_task(monitor, NULL);
        assay_task_free(task);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "done")->count, TASKS);
    assert_int_equal(record->integrity.abandoned_spans, TASKS / 10);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assert_true(record->lane_count < 40);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_tasks_go_on_in_a_child(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("qemu-user ignores MADV_WIPEONFORK, so a child does not notice the fork");
    monitor = new_monitor();
    assay_task *task = new_task("both");
    assay_monitor_switch_task(monitor, task);
    assay_span open = assay_monitor_begin(monitor, "in the parent");
    pid_t child = fork();
    if (child == 0) {
        assay_span_end(open); /* no span of the child's */
        assay_monitor_switch_task(monitor, task);
        ASSAY_TRACK(monitor, "in the child") {
        }
        assay_record *own = record_of(monitor);
        bool right = own->operation_count == 1 && operation_of(own, "in the child")->count == 1 &&
                     lanes_of_kind(own, ASSAY_LANE_TASK) == 1;
        assay_monitor_switch_task(monitor, NULL);
        assay_task_free(task);
        assay_record_free(own);
        assay_monitor_free(monitor);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assay_span_end(open);
    assay_monitor_switch_task(monitor, NULL);
    assay_task_free(task);
    assay_record *record = record_of(monitor);
    assert_clean(record);
    assert_int_equal(operation_of(record, "in the parent")->count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_misuse_changes_nothing(void **state)
{
    (void)state;
    assay_task *task = NULL;
    monitor = new_monitor();
    assay_monitor *another = new_monitor();
    assert_int_equal(assay_task_new(NULL, "x", &task), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_task_new(monitor, "x", NULL), ASSAY_E_ARGUMENT);
    task = new_task("x");
    assert_null(assay_monitor_switch_task(another, task));
    assert_null(assay_monitor_switch_task(NULL, task));
    ASSAY_TRACK(another, "a thread's") {
    }
    assay_record *record = record_of(another);
    assert_int_equal(lanes_of_kind(record, ASSAY_LANE_TASK), 0);
    assay_record_free(record);
    assay_task_free(task);
    assay_task_free(NULL);
    assay_monitor_free(another);
    assay_monitor_free(monitor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coroutines_do_not_mix),
        cmocka_unit_test(test_a_task_changes_threads),
        cmocka_unit_test(test_many_tasks_need_few_lanes),
        cmocka_unit_test(test_tasks_go_on_in_a_child),
        cmocka_unit_test(test_misuse_changes_nothing),
    };
    return cmocka_run_group_tests_name("task", tests, make_clock, drop_clock);
}
