/* Heap files of this process, of forked, killed and replaced processes, and of a whole directory.
 */
#include "assay/instrument.h"
#include "instrument/heap_read.h"
#include "tests/accuracy/heap_blocks.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *heap_directory(void)
{
    return getenv("ASSAY_HEAP_DIR");
}

static assay_heap_figures read_file_of(pid_t process, const char *suffix)
{
    char path[4096];
    assay_error error = {0};
    assay_heap_figures figures = {.struct_size = sizeof figures};
    snprintf(path, sizeof path, "%s/heap.%d%s", heap_directory(), (int)process, suffix);
    if (assay__heap_file_read(path, &error, &figures) != ASSAY_OK)
        fail_msg("%s", error.message);
    return figures;
}

static void test_own_file_says_the_same(void **state)
{
    (void)state;
    static void *blocks[BLOCKS];
    allocate_blocks(blocks);
    assay_heap_figures memory = read_heap(), file = read_file_of(getpid(), "");
    free_blocks(blocks);
    assert_int_equal(file.allocations, memory.allocations + 1); /* the reader's own */
    assert_int_equal(file.live_bytes - memory.live_bytes,
                     file.allocated_bytes - memory.allocated_bytes);
    assert_int_equal(file.frees, memory.frees);
    assert_true(file.peak_bytes >= memory.peak_bytes);
}

/* The child allocates, says so, and waits to be killed. */
static pid_t start_child(int64_t *bytes)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static void *blocks[BLOCKS];
        int64_t allocated = allocate_blocks(blocks);
        ssize_t written = write(pipes[1], &allocated, sizeof allocated);
        (void)written;
        alarm(20); /* should the test fail before it kills us */
        for (;;)
            pause();
    }
    close(pipes[1]);
    assert_int_equal(read(pipes[0], bytes, sizeof *bytes), sizeof *bytes);
    close(pipes[0]);
    return child;
}

static void test_forked_child_and_kill(void **state)
{
    (void)state;
    int64_t bytes = 0;
    void *inherited = do_malloc(123456);
    assay_heap_figures before = read_heap();
    pid_t child = start_child(&bytes);
    assay_heap_figures after = read_heap(), running = read_file_of(child, "");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assay_heap_figures dead = read_file_of(child, "");
    assert_int_equal(dead.inherited_bytes, before.live_bytes);
    assert_int_equal(dead.live_bytes, before.live_bytes + bytes);
    assert_int_equal(dead.allocations, BLOCKS);
    assert_int_equal(dead.frees, 0);
    assert_int_equal(dead.allocated_bytes, bytes);
    assert_int_equal(dead.peak_bytes, dead.live_bytes);
    assert_int_equal(running.allocations, BLOCKS);
    assert_int_equal(after.allocations, before.allocations); /* the parent's file is its own */
    assert_int_equal(after.live_bytes, before.live_bytes);
    do_free(inherited);
}

static void test_spans_survive_fork(void **state)
{
    (void)state;
    assay__heap_mark mark;
    assay__heap_span span;
    assay__heap_span_begin(&mark);
    void *block = do_malloc(1000);
    int64_t bytes = (int64_t)malloc_usable_size(block);
    pid_t child = fork();
    assert_true(child >= 0);
    void *more = do_malloc(child == 0 ? 2000 : 500);
    bytes += (int64_t)malloc_usable_size(more);
    bool known = assay__heap_span_end(&mark, &span);
    if (child == 0)
        _exit(known && span.live_delta_bytes == bytes && span.allocations == 2 ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(span.live_delta_bytes, bytes);
    assert_int_equal(span.allocations, 2);
    do_free(block);
    do_free(more);
}

static void test_exec_starts_another_generation(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("the host's programs do not load the interposer of an emulated one");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execlp("sh", "sh", "-c", "exec true", NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    (void)read_file_of(child, "");
    (void)read_file_of(child, ".1");
    assay_heap_figures last = read_file_of(child, ".2");
    assay_heap_figures found = {.struct_size = sizeof found};
    assert_int_equal(assay_heap_process_read(heap_directory(), child, NULL, &found), ASSAY_OK);
    assert_int_equal(found.allocated_bytes, last.allocated_bytes);
    assert_int_equal(found.allocations, last.allocations);
    assert_int_equal(assay_heap_process_read(heap_directory(), 1, NULL, &found), ASSAY_E_NOT_FOUND);
}

static void test_directory_is_summed(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("the host's programs do not load the interposer of an emulated one");
    char directory[] = "/tmp/assay-heap-XXXXXX", command[4096];
    assert_non_null(mkdtemp(directory));
    assay_heap_figures sum = {.struct_size = sizeof sum};
    assay_error error;
    assert_int_equal(assay_heap_directory_read(directory, &error, &sum), ASSAY_E_NOT_FOUND);
    snprintf(command, sizeof command, "ASSAY_HEAP_DIR=%s sh -c 'sh -c : ; exec true'", directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(assay_heap_directory_read(directory, &error, &sum), ASSAY_OK);
    assert_int_equal(error.status, ASSAY_OK);
    uint64_t programs = sum.processes; /* sh, perhaps its fork, that one as sh, sh as true */
    assert_in_range(programs, 3, 4);
    assert_true(sum.allocations > 0 && sum.peak_bytes > 0);
    snprintf(command, sizeof command, "echo foreign > %s/heap.77", directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(assay_heap_directory_read(directory, &error, &sum), ASSAY_OK);
    assert_int_equal(sum.processes, programs);
    assert_int_equal(error.status, ASSAY_E_TRUNCATED);
    assert_non_null(strstr(error.message, "heap.77"));
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

int main(int count, char **arguments)
{
    (void)count;
    int status = run_preloaded(arguments);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forked_child_and_kill),
        cmocka_unit_test(test_spans_survive_fork),
        cmocka_unit_test(test_exec_starts_another_generation),
        cmocka_unit_test(test_own_file_says_the_same),
        cmocka_unit_test(test_directory_is_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
