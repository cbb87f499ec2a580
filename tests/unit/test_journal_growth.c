/* A journal takes only as much disk as its contents need. If the disk is full, spans are lost and
 * counted, but the program is never disturbed. */
#include "tests/unit/monitor_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/emulator.h"
#include "tests/sanitizers.h"

static char folder[64], file[80];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/assay-growth-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(file, sizeof file, "%s/grows.assay", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

static assay_monitor_options in_file(void)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = file;
    return options;
}

static uint64_t disk_bytes(void)
{
    struct stat info;
    assert_int_equal(stat(file, &info), 0);
    return (uint64_t)info.st_blocks * 512;
}

static assay_record *read_file(void)
{
    assay_record *record = NULL;
    assay_error error = {0};
    if (assay_snapshot_file(file, &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    return record;
}

static void work(assay_monitor *monitor, int operations, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < operations; i++) {
            char name[32];
            snprintf(name, sizeof name, "operation %d", i);
            assay_span_end(assay_monitor_begin(monitor, name));
        }
}

static uint64_t spans_in(const assay_record *record)
{
    uint64_t spans = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        spans += record->operations[i].count;
    return spans;
}

static void test_a_small_journal_takes_little_disk(void **state)
{
    (void)state;
    assay_monitor_options options = in_file();
    options.trace_events = 1 << 16;
    options.samples = 1 << 16;
    assay_monitor *monitor = open_monitor(&options);
    work(monitor, 10, 1);
    assert_true(disk_bytes() <= 128 * 1024);
    uint64_t before = disk_bytes();
    work(monitor, 2000, 1);
    assert_true(disk_bytes() > before + 2000 * sizeof(assay__node));
    assay_monitor_free(monitor);
    assay_record *record = read_file();
    assert_clean(record);
    assert_int_equal(spans_in(record), 2010);
    assert_int_equal(record->event_count, 2010);
    assay_record_free(record);
}

/* Rings and sample stores grow as they fill, and keep what they hold. */
static void test_rings_and_samples_grow_in_place(void **state)
{
    (void)state;
    enum { RING = 1 << 12, SAMPLES = 1000, SPANS = 3000 };
    assay_monitor_options options = in_file();
    options.trace_events = RING;
    options.samples = SAMPLES;
    assay_monitor *monitor = open_monitor(&options);
    for (int spans = 0; spans < SPANS; spans++) {
        work(monitor, 1, 1);
        if (spans == 200 || spans == 129 || spans == SPANS - 1) {
            assay_record *record = record_of(monitor);
            assert_int_equal(record->event_count, spans + 1);
            assert_int_equal(record->operations[0].sample_count,
                             spans + 1 < SAMPLES ? spans + 1 : SAMPLES);
            assay_record_free(record);
        }
    }
    work(monitor, 1, 2 * RING);
    assay_monitor_free(monitor);
    assay_record *record = read_file();
    assert_int_equal(record->event_count, RING - 1);
    for (size_t i = 1; i < record->event_count; i++)
        assert_true(record->events[i].start_seconds >= record->events[i - 1].start_seconds);
    assert_int_equal(record->integrity.dropped_events, SPANS + RING + 1);
    assert_int_equal(record->operations[0].samples_dropped, SPANS + 2 * RING - SAMPLES);
    assay_record_free(record);
}

/* Run in a child, whose limits and mounts are its own: 0, or what did not hold. */
static int in_child(int (*body)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(body());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

enum { HELD, NO_MONITOR, WRONG_FIGURES, WRONG_INTEGRITY, CANNOT_TRY = 77 };

static bool write_to(const char *path, const char *text)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    bool written = descriptor >= 0 && write(descriptor, text, strlen(text)) > 0;
    if (descriptor >= 0)
        close(descriptor);
    return written;
}

/* Mounts of its own for this process. A user who may not have them becomes root in a name space of
 * users, where both the user and the group need a number: a file of a group without one cannot be
 * made. */
static bool has_own_mounts(void)
{
    char user[64], group[64];
    snprintf(user, sizeof user, "0 %u 1", (unsigned)getuid());
    snprintf(group, sizeof group, "0 %u 1", (unsigned)getgid());
    return unshare(CLONE_NEWNS) == 0 ||
           (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_to("/proc/self/uid_map", user) &&
            write_to("/proc/self/setgroups", "deny") && write_to("/proc/self/gid_map", group));
}

static bool has_own_disk_of(const char *size)
{
    char options[64];
    snprintf(options, sizeof options, "size=%s,mode=777", size);
    return has_own_mounts() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", folder, "tmpfs", 0, options) == 0;
}

static int fill_the_disk(void)
{
    enum { NAMES = 4000, ROUNDS = 2 };
    if (!has_own_disk_of("1m"))
        return CANNOT_TRY;
    assay_monitor_options options = in_file();
    options.trace_events = 1 << 16;
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        return NO_MONITOR;
    work(monitor, NAMES, ROUNDS);
    assay_monitor_free(monitor);
    assay_record *record = read_file();
    uint64_t kept = spans_in(record);
    if (kept < 500 || kept + record->integrity.dropped_spans != NAMES * ROUNDS)
        return WRONG_FIGURES;
    return record->integrity.full_journals == 1 ? HELD : WRONG_INTEGRITY;
}

static void test_a_full_disk_costs_spans_not_the_program(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("qemu-user ignores MADV_POPULATE_WRITE, so a full disk goes unnoticed");
    int outcome = in_child(fill_the_disk);
    if (outcome == CANNOT_TRY) {
        print_message("skipped: no file system can be mounted here\n");
        skip();
    }
    assert_int_equal(outcome, HELD);
}

static int measure(void)
{
    assay_monitor_options options = in_file();
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        return NO_MONITOR;
    work(monitor, 1000, 2);
    assay_monitor_free(monitor);
    assay_record *record = read_file();
    static const assay_record_integrity clean = {0};
    bool right = spans_in(record) == 2000 &&
                 memcmp(&record->integrity, &clean, sizeof clean) == 0 && disk_bytes() < 2 << 20;
    assay_record_free(record);
    return right ? HELD : WRONG_FIGURES;
}

/* As Linux before 5.14 answers. */
static int without_populate(void)
{
#ifndef MADV_POPULATE_WRITE
    enum { MADV_POPULATE_WRITE = 23 };
#endif
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_POPULATE_WRITE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return CANNOT_TRY;
    return measure();
}

static void test_older_kernels_grow_as_well(void **state)
{
    (void)state;
    int outcome = in_child(without_populate);
    if (outcome == CANNOT_TRY) {
        print_message("skipped: no system call filter can be installed here\n");
        skip();
    }
    assert_int_equal(outcome, HELD);
}

static int with_small_files(void)
{
    const struct rlimit small = {8 << 20, 8 << 20};
    setrlimit(RLIMIT_FSIZE, &small);
    return measure();
}

static int with_few_addresses(void)
{
    const struct rlimit few = {512 << 20, 512 << 20};
    setrlimit(RLIMIT_AS, &few);
    int outcome = measure();
    struct stat info;
    return outcome == HELD && stat(file, &info) == 0 && info.st_size > 64 << 20 ? WRONG_FIGURES
                                                                                : outcome;
}

static void test_limits_make_a_smaller_journal(void **state)
{
    (void)state;
    assert_int_equal(in_child(with_small_files), HELD);
    if (ADDRESS_SANITIZER || THREAD_SANITIZER)
        return; /* they take terabytes of addresses themselves */
    SKIP_IF_EMULATED("qemu-user ignores RLIMIT_AS");
    unlink(file);
    assert_int_equal(in_child(with_few_addresses), HELD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_small_journal_takes_little_disk, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_rings_and_samples_grow_in_place, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_a_full_disk_costs_spans_not_the_program, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_older_kernels_grow_as_well, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_limits_make_a_smaller_journal, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests_name("journal growth", tests, NULL, NULL);
}
