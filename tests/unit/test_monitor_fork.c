/* Forks: each process has its own journal, the parent's journal stays unchanged, and all of them
 * can be merged. */
#include "tests/unit/monitor_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/emulator.h"
#include "tests/sanitizers.h"

static char directory[64];

#define SKIP_IF_FORK_GOES_UNNOTICED()                                                              \
    SKIP_IF_EMULATED("qemu-user ignores MADV_WIPEONFORK, so a child does not notice the fork")

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/assay-fork-XXXXXX");
    return mkdtemp(directory) == NULL ? -1 : setenv("ASSAY_JOURNAL_DIR", directory, 1);
}

static int remove_directory(void **state)
{
    (void)state;
    DIR *stream = opendir(directory);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    if (stream != NULL)
        closedir(stream);
    return rmdir(directory);
}

static void wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static assay_record *merged(void)
{
    assay_record *record = NULL;
    assay_error error = {0};
    if (assay_snapshot_directory(directory, &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    return record;
}

static void spin(assay_monitor *monitor, int times)
{
    for (int i = 0; i < times; i++)
        ASSAY_TRACK(monitor, "spin") {
        }
}

/* The child ends a span its parent began, works, forks again; nothing of it shows in the parent's
 * journal. */
static void test_each_process_has_its_own_journal(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    assay_monitor *monitor = open_monitor(NULL);
    spin(monitor, 100);
    assay_span around = assay_monitor_begin(monitor, "around the fork");
    pid_t child = fork();
    if (child == 0) {
        assay_span_end(around);
        spin(monitor, 1000);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            spin(monitor, 10000);
            assay_monitor_free(monitor);
            _exit(0);
        }
        waitpid(grandchild, NULL, 0);
        assay_span inner = assay_monitor_begin(monitor, "of the child");
        assay_span_end(around); /* again, where the child's own span stands now */
        assay_span_end(inner);
        assay_record *own = record_of(monitor);
        bool right = operation_of(own, "spin")->count == 1000 &&
                     operation_of(own, "of the child")->count == 1 &&
                     own->integrity.mismatched_ends == 0;
        assay_record_free(own);
        assay_monitor_free(monitor);
        _exit(right ? 0 : 1);
    }
    wait_for(child);
    assay_span_end(around);
    spin(monitor, 11);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "spin")->count, 111);
    assert_int_equal(operation_of(record, "around the fork")->count, 1);
    assert_clean(record);
    assay_record_free(record);
    record = merged();
    assert_int_equal(operation_of(record, "spin")->count, 11111);
    assert_int_equal(record->lane_count, 3);
    assert_clean(record);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

#if !ADDRESS_SANITIZER && !THREAD_SANITIZER
/* Another thread may fork while the library replaces a table. The child, which frees the tables of
 * all threads, must not find the old table that was freed. So every free() of the library forks
 * here, as soon as the block is free, and the child frees the monitor. */
void __libc_free(void *block);

static assay_monitor *forked_monitor; /* while every free() forks */
static int children_that_failed, children;

void free(void *block)
{
    __libc_free(block);
    assay_monitor *monitor = forked_monitor;
    if (monitor == NULL || block == NULL)
        return;
    int status = 0;
    forked_monitor = NULL;
    pid_t child = fork();
    if (child == 0) {
        assay_monitor_free(monitor);
        _exit(0);
    }
    children++;
    children_that_failed += waitpid(child, &status, 0) != child || status != 0;
    forked_monitor = monitor;
}

static void test_a_fork_while_a_table_is_replaced(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    assay_monitor *monitor = open_monitor(NULL);
    forked_monitor = monitor;
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        assay_span_end(assay_monitor_begin(monitor, name));
    }
    forked_monitor = NULL;
    assert_in_range(children, 8, 100);
    assert_int_equal(children_that_failed, 0);
    assay_monitor_free(monitor);
}
#else
static void test_a_fork_while_a_table_is_replaced(void **state)
{
    (void)state;
    skip(); /* the sanitizer has its own free() */
}
#endif

