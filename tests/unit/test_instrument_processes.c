/* Files of /proc, and the process trees that are read from them. */
#include "tests/unit/resident_check.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "instrument/proc.h"
#include "instrument/process_stat.h"
#include "tests/emulator.h"

/* ---- Files of /proc ------------------------------------------------------------------------- */

static void test_fields_of_status(void **state)
{
    (void)state;
    static const char text[] =
        "Name:\tVmHWM: 7 kB\nVmHWMX:\t1\nVmHWM:\t  1234 kB\nThreads:\t3\nEmpty:\n";
    uint64_t value = 0;
    assert_true(assay__proc_field(text, "VmHWM", &value));
    assert_int_equal(value, 1234 * 1024);
    assert_true(assay__proc_field(text, "Threads", &value));
    assert_int_equal(value, 3);
    assert_false(assay__proc_field(text, "Empty", &value));
    assert_false(assay__proc_field(text, "VmPeak", &value));
    assert_false(assay__proc_field("", "VmHWM", &value));
}

static void test_names_in_stat(void **state)
{
    (void)state;
    static const char *const names[] = {"plain", "with space", "a) R 1 2 3",
                                        ")))",   "",           "new\nline"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[512];
        assay__process_stat stat;
        snprintf(text, sizeof text,
                 "4711 (%s) S 42 1 1 0 -1 4194304 1 2 3 4 500 250 9 9 20 0 7 0 98765 1000 33 "
                 "18446744073709551615 1\n",
                 names[i]);
        assert_int_equal(assay__process_stat_parse(text, &stat), ASSAY_OK);
        assert_int_equal(stat.process, 4711);
        assert_string_equal(stat.name, names[i]);
        assert_int_equal(stat.parent, 42);
        assert_int_equal(stat.start_ticks, 98765);
        assert_int_equal(stat.threads, 7);
        assert_int_equal(stat.rss_bytes, 33 * sysconf(_SC_PAGESIZE));
        assert_true(stat.user_seconds == 500.0 / (double)sysconf(_SC_CLK_TCK));
        assert_false(stat.zombie);
    }
}

static void test_foreign_stat_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "1", "1 (x)", "1 (x) S", "1 (x) S 1 2 3", "1 (x) S a b", "1 (x) "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assay__process_stat stat;
        assert_int_equal(assay__process_stat_parse(texts[i], &stat), ASSAY_E_FORMAT);
    }
}

/* ---- Process trees -------------------------------------------------------------------------- */

enum { CHILD_BYTES = 50 * MEGABYTE };

/* Until killed; by the clock at the latest, should the test fail first. */
static void *sleep_forever(void *context)
{
    alarm(20);
    for (;;)
        pause();
    return context;
}

/* A child with a child of its own, both holding CHILD_BYTES; it says when both are ready. */
static pid_t start_tree(pid_t *grandchild)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_NAME, "a) b (c");
        pid_t inner = fork();
        touch(CHILD_BYTES);
        pid_t self = inner == 0 ? getpid() : 0;
        ssize_t written = write(pipes[1], &self, sizeof self);
        (void)written;
        sleep_forever(NULL);
    }
    for (int i = 0; i < 2; i++) {
        pid_t said = 0;
        assert_int_equal(read(pipes[0], &said, sizeof said), sizeof said);
        *grandchild = said != 0 ? said : *grandchild;
    }
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

static assay_tree_figures figures_of(const assay_tree_sampler *sampler)
{
    assay_tree_figures figures = {.struct_size = sizeof figures};
    assert_int_equal(assay_tree_sampler_read(sampler, &figures), ASSAY_OK);
    return figures;
}

