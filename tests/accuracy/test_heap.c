/* Heap figures against the truth: known patterns of allocation, counted beside the interposer.
 *
 * The program starts itself again with libassay_heap.so preloaded and a directory for heap files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "instrument/heap.h"
#include "instrument/heap_region.h"
#include "preloaded.h"

enum { BLOCKS = 1000 };

/* Calls the compiler must not see through: it knows malloc and removes what is not used. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static void (*volatile do_free)(void *) = free;

static assay_heap_figures read_heap(void)
{
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assert_int_equal(assay_heap_read(&figures), ASSAY_OK);
    return figures;
}

static size_t size_of(size_t i)
{
    return i * 37 % 5000 + (size_t)(i % 100 == 0) * 300000;
}

static int64_t allocate_blocks(void *blocks[BLOCKS])
{
    int64_t bytes = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = do_malloc(size_of(i));
        bytes += (int64_t)malloc_usable_size(blocks[i]);
    }
    return bytes;
}

static void free_blocks(void *blocks[BLOCKS])
{
    for (size_t i = 0; i < BLOCKS; i++)
        do_free(blocks[i]);
}

static void test_every_block_is_counted(void **state)
{
    (void)state;
    static void *blocks[BLOCKS];
    assay_heap_figures before = read_heap();
    int64_t bytes = allocate_blocks(blocks);
    assay_heap_figures full = read_heap();
    free_blocks(blocks);
    assay_heap_figures after = read_heap();
    assert_int_equal(full.allocations - before.allocations, BLOCKS);
    assert_int_equal(full.frees, before.frees);
    assert_int_equal(full.live_bytes - before.live_bytes, bytes);
    assert_int_equal(full.allocated_bytes - before.allocated_bytes, bytes);
    assert_int_equal(after.frees - before.frees, BLOCKS);
    assert_int_equal(after.live_bytes, before.live_bytes);
    assert_true(after.peak_bytes >= (uint64_t)full.live_bytes);
}

/* glibc's own count includes its header of one word for each block. Blocks beyond the sizes that it
 * caches, below those that it maps on their own. */
static void test_agrees_with_glibc(void **state)
{
    (void)state;
    static void *blocks[BLOCKS];
    assay_heap_figures before = read_heap();
    struct mallinfo2 glibc_before = mallinfo2();
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = do_malloc(2000 + i * 16);
    struct mallinfo2 glibc_after = mallinfo2();
    assay_heap_figures after = read_heap();
    free_blocks(blocks);
    assert_int_equal(after.live_bytes - before.live_bytes + BLOCKS * (int64_t)sizeof(size_t),
                     glibc_after.uordblks - glibc_before.uordblks);
}

static void test_peak_is_exact_with_one_thread(void **state)
{
    (void)state;
    static const size_t above[] = {100, 50000, 70000, 10000000}; /* below and above the drift */
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        assay_heap_figures before = read_heap();
        size_t gap = before.peak_bytes - (uint64_t)before.live_bytes;
        void *up_to_peak = do_malloc(gap), *block = do_malloc(above[i]);
        size_t bytes = malloc_usable_size(up_to_peak) + malloc_usable_size(block);
        do_free(block);
        assay__heap_mark mark;
        assay__heap_span span;
        assay__heap_span_begin(&mark); /* starts a watermark of its own, and must lose nothing */
        assert_true(assay__heap_span_end(&mark, &span));
        do_free(up_to_peak);
        assay_heap_figures after = read_heap();
        assert_int_equal(after.peak_bytes, (uint64_t)before.live_bytes + bytes);
        assert_int_equal(after.live_bytes, before.live_bytes);
    }
}

static void test_resized_blocks(void **state)
{
    (void)state;
    static const size_t sizes[] = {10, 100, 100000, 50, 1 << 20, 1 << 22, 1};
    assay_heap_figures before = read_heap(), now;
    void *block = do_realloc(NULL, 1000);
    assert_int_equal(read_heap().allocations - before.allocations, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        block = do_realloc(block, sizes[i]);
        now = read_heap();
        assert_int_equal(now.live_bytes - before.live_bytes, malloc_usable_size(block));
        assert_int_equal(now.allocations - before.allocations, i + 2);
        assert_int_equal(now.frees - before.frees, i + 1);
    }
    assert_null(do_realloc(block, PTRDIFF_MAX));
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(read_heap().live_bytes, now.live_bytes);
    assert_int_equal(read_heap().frees, now.frees);
    assert_null(do_realloc(block, 0));
    assert_int_equal(read_heap().live_bytes, before.live_bytes);
    assert_int_equal(read_heap().frees - before.frees,
                     read_heap().allocations - before.allocations);
    void *array = reallocarray(NULL, 100, 8);
    assert_int_equal(read_heap().live_bytes - before.live_bytes, malloc_usable_size(array));
    void *(*volatile do_reallocarray)(void *, size_t, size_t) = reallocarray;
    assert_null(do_reallocarray(array, SIZE_MAX / 2, 8));
    do_free(array);
    assert_int_equal(read_heap().live_bytes, before.live_bytes);
}