/* The name of the program becomes a part of the journal's name. It may be longer than a file name,
 * and a program that shows a title has slashes in it. */
static void test_any_name_of_the_program_gives_a_journal(void **state)
{
    (void)state;
    char *own = program_invocation_short_name, longest[1000], title[] = "worker [/srv/app]\n";
    char *names[] = {longest, title, title + sizeof title - 1};
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        program_invocation_short_name = names[i];
        assay_monitor *monitor = open_monitor(NULL);
        program_invocation_short_name = own;
        spin(monitor, 10);
        assay_monitor_free(monitor);
    }
    assay_record *record = merged();
    assert_int_equal(operation_of(record, "spin")->count, 30);
    assay_record_free(record);
}

/* A relative path means the same file wherever the child has gone to. */
static void check_child_elsewhere(const assay_monitor_options *options)
{
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(directory), 0);
    assay_monitor *monitor = open_monitor(options);
    pid_t child = fork();
    if (child == 0) {
        int moved = chdir("/");
        spin(monitor, 10);
        assay_monitor_free(monitor);
        _exit(moved);
    }
    wait_for(child);
    assert_int_equal(chdir(before), 0);
    assay_monitor_free(monitor);
}

static void test_a_child_may_change_the_working_directory(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = "mine.assay";
    check_child_elsewhere(&options);
    setenv("ASSAY_JOURNAL_DIR", ".", 1);
    check_child_elsewhere(NULL);
    assay_record *record = merged();
    assert_int_equal(operation_of(record, "spin")->count, 20);
    assay_record_free(record);
}

/* A child that never measures must not disturb the parent's journal, whichever way it ends. */
static void *exit_thread(void *argument)
{
    return argument;
}

static void test_a_child_that_never_measures_leaves_no_trace(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    assay_monitor *monitor = open_monitor(NULL);
    spin(monitor, 5);
    assay_span open = assay_monitor_begin(monitor, "open");
    for (int way = 0; way < 3; way++) {
        pid_t child = fork();
        if (child == 0) {
            if (way == 1)
                assay_monitor_free(monitor);
            if (way == 2) {
                pthread_t thread;
                pthread_create(&thread, NULL, exit_thread, NULL);
                pthread_join(thread, NULL);
                assay_span_end(open);
                /* Sanitizers keep the child alive by a thread of their own, or miss what the ended
                 * thread's stack held. */
                if (!THREAD_SANITIZER && !ADDRESS_SANITIZER)
                    pthread_exit(NULL); /* runs the thread's destructors */
            }
            _exit(0);
        }
        wait_for(child);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->open_span_count, 1);
    assert_clean(record);
    assay_record_free(record);
    assay_span_end(open);
    assay_monitor_free(monitor);
}

typedef struct spinner {
    assay_monitor *monitor;
    atomic_bool stop;
    uint64_t spins;
} spinner;

static void *keep_spinning(void *argument)
{
    spinner *self = argument;
    do {
        spin(self->monitor, 100);
        self->spins += 100;
    } while (!atomic_load(&self->stop));
    return NULL;
}

/* Fork while another thread is inside the monitor's slow and fast paths. It spins until the last
 * fork: the thread sanitizer leaves children of several threads alone, but not those of a process
 * whose other threads have ended unjoined. */