static void test_tree_is_followed(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("qemu-user has threads and memory of its own in every process");
    if (is_shadowed)
        skip();
    pid_t inner = 0, root = start_tree(&inner);
    assay_tree_sampler *sampler = NULL;
    assert_int_equal(assay_tree_sampler_new(root, NULL, &sampler), ASSAY_OK);
    assert_int_equal(figures_of(sampler).tree_peak_rss_bytes.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    assay_tree_figures figures = figures_of(sampler);
    assert_true(figures.process_count.value == 2.0);
    assert_true(figures.live_process_count.value == 2.0);
    assert_true(figures.thread_count.value == 2.0);
    assert_near(figures.tree_peak_rss_bytes.value, 2.0 * CHILD_BYTES);
    assert_near(figures.peak_rss_bytes.value, CHILD_BYTES);
    assert_int_equal(figures.read_bytes.validity, ASSAY_VALID);

    /* The parent dies first: its orphan stays in the tree, and the sum falls. */
    kill(root, SIGKILL);
    waitpid(root, NULL, 0);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    figures = figures_of(sampler);
    assert_true(figures.live_process_count.value == 1.0);
    assert_true(figures.process_count.value == 2.0);
    assert_near(figures.rss_bytes.value, CHILD_BYTES);
    assert_near(figures.tree_peak_rss_bytes.value, 2.0 * CHILD_BYTES);
    kill(inner, SIGKILL);
    while (kill(inner, 0) == 0 && waitpid(inner, NULL, WNOHANG) <= 0) {
        assay__process_stat stat;
        if (assay__process_stat_read(inner, &stat) == ASSAY_OK && stat.zombie)
            break; /* whoever adopted it takes its time */
        usleep(1000);
    }
    assay_status status = assay_tree_sampler_sample(sampler);
    assert_true(status == ASSAY_OK || status == ASSAY_E_NOT_FOUND);
    assert_true(figures_of(sampler).live_process_count.value == 0.0);
    assay_tree_sampler_free(sampler);
}

/* Too many threads to ask each for its children: every process of the machine is looked at. A
 * grandchild that starts after the first sweep must be found all the same. */
static void test_tree_with_many_threads(void **state)
{
    (void)state;
    int down[2], up[2];
    pid_t inner = 0;
    assert_int_equal(pipe(down) | pipe(up), 0);
    pid_t root = fork();
    assert_true(root >= 0);
    if (root == 0) {
        pthread_t thread;
        char byte = 0;
        for (int i = 0; i < 80; i++)
            if (pthread_create(&thread, NULL, sleep_forever, NULL) != 0)
                _exit(1);
        if (write(up[1], &inner, sizeof inner) < 0 || read(down[0], &byte, 1) != 1)
            _exit(1);
        inner = fork();
        if (inner != 0 && write(up[1], &inner, sizeof inner) < 0)
            _exit(1);
        sleep_forever(NULL);
    }
    assay_tree_sampler *sampler = NULL;
    assert_int_equal(read(up[0], &inner, sizeof inner), sizeof inner);
    assert_int_equal(assay_tree_sampler_new(root, NULL, &sampler), ASSAY_OK);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    assert_true(figures_of(sampler).thread_count.value >= 81.0);
    assert_int_equal(write(down[1], "", 1), 1);
    assert_int_equal(read(up[0], &inner, sizeof inner), sizeof inner);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    assert_true(figures_of(sampler).process_count.value == 2.0);
    kill(inner, SIGKILL);
    kill(root, SIGKILL);
    waitpid(root, NULL, 0);
    assay_tree_sampler_free(sampler);
    for (int i = 0; i < 2; i++) {
        close(down[i]);
        close(up[i]);
    }
}

/* The root ends before anybody saw its child, which then belongs to us. */
static void test_orphans_of_a_subreaper(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("qemu-user refuses PR_SET_CHILD_SUBREAPER");
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t root = fork(), orphan = 0;
    assert_true(root >= 0);
    if (root == 0) {
        char byte = 0;
        if (read(pipes[0], &byte, 1) != 1)
            _exit(1);
        if (fork() == 0)
            sleep_forever(NULL);
        _exit(0);
    }
    assay_tree_sampler *sampler = NULL;
    assert_int_equal(assay_tree_sampler_new(root, NULL, &sampler), ASSAY_OK);
    assert_int_equal(write(pipes[1], "", 1), 1);
    assert_int_equal(waitpid(root, NULL, 0), root);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    assert_true(figures_of(sampler).live_process_count.value == 1.0);
    assay_tree_sampler_free(sampler);
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    assert_int_equal(assay__proc_read(path, text, sizeof text), ASSAY_OK);
    orphan = (pid_t)strtol(text, NULL, 10);
    assert_int_equal(kill(orphan, SIGKILL), 0);
    assert_int_equal(waitpid(orphan, NULL, 0), orphan);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(pipes[0]);
    close(pipes[1]);
}

static void test_zombie_keeps_its_times(void **state)
{
    (void)state;
    pid_t root = fork();
    assert_true(root >= 0);
    if (root == 0) {
        for (volatile uint64_t i = 0; i < 300000000; i++)
            continue;
        _exit(0);
    }
    assay_tree_sampler *sampler = NULL;
    assert_int_equal(assay_tree_sampler_new(root, NULL, &sampler), ASSAY_OK);
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)root, &ended, WEXITED | WNOWAIT), 0);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    assay_tree_figures figures = figures_of(sampler);
    assert_true(figures.user_seconds.value > 0.0);
    assert_true(figures.live_process_count.value == 0.0);
    assert_int_equal(figures.peak_rss_bytes.validity, ASSAY_NOT_ENOUGH_DATA);
    waitpid(root, NULL, 0);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_E_NOT_FOUND);
    assert_true(figures_of(sampler).user_seconds.value == figures.user_seconds.value);
    assay_tree_sampler_free(sampler);
}