static void test_failures_and_nothing(void **state)
{
    (void)state;
    assay_heap_figures before = read_heap();
    assert_null(do_malloc(PTRDIFF_MAX));
    assert_null(do_calloc(SIZE_MAX / 2, 4));
    do_free(NULL);
    assay_heap_figures after = read_heap();
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.frees, before.frees);
    void *empty = do_malloc(0);
    assert_non_null(empty);
    assert_int_equal(read_heap().allocations - before.allocations, 1);
    errno = 4711;
    do_free(empty);
    assert_int_equal(errno, 4711);
    unsigned char *zeroed = do_calloc(300, 7);
    for (size_t i = 0; i < 2100; i++)
        assert_int_equal(zeroed[i], 0);
    do_free(zeroed);
    assert_int_equal(read_heap().live_bytes, before.live_bytes);
}

static void test_aligned_blocks(void **state)
{
    (void)state;
    assay_heap_figures before = read_heap();
    int64_t bytes = 0;
    void *blocks[16];
    size_t used = 0;
    for (size_t alignment = 16; alignment <= 4096; alignment *= 4) {
        assert_int_equal(posix_memalign(&blocks[used++], alignment, 100), 0);
        blocks[used++] = aligned_alloc(alignment, alignment * 3);
        blocks[used++] = memalign(alignment, 5);
        for (size_t i = used - 3; i < used; i++)
            assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    blocks[used++] = valloc(10);
    assert_int_equal((uintptr_t)blocks[used - 1] % page, 0);
    for (size_t i = 0; i < used; i++)
        bytes += (int64_t)malloc_usable_size(blocks[i]);
    assay_heap_figures full = read_heap();
    assert_int_equal(full.live_bytes - before.live_bytes, bytes);
    assert_int_equal(full.allocations - before.allocations, used);
    void *whole_pages = pvalloc(page + 1);
    assert_true(malloc_usable_size(whole_pages) >= 2 * page);
    do_free(whole_pages);
    for (size_t i = 0; i < used; i++)
        do_free(blocks[i]);
    assert_int_equal(read_heap().live_bytes, before.live_bytes);
    void *untouched = &bytes;
    assert_int_equal(posix_memalign(&untouched, 24, 8), EINVAL);
    assert_int_equal(posix_memalign(&untouched, 4, 8), EINVAL);
    assert_int_equal(posix_memalign(&untouched, 16, PTRDIFF_MAX), ENOMEM);
    assert_ptr_equal(untouched, &bytes);
}

/* Outer: 1000 live, then an inner span that peaks at 3000 above, then a peak of 500 after it. */
static void test_nested_spans_have_their_own_peaks(void **state)
{
    (void)state;
    enum { A = 1000, B = 3000, C = 1400, D = 5000 }; /* multiples of 16 less 8: usable as asked */
    assay__heap_mark outer, inner, leaf;
    assay__heap_span figures;
    void *before = do_malloc(9000), *first, *second;
    do_free(before); /* a higher level before the span must not show in it */
    assay__heap_span_begin(&outer);
    first = do_malloc(A);
    size_t a = malloc_usable_size(first);
    assay__heap_span_begin(&inner);
    second = do_malloc(B);
    size_t b = malloc_usable_size(second);
    do_free(second);
    assay__heap_span_begin(&leaf);
    second = do_malloc(C);
    size_t c = malloc_usable_size(second);
    assert_true(assay__heap_span_end(&leaf, &figures));
    assert_int_equal(figures.live_delta_bytes, c);
    assert_int_equal(figures.peak_growth_bytes, c);
    assert_int_equal(figures.allocations, 1);
    assert_int_equal(figures.frees, 0);
    do_free(second);
    assert_true(assay__heap_span_end(&inner, &figures));
    assert_int_equal(figures.live_delta_bytes, 0);
    assert_int_equal(figures.peak_growth_bytes, b);
    assert_int_equal(figures.allocations, 2);
    assert_int_equal(figures.frees, 2);
    do_free(first);
    assert_true(assay__heap_span_end(&outer, &figures));
    assert_int_equal(figures.live_delta_bytes, 0);
    assert_int_equal(figures.peak_growth_bytes, a + b);

    assay__heap_span_begin(&outer);
    first = do_malloc(D);
    size_t d = malloc_usable_size(first);
    do_free(first);
    assay__heap_span_begin(&inner);
    assert_true(assay__heap_span_end(&inner, &figures));
    assert_int_equal(figures.peak_growth_bytes, 0);
    assert_true(assay__heap_span_end(&outer, &figures));
    assert_int_equal(figures.peak_growth_bytes, d); /* reached before the inner span began */
}

/* Publishing in the middle of a span, again and again, must lose nothing. */
static void test_spans_over_many_publications(void **state)
{
    (void)state;
    static void *blocks[BLOCKS];
    assay__heap_mark outer, inner;
    assay__heap_span figures;
    assay_heap_figures before = read_heap();
    int64_t highest = 0;
    assay__heap_span_begin(&outer);
    for (int round = 0; round < 3; round++) {
        assay__heap_span_begin(&inner);
        int64_t bytes = allocate_blocks(blocks);
        free_blocks(blocks);
        assert_true(assay__heap_span_end(&inner, &figures));
        assert_int_equal(figures.peak_growth_bytes, bytes);
        assert_int_equal(figures.live_delta_bytes, 0);
        assert_int_equal(figures.allocations, BLOCKS);
        highest = bytes > highest ? bytes : highest; /* a block may be a little larger each time */
    }
    assert_true(assay__heap_span_end(&outer, &figures));
    assert_int_equal(figures.peak_growth_bytes, highest);
    assert_true(read_heap().peak_bytes >= (uint64_t)(before.live_bytes + highest));
}

typedef struct worker {
    void **blocks;
    int64_t bytes;
    assay__heap_span span;
    bool has_span;
} worker;

static void *allocate_in_thread(void *context)
{
    worker *self = context;
    assay__heap_mark mark;
    assay__heap_span_begin(&mark);
    self->bytes = allocate_blocks(self->blocks);
    self->has_span = assay__heap_span_end(&mark, &self->span);
    return NULL;
}

static void test_blocks_freed_by_another_thread(void **state)
{
    (void)state;
    static void *blocks[BLOCKS];
    worker other = {.blocks = blocks};
    pthread_t thread;
    assay__heap_mark mark;
    assay__heap_span span;
    /* The first thread of a process costs allocations of its own. */
    assert_int_equal(pthread_create(&thread, NULL, allocate_in_thread, &other), 0);
    pthread_join(thread, NULL);
    free_blocks(blocks);
    assay_heap_figures before = read_heap();
    assert_int_equal(pthread_create(&thread, NULL, allocate_in_thread, &other), 0);
    pthread_join(thread, NULL);
    assert_true(other.has_span);
    assert_int_equal(other.span.live_delta_bytes, other.bytes);
    assert_int_equal(other.span.allocations, BLOCKS);
    assay__heap_span_begin(&mark);
    free_blocks(blocks);
    assert_true(assay__heap_span_end(&mark, &span));
    assert_int_equal(span.live_delta_bytes, -other.bytes);
    assert_int_equal(span.peak_growth_bytes, 0);
    assert_int_equal(span.frees, BLOCKS);
    assay_heap_figures after = read_heap();
    assert_in_range(after.frees - before.frees, BLOCKS, BLOCKS + 16); /* pthread_create's own */
    assert_true(after.live_bytes - before.live_bytes < 4096);
    assert_true(before.live_bytes - after.live_bytes < 4096);
}

static void *leave_block(void *context)
{
    *(void **)context = do_malloc(50000); /* too little to be published before the thread ends */
    return NULL;
}

static void test_ended_threads_stay_in_the_level(void **state)
{
    (void)state;
    enum { THREADS = 200 };
    static void *blocks[THREADS];
    pthread_t thread;
    assay_heap_figures before = read_heap();
    size_t gap = before.peak_bytes - (uint64_t)before.live_bytes;
    void *up_to_peak = do_malloc(gap);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread, NULL, leave_block, &blocks[i]), 0);
        pthread_join(thread, NULL);
    }
    assay_heap_figures full = read_heap();
    for (int i = 0; i < THREADS; i++)
        do_free(blocks[i]);
    do_free(up_to_peak);
    assay_heap_figures after = read_heap();
    assert_true(full.live_bytes > (int64_t)before.peak_bytes + THREADS * 50000);
    assert_true(after.peak_bytes + after.peak_bound_bytes >= (uint64_t)full.live_bytes);
    assert_true(after.peak_bound_bytes <= 4 * ASSAY__HEAP_DRIFT); /* slots are used again */
}