static void test_fork_beside_busy_threads(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    assay_monitor *monitor = open_monitor(NULL);
    spinner busy = {.monitor = monitor};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keep_spinning, &busy), 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            char name[32];
            snprintf(name, sizeof name, "child %d", i);
            assay_span_end(assay_monitor_begin(monitor, name));
            assay_monitor_free(monitor);
            _exit(0);
        }
        wait_for(child);
    }
    atomic_store(&busy.stop, true);
    pthread_join(thread, NULL);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "spin")->count, busy.spins);
    assert_null(find_operation(record, "child 0"));
    assert_clean(record);
    assay_record_free(record);
    record = merged();
    assert_int_equal(operation_of(record, "child 19")->count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Each worker's journal is small, and there may be any number of them. */
static void test_thousands_of_workers(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    const int workers = ADDRESS_SANITIZER || THREAD_SANITIZER ? 100 : 4200;
    assay_monitor *monitor = open_monitor(NULL);
    for (int i = 0; i < workers; i++) {
        pid_t child = fork();
        if (child == 0) {
            spin(monitor, 10);
            _exit(0);
        }
        wait_for(child);
    }
    assay_monitor_free(monitor);
    assay_record *record = merged();
    assert_int_equal(operation_of(record, "spin")->count, 10 * workers);
    assert_int_equal(record->lane_count, workers);
    assert_clean(record);
    assay_record_free(record);
}

static void test_private_journals_fork_too(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    assay_monitor *monitor = open_monitor(&options);
    spin(monitor, 7);
    pid_t child = fork();
    if (child == 0) {
        spin(monitor, 3);
        assay_record *own = record_of(monitor);
        bool right = operation_of(own, "spin")->count == 3;
        assay_record_free(own);
        assay_monitor_free(monitor);
        _exit(right ? 0 : 1);
    }
    wait_for(child);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "spin")->count, 7);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A directory that is not there is the environment's mistake, not the program's. */
static void test_an_unusable_journal_directory_falls_back_to_memory(void **state)
{
    (void)state;
    setenv("ASSAY_JOURNAL_DIR", "/nonexistent/journals", 1);
    assay_monitor *monitor = open_monitor(NULL);
    spin(monitor, 4);
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "spin")->count, 4);
    assay_record_free(record);
    assay_monitor_free(monitor);
    setenv("ASSAY_JOURNAL_DIR", directory, 1);
}

/* The kernel ends a program that writes past its limit; the journal must not be what does. */
static void test_a_limit_on_files_ends_no_program_and_is_told(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit small = {1 << 20, 1 << 20};
        assay_monitor *monitor = NULL;
        setrlimit(RLIMIT_FSIZE, &small);
        if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
            _exit(1);
        spin(monitor, 3);
        assay_record *own = record_of(monitor);
        _exit(operation_of(own, "spin")->count == 3 ? 0 : 2);
    }
    wait_for(child);
    assay_record *record = NULL; /* what is missing is told, alone and beside others */
    assay_error error = {0};
    assert_int_equal(assay_snapshot_directory(directory, &error, &record), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "could not be made: File too large"));
    assay_monitor *monitor = open_monitor(NULL);
    spin(monitor, 5);
    assay_monitor_free(monitor);
    assert_int_equal(assay_snapshot_directory(directory, &error, &record), ASSAY_OK);
    assert_non_null(strstr(error.message, "could not be made: File too large"));
    assert_int_equal(record->integrity.unreadable_journals, 1);
    assert_int_equal(operation_of(record, "spin")->count, 5);
    assay_record_free(record);
}

/* What the program does when it replaced itself: measure, and do so again `times` more. */
static int replaced(int times)
{
    char left[16];
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    spin(monitor, 100);
    snprintf(left, sizeof left, "%d", times - 1);
    if (times > 0)
        ASSAY_TRACK(monitor, "replace") {
            exec_self((char *[]){"replaced", left, NULL}, NULL);
        }
    assay_monitor_free(monitor);
    return 0;
}

/* Program, pid and monitor are the same after exec; the journals are not. */
static void test_a_program_that_replaces_itself_keeps_its_spans(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        exec_self((char *[]){"replaced", "2", NULL}, NULL);
        _exit(1);
    }
    wait_for(child);
    assay_record *record = merged();
    assert_int_equal(operation_of(record, "spin")->count, 300);
    assert_int_equal(record->open_span_count, 2);
    assert_clean(record);
    assay_record_free(record);
}

