/* What the kernel says about this process, its children, the machine and the source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "instrument/heap.h"
#include "instrument/heap_read.h"
#include "instrument/proc.h"
#include "instrument/process.h"
#include "instrument/rss.h"

/* The thread sanitizer keeps several bytes for each byte of the program, and a thread of its own.
 */
#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
static const bool is_shadowed = true;
#else
static const bool is_shadowed = false;
#endif

enum { MEGABYTE = 1 << 20 };
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
enum { SLACK = 20 * MEGABYTE }; /* each process carries the sanitizer's own memory along */
#else
enum { SLACK = 8 * MEGABYTE };
#endif

static void *touch(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 1, bytes);
    return memory;
}

static uint64_t rss_now(void)
{
    uint64_t bytes = 0;
    assert_int_equal(assay__rss_now(&bytes), ASSAY_OK);
    return bytes;
}

static void assert_near(double value, double expected)
{
    if (value < expected - SLACK || value > expected + SLACK)
        fail_msg("%.0f is not near %.0f", value, expected);
}

/* ---- Resident memory ------------------------------------------------------------------------ */

static void test_rss_follows_memory(void **state)
{
    (void)state;
    enum { BYTES = 100 * MEGABYTE };
    if (is_shadowed)
        skip();
    uint64_t before = rss_now();
    void *memory = touch(BYTES);
    uint64_t full = rss_now();
    munmap(memory, BYTES);
    assert_near((double)(full - before), BYTES);
    assert_near((double)rss_now(), (double)before);
    assay_memory reading = {.struct_size = sizeof reading};
    assert_int_equal(assay_memory_read(&reading), ASSAY_OK);
    assert_int_equal(reading.peak_rss_bytes.validity, ASSAY_VALID);
    assert_true(reading.peak_rss_bytes.value > (double)before + BYTES - SLACK);
    assert_near(reading.rss_bytes.value, (double)before);
}

static void test_peak_can_be_reset(void **state)
{
    (void)state;
    enum { BYTES = 100 * MEGABYTE };
    munmap(touch(BYTES), BYTES);
    assay_status status = assay_memory_reset_peak();
    if (status == ASSAY_E_UNSUPPORTED || status == ASSAY_E_PERMISSION)
        return; /* said so, which is the contract */
    assert_int_equal(status, ASSAY_OK);
    assay_memory reading = {.struct_size = sizeof reading};
    assert_int_equal(assay_memory_read(&reading), ASSAY_OK);
    assert_near(reading.peak_rss_bytes.value, reading.rss_bytes.value);
}