enum { CROWD = ASSAY__HEAP_SLOTS + 50, HELD = 20, HELD_BYTES = 1000 };

static pthread_barrier_t crowd_barrier;

static void free_late(void *block)
{
    do_free(block);
}

static pthread_key_t late_key; /* made after the interposer's: its destructor runs later */

static void *stand_in_crowd(void *context)
{
    (void)context;
    void *blocks[HELD];
    for (int i = 0; i < HELD; i++)
        blocks[i] = do_malloc(HELD_BYTES);
    pthread_setspecific(late_key, do_malloc(HELD_BYTES));
    pthread_barrier_wait(&crowd_barrier); /* everybody has allocated */
    pthread_barrier_wait(&crowd_barrier); /* and was counted */
    for (int i = 0; i < HELD; i++)
        do_free(blocks[i]);
    return NULL;
}

/* More threads at once than there are slots, ending while others run, freeing late. */
static void test_more_threads_than_slots(void **state)
{
    (void)state;
    static pthread_t threads[CROWD];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    assert_int_equal(pthread_key_create(&late_key, free_late), 0);
    for (int round = 0; round < 2; round++) {
        pthread_barrier_init(&crowd_barrier, NULL, CROWD + 1);
        assay_heap_figures before = read_heap();
        for (int i = 0; i < CROWD; i++)
            assert_int_equal(pthread_create(&threads[i], &small, stand_in_crowd, NULL), 0);
        pthread_barrier_wait(&crowd_barrier);
        assay_heap_figures full = read_heap();
        pthread_barrier_wait(&crowd_barrier);
        for (int i = 0; i < CROWD; i++)
            pthread_join(threads[i], NULL);
        assay_heap_figures after = read_heap();
        int64_t held = CROWD * (HELD + 1) * HELD_BYTES;
        assert_true(full.live_bytes - before.live_bytes >= held);
        assert_true(full.live_bytes - before.live_bytes < held + CROWD * 1024);
        assert_true(full.allocations - before.allocations >= CROWD * (HELD + 1));
        assert_true(after.peak_bytes + after.peak_bound_bytes >= (uint64_t)full.live_bytes);
        assert_true(after.peak_bytes <= (uint64_t)full.live_bytes + after.peak_bound_bytes ||
                    after.peak_bytes == before.peak_bytes);
        assert_true(after.live_bytes - before.live_bytes < CROWD * 1024); /* of cached stacks */
        pthread_barrier_destroy(&crowd_barrier);
    }
    pthread_key_delete(late_key);
    pthread_attr_destroy(&small);
}