enum { SHARERS = 4 };

/* A process that holds CHILD_BYTES and shares them with its children. */
static pid_t start_sharers(void)
{
    int pipes[2];
    char byte = 0;
    assert_int_equal(pipe(pipes), 0);
    pid_t root = fork();
    assert_true(root >= 0);
    if (root == 0) {
        setpgid(0, 0);
        touch(CHILD_BYTES);
        for (int i = 0; i < SHARERS; i++)
            if (fork() == 0)
                sleep_forever(NULL);
        ssize_t written = write(pipes[1], &byte, 1);
        (void)written;
        sleep_forever(NULL);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return root;
}

static void test_shared_pages_weigh_once(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("qemu-user has threads and memory of its own in every process");
    if (is_shadowed || ADDRESS_SANITIZER) /* each sharer has memory of the sanitizer's besides */
        skip();
    pid_t root = start_sharers();
    assay_tree_sampler *sampler = NULL;
    assert_int_equal(assay_tree_sampler_new(root, NULL, &sampler), ASSAY_OK);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    assert_int_equal(figures_of(sampler).tree_peak_pss_bytes.validity, ASSAY_NOT_ENOUGH_DATA);
    assay_status status = assay_tree_sampler_weigh(sampler);
    assay_tree_figures figures = figures_of(sampler);
    kill(-root, SIGKILL);
    waitpid(root, NULL, 0);
    assay_tree_sampler_free(sampler);
    if (status == ASSAY_E_UNSUPPORTED)
        skip(); /* a kernel without smaps_rollup */
    assert_int_equal(status, ASSAY_OK);
    assert_near(figures.tree_peak_rss_bytes.value, (1.0 + SHARERS) * CHILD_BYTES);
    assert_near(figures.tree_peak_pss_bytes.value, CHILD_BYTES);
}

typedef struct sighting {
    int64_t parent;
    int alive, ended;
    char name[32];
    assay_reading peak_rss_bytes;
} sighting;

static void note(void *context, const assay_tree_process *process)
{
    sighting *seen = context;
    seen->alive += process->alive;
    seen->ended += !process->alive;
    if (process->parent_id == seen->parent) {
        snprintf(seen->name, sizeof seen->name, "%s", process->name);
        seen->peak_rss_bytes = process->peak_rss_bytes;
        assert_true(process->started_ns <= process->last_seen_ns);
        assert_true(process->start_ticks > 0 && process->sweeps > 0);
    }
}

/* Processes that ended are remembered with what they were. */
static void test_processes_are_visited(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("qemu-user has threads and memory of its own in every process");
    if (is_shadowed)
        skip();
    pid_t inner = 0, root = start_tree(&inner);
    assay_tree_sampler *sampler = NULL;
    assert_int_equal(assay_tree_sampler_new(root, NULL, &sampler), ASSAY_OK);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    kill(root, SIGKILL);
    waitpid(root, NULL, 0);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    sighting seen = {.parent = getpid()};
    assert_int_equal(assay_tree_sampler_visit(sampler, false, note, &seen), ASSAY_OK);
    sighting living = {0};
    assert_int_equal(assay_tree_sampler_visit(sampler, true, note, &living), ASSAY_OK);
    assert_int_equal(living.alive, 1);
    assert_int_equal(living.ended, 0);
    kill(inner, SIGKILL);
    assay_tree_sampler_free(sampler);
    assert_int_equal(seen.alive, 1);
    assert_int_equal(seen.ended, 1);
    assert_string_equal(seen.name, "a) b (c");
    assert_near(seen.peak_rss_bytes.value, CHILD_BYTES);
}

/* A process whose child waits for a byte, works, tells how long, and ends; then it tells that it
 * has waited for the child. */
static pid_t start_worker(int down[2], int up[2])
{
    pid_t root = fork();
    assert_true(root >= 0);
    if (root != 0)
        return root;
    char byte = 0;
    struct timespec used = {0};
    if (fork() == 0) {
        if (read(down[0], &byte, 1) != 1)
            _exit(1);
        while (used.tv_sec == 0 && used.tv_nsec < 200000000)
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        _exit(write(up[1], &used, sizeof used) < 0);
    }
    wait(NULL);
    if (write(up[1], &byte, 1) == 1)
        sleep_forever(NULL);
    _exit(1);
}

static void add_ended(void *context, const assay_tree_process *process)
{
    if (!process->alive)
        *(double *)context += process->user_seconds + process->sys_seconds;
}

/* It was last seen before it did anything. */
static void test_ended_process_gets_what_its_parent_waited_for(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("qemu-user has threads and memory of its own in every process");
    int down[2], up[2];
    char byte = 0;
    struct timespec used = {0};
    double ended_seconds = 0;
    assert_int_equal(pipe(down) | pipe(up), 0);
    pid_t root = start_worker(down, up);
    assay_tree_sampler *sampler = NULL;
    assert_int_equal(assay_tree_sampler_new(root, NULL, &sampler), ASSAY_OK);
    do
        assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    while (figures_of(sampler).process_count.value < 2);
    assert_int_equal(write(down[1], &byte, 1), 1);
    assert_int_equal(read(up[0], &used, sizeof used), sizeof used);
    assert_int_equal(read(up[0], &byte, 1), 1);
    assert_int_equal(assay_tree_sampler_sample(sampler), ASSAY_OK);
    assert_int_equal(assay_tree_sampler_visit(sampler, false, add_ended, &ended_seconds), ASSAY_OK);
    kill(root, SIGKILL);
    waitpid(root, NULL, 0);
    assay_tree_sampler_free(sampler);
    for (int i = 0; i < 2; i++) {
        close(down[i]);
        close(up[i]);
    }
    double told = (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
    if (ended_seconds < told - 0.03 || ended_seconds > told + 0.1) /* ticks; its exit */
        fail_msg("%f seconds, not %f", ended_seconds, told);
}

static void test_no_such_process(void **state)
{
    (void)state;
    assay_tree_sampler *sampler = NULL;
    assay_error error;
    assert_int_equal(assay_tree_sampler_new(0, &error, &sampler), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_tree_sampler_new(INT32_MAX, &error, &sampler), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "2147483647"));
    assert_null(sampler);
}

static void test_arguments_of_trees_are_checked(void **state)
{
    (void)state;
    assay_tree_figures figures = {.struct_size = 1};
    assert_int_equal(assay_tree_sampler_read(NULL, &figures), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_tree_sampler_sample(NULL), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_tree_sampler_weigh(NULL), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_tree_sampler_visit(NULL, false, note, NULL), ASSAY_E_ARGUMENT);
    assay_tree_sampler_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_of_status),
        cmocka_unit_test(test_names_in_stat),
        cmocka_unit_test(test_foreign_stat_is_refused),
        cmocka_unit_test(test_tree_is_followed),
        cmocka_unit_test(test_tree_with_many_threads),
        cmocka_unit_test(test_orphans_of_a_subreaper),
        cmocka_unit_test(test_zombie_keeps_its_times),
        cmocka_unit_test(test_shared_pages_weigh_once),
        cmocka_unit_test(test_processes_are_visited),
        cmocka_unit_test(test_ended_process_gets_what_its_parent_waited_for),
        cmocka_unit_test(test_no_such_process),
        cmocka_unit_test(test_arguments_of_trees_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