/* The kept descriptor speaks of the process that opened it. */
static void test_rss_after_fork_is_the_childs(void **state)
{
    (void)state;
    enum { BYTES = 100 * MEGABYTE };
    uint64_t before = rss_now();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char *memory =
            mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uint64_t bytes = 0;
        if (memory == MAP_FAILED)
            _exit(1);
        memset(memory, 1, BYTES);
        _exit(assay__rss_now(&bytes) == ASSAY_OK && bytes > BYTES ? 0 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_near((double)rss_now(), (double)before);
}

/* A host may close what it did not open, and reuse the number. */
static void test_rss_survives_closed_descriptors(void **state)
{
    (void)state;
    char decoy[] = "/tmp/assay-statm-XXXXXX";
    int file = mkstemp(decoy);
    assert_true(file >= 0);
    assert_int_equal(write(file, "1 1 1 1 1 1 1\n", 14), 14);
    uint64_t before = rss_now();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t bytes = 0;
        if (assay__rss_now(&bytes) != ASSAY_OK)
            _exit(1);
        for (int descriptor = 3; descriptor < 64; descriptor++)
            if (descriptor != file)
                dup2(file, descriptor);
        _exit(assay__rss_now(&bytes) == ASSAY_OK && bytes > before / 4 ? 0 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    close(file);
    unlink(decoy);
}

static void test_arguments_are_checked(void **state)
{
    (void)state;
    assay_memory memory = {.struct_size = 1};
    assay_tree_figures figures = {.struct_size = 1};
    assay_heap_figures heap = {.struct_size = 1};
    assert_int_equal(assay_memory_read(NULL), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_memory_read(&memory), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_tree_sampler_read(NULL, &figures), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_tree_sampler_sample(NULL), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_heap_read(&heap), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_heap_file_read(NULL, NULL, &heap), ASSAY_E_ARGUMENT);
    assay_tree_sampler_free(NULL);
}

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
        memset(mmap(NULL, CHILD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
               1, CHILD_BYTES);
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

/* ---- Descriptions --------------------------------------------------------------------------- */

typedef struct facts {
    char text[8192];
    int count;
} facts;

static void keep_fact(void *context, const char *key, const char *value, assay_validity validity)
{
    facts *all = context;
    size_t used = strlen(all->text);
    assert_true((value == NULL) == (validity != ASSAY_VALID));
    snprintf(all->text + used, sizeof all->text - used, "%s=%s\n", key,
             value != NULL ? value : assay_validity_text(validity));
    all->count++;
}

static void test_machine_is_described(void **state)
{
    (void)state;
    facts all = {0};
    assay_machine_describe(keep_fact, &all);
    assert_int_equal(all.count, 16);
    static const char *const keys[] = {"hostname=",       "\ncpu=",          "\ncores=",
                                       "\nusable_cores=", "\nmemory_bytes=", "\nkernel=Linux",
                                       "\nos=",           "\nboot_id="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(strstr(all.text, keys[i]));
    facts build = {0};
    assay_build_describe(keep_fact, &build);
    assert_non_null(strstr(build.text, "assay_version=" ASSAY_VERSION "\n"));
    assert_non_null(strstr(build.text, "libc=glibc 2."));
    assay_reading steal = assay_machine_steal_seconds();
    assert_int_equal(steal.validity, ASSAY_VALID);
    assert_true(steal.value >= 0.0);
}

static void write_text(const char *top, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", top, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make_directories(const char *top, const char *names)
{
    char command[1024];
    snprintf(command, sizeof command, "cd %s && mkdir -p %s", top, names);
    assert_int_equal(system(command), 0);
}

static void assert_git(const char *top, const char *below, const char *expected)
{
    char path[512];
    facts all = {0};
    snprintf(path, sizeof path, "%s/%s", top, below);
    assay_git_describe(path, keep_fact, &all);
    assert_string_equal(all.text, expected);
}

#define COMMIT_A "0123456789abcdef0123456789abcdef01234567"
#define COMMIT_B "fedcba9876543210fedcba9876543210fedcba98"

static void test_git_is_read_without_git(void **state)
{
    (void)state;
    char top[] = "/tmp/assay-git-XXXXXX", command[128];
    assert_non_null(mkdtemp(top));
    make_directories(
        top, "main/.git/refs/heads/feature main/src/deep main/.git/worktrees/w linked plain");
    write_text(top, "main/.git/HEAD", "ref: refs/heads/feature/x\n");
    write_text(top, "main/.git/refs/heads/feature/x", COMMIT_A "\n");
    assert_git(top, "main/src/deep", "commit=" COMMIT_A "\nbranch=feature/x\ndirty=not measured\n");
    write_text(top, "main/.git/HEAD", "ref: refs/heads/packed\n");
    write_text(top, "main/.git/packed-refs",
               "# pack-refs with: peeled fully-peeled sorted\n" COMMIT_A " refs/heads/packed-not\n"
               "^" COMMIT_A "\n" COMMIT_B " refs/heads/packed\n");
    assert_git(top, "main", "commit=" COMMIT_B "\nbranch=packed\ndirty=not measured\n");
    write_text(top, "main/.git/HEAD", "ref: refs/heads/unborn\n");
    assert_git(top, "main", "commit=not enough data\nbranch=unborn\ndirty=not measured\n");
    write_text(top, "main/.git/HEAD", COMMIT_A "\n");
    assert_git(top, "main", "commit=" COMMIT_A "\nbranch=(detached)\ndirty=not measured\n");
    write_text(top, "linked/.git", "gitdir: ../main/.git/worktrees/w\n");
    write_text(top, "main/.git/worktrees/w/HEAD", "ref: refs/heads/packed\n");
    write_text(top, "main/.git/worktrees/w/commondir", "../..\n");
    assert_git(top, "linked", "commit=" COMMIT_B "\nbranch=packed\ndirty=not measured\n");
    static const char nowhere[] =
        "commit=not enough data\nbranch=not enough data\ndirty=not enough data\n";
    assert_git(top, "plain", nowhere);
    assert_git(top, "no such folder", nowhere);
    write_text(top, "main/.git/HEAD", "ref: refs/../../../../etc/passwd\n");
    assert_git(top, "main",
               "commit=not enough data\nbranch=refs/../../../../etc/passwd\ndirty=not measured\n");
    snprintf(command, sizeof command, "rm -r %s", top);
    assert_int_equal(system(command), 0);
}

/* ---- Heap files ----------------------------------------------------------------------------- */

static void make_region(assay__heap_region *region)
{
    memset(region, 0, sizeof *region);
    memcpy(region->header.magic, ASSAY__HEAP_MAGIC, sizeof region->header.magic);
    region->header.version = ASSAY__HEAP_VERSION;
    region->header.header_bytes = ASSAY__HEAP_HEADER_BYTES;
    region->header.slot_bytes = sizeof(assay__heap_slot);
    region->header.slot_capacity = ASSAY__HEAP_SLOTS;
    region->header.drift_bytes = ASSAY__HEAP_DRIFT;
    region->header.state = ASSAY__HEAP_RUNNING;
    region->header.allocator = ASSAY__HEAP_GLIBC;
    region->header.slots_used = 2;
}

static assay_status check(const assay__heap_region *region, size_t length)
{
    assay_error error = {0};
    assay_status status = assay__heap_check(region, length, "file", &error);
    assert_true(status == ASSAY_OK || strstr(error.message, "'file'") != NULL);
    return status;
}

static void test_damaged_heap_files_are_refused(void **state)
{
    (void)state;
    static assay__heap_region region;
    const size_t whole = ASSAY__HEAP_FILE_BYTES;
    make_region(&region);
    assert_int_equal(check(&region, whole), ASSAY_OK);
    assert_int_equal(check(&region, whole - 1), ASSAY_E_TRUNCATED);
    assert_int_equal(check(&region, 0), ASSAY_E_TRUNCATED);
    region.header.slots_used = ASSAY__HEAP_SLOTS + 1;
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    make_region(&region);
    region.header.version = 2;
    assert_int_equal(check(&region, whole), ASSAY_E_VERSION);
    make_region(&region);
    region.header.magic[3] ^= 1;
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    make_region(&region);
    region.header.state = 0;
    assert_int_equal(check(&region, whole), ASSAY_E_FORMAT);
    make_region(&region);
    region.header.allocator = ASSAY__HEAP_BYPASSED;
    assert_int_equal(check(&region, whole), ASSAY_E_UNSUPPORTED);
}

/* Two threads: the process level is 1000, one of them has since been 70 above what it said. */
static void test_regions_are_summed(void **state)
{
    (void)state;
    static assay__heap_region region;
    assay_heap_figures figures = {.struct_size = sizeof figures};
    make_region(&region);
    region.header.published_bytes = 1000;
    region.header.peak_bytes = 1010;
    region.header.inherited_allocated_bytes = 500;
    region.header.inherited_freed_bytes = 100;
    region.header.inherited_allocations = 5;
    region.header.shared = (assay__heap_slot){.allocated_bytes = 40, .allocations = 1};
    region.slots[0] = (assay__heap_slot){.allocated_bytes = 2000,
                                         .freed_bytes = 300,
                                         .allocations = 20,
                                         .frees = 3,
                                         .published_bytes = 1660,
                                         .high_bytes = 1700,
                                         .peak_high_bytes = 1730};
    region.slots[1] = (assay__heap_slot){.allocated_bytes = 0,
                                         .freed_bytes = 700,
                                         .frees = 7,
                                         .published_bytes = -700,
                                         .high_bytes = -700,
                                         .peak_high_bytes = -700};
    region.slots[2].allocations = 999; /* never taken */
    assay__heap_sum(&region, &figures);
    assert_int_equal(figures.live_bytes, 40 + 1700 - 700);
    assert_int_equal(figures.peak_bytes, 1000 + 70);
    assert_int_equal(figures.peak_bound_bytes, 2 * ASSAY__HEAP_DRIFT);
    assert_int_equal(figures.allocations, 21 - 5);
    assert_int_equal(figures.frees, 10);
    assert_int_equal(figures.allocated_bytes, 2040 - 500);
    assert_int_equal(figures.inherited_bytes, 400);
}

static void test_without_interposer(void **state)
{
    (void)state;
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assay__heap_mark mark;
    assay__heap_span span;
    assert_false(assay_heap_available());
    assert_int_equal(assay_heap_read(&figures), ASSAY_E_UNSUPPORTED);
    assay__heap_span_begin(&mark);
    assert_false(assay__heap_span_end(&mark, &span));
    assay_error error;
    assert_int_equal(assay_heap_file_read("/no/such", &error, &figures), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_heap_file_read("/tmp", &error, &figures), ASSAY_E_FORMAT);
    assert_int_equal(assay_heap_file_read("/dev/null", &error, &figures), ASSAY_E_FORMAT);
    assert_int_equal(assay_heap_directory_read("/no/such", &error, &figures), ASSAY_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rss_follows_memory),
        cmocka_unit_test(test_peak_can_be_reset),
        cmocka_unit_test(test_rss_after_fork_is_the_childs),
        cmocka_unit_test(test_rss_survives_closed_descriptors),
        cmocka_unit_test(test_arguments_are_checked),
        cmocka_unit_test(test_fields_of_status),
        cmocka_unit_test(test_names_in_stat),
        cmocka_unit_test(test_foreign_stat_is_refused),
        cmocka_unit_test(test_tree_is_followed),
        cmocka_unit_test(test_tree_with_many_threads),
        cmocka_unit_test(test_orphans_of_a_subreaper),
        cmocka_unit_test(test_zombie_keeps_its_times),
        cmocka_unit_test(test_no_such_process),
        cmocka_unit_test(test_machine_is_described),
        cmocka_unit_test(test_git_is_read_without_git),
        cmocka_unit_test(test_damaged_heap_files_are_refused),
        cmocka_unit_test(test_regions_are_summed),
        cmocka_unit_test(test_without_interposer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