static void *churn(void *context)
{
    uint64_t *allocations = context;
    void *blocks[64] = {0};
    for (int i = 0; i < 200000; i++) {
        void **place = &blocks[(unsigned)i * 2654435761u >> 26];
        do_free(*place);
        *place = do_malloc((size_t)(i % 3000));
        ++*allocations;
    }
    for (int i = 0; i < 64; i++)
        do_free(blocks[i]);
    return NULL;
}

static void test_totals_of_busy_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    uint64_t made[THREADS] = {0}, sum = 0;
    assay_heap_figures before = read_heap();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &made[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += made[i];
    }
    assay_heap_figures after = read_heap();
    uint64_t allocations = after.allocations - before.allocations;
    assert_in_range(allocations, sum, sum + 32 * THREADS); /* threads cost a few themselves */
    assert_true(after.live_bytes - before.live_bytes < 65536);
    assert_true(before.live_bytes - after.live_bytes < 65536);
}

/* ---- Processes and their files -------------------------------------------------------------- */

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
    if (assay_heap_file_read(path, &error, &figures) != ASSAY_OK)
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
    (void)read_file_of(child, ".2");
}

static void test_directory_is_summed(void **state)
{
    (void)state;
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
        cmocka_unit_test(test_every_block_is_counted),
        cmocka_unit_test(test_agrees_with_glibc),
        cmocka_unit_test(test_peak_is_exact_with_one_thread),
        cmocka_unit_test(test_resized_blocks),
        cmocka_unit_test(test_failures_and_nothing),
        cmocka_unit_test(test_aligned_blocks),
        cmocka_unit_test(test_nested_spans_have_their_own_peaks),
        cmocka_unit_test(test_spans_over_many_publications),
        cmocka_unit_test(test_forked_child_and_kill),
        cmocka_unit_test(test_spans_survive_fork),
        cmocka_unit_test(test_exec_starts_another_generation),
        cmocka_unit_test(test_own_file_says_the_same),
        cmocka_unit_test(test_directory_is_summed),
        cmocka_unit_test(test_blocks_freed_by_another_thread),
        cmocka_unit_test(test_ended_threads_stay_in_the_level),
        cmocka_unit_test(test_totals_of_busy_threads),
        cmocka_unit_test(test_more_threads_than_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