typedef struct twins {
    assay_monitor *monitor;
    pthread_barrier_t ready;
} twins;

static void *fork_again(void *argument)
{
    twins *self = argument;
    pthread_barrier_wait(&self->ready);
    pid_t grandchild = fork();
    if (grandchild == 0) {
        spin(self->monitor, 10);
        _exit(0);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : argument;
}

/* A thread of a child takes its first span while another one forks: the grandchild finds the
 * journal half replaced, by a thread it does not have. */
static void test_a_grandchild_does_not_wait_for_a_thread_it_lacks(void **state)
{
    (void)state;
    SKIP_IF_FORK_GOES_UNNOTICED();
    assay_monitor *monitor = open_monitor(NULL);
    spin(monitor, 1);
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20); /* a grandchild that hangs is killed with us */
            twins both = {.monitor = monitor};
            pthread_t thread;
            void *failed = &both;
            pthread_barrier_init(&both.ready, NULL, 2);
            pthread_create(&thread, NULL, fork_again, &both);
            pthread_barrier_wait(&both.ready);
            for (volatile int wait = 0; wait < 1000 * i; wait++)
                ; /* meet the other thread at different moments */
            spin(monitor, 10);
            pthread_join(thread, &failed);
            _exit(failed == NULL ? 0 : 1);
        }
        wait_for(child);
    }
    assay_monitor_free(monitor);
    assay_record *record = merged();
    assert_int_equal(operation_of(record, "spin")->count, 1 + 40 * 20);
    assay_record_free(record);
}

/* How many journals another user's run of this program leaves, with this mode of its file; -1 if
 * the mode has no effect here. */
static int journals_left_by(const char *program, mode_t mode)
{
    enum { NOBODY = 65534, OTHER_EXIT = 3 };
    int status = -1;
    assert_int_equal(chmod(program, mode), 0);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            execl(program, "replaced", (mode & S_ISUID) != 0 ? "privileged" : "0", (char *)NULL);
        _exit(OTHER_EXIT);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    int journals = 0;
    DIR *stream = opendir(directory);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        journals += strstr(entry->d_name, ".assay") != NULL;
    closedir(stream);
    return status == 0 ? journals : -1;
}

/* A program that runs with more rights than its caller does not write where the caller says. */
static void test_setuid_programs_ignore_the_environment(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("the kernel gives no rights to a program that it does not run itself");
    if (geteuid() != 0 || ADDRESS_SANITIZER || THREAD_SANITIZER) {
        print_message("skipped: needs root, and no sanitizer\n");
        skip();
    }
    char program[80];
    snprintf(program, sizeof program, "%s/program", directory);
    char command[160];
    snprintf(command, sizeof command, "cp /proc/%d/exe %s", (int)getpid(), program);
    assert_int_equal(system(command), 0);
    assert_int_equal(chmod(directory, 0777), 0);
    if (journals_left_by(program, 0755 | S_ISUID) < 0) {
        print_message("skipped: the file system of /tmp knows no setuid\n");
        skip();
    }
    assert_int_equal(journals_left_by(program, 0755 | S_ISUID), 0);
    assert_int_equal(journals_left_by(program, 0755), 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "privileged") == 0)
        return geteuid() == 0 ? replaced(0) : 1;
    if (argc > 1)
        return replaced(atoi(argv[1]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_name_of_the_program_gives_a_journal,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_child_may_change_the_working_directory,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_fork_while_a_table_is_replaced, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_each_process_has_its_own_journal, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_a_child_that_never_measures_leaves_no_trace,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_fork_beside_busy_threads, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_thousands_of_workers, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_setuid_programs_ignore_the_environment, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_private_journals_fork_too, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_a_limit_on_files_ends_no_program_and_is_told,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_program_that_replaces_itself_keeps_its_spans,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_grandchild_does_not_wait_for_a_thread_it_lacks,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_an_unusable_journal_directory_falls_back_to_memory,
                                        make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
