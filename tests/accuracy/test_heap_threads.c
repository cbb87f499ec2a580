/* Heap figures of many threads: threads that end, that free memory of others, that are busy, or
 * that are too many for the slots. */
#include "tests/accuracy/heap_blocks.h"

#include <pthread.h>

#include "instrument/heap_region.h"

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

int main(int count, char **arguments)
{
    (void)count;
    int status = run_preloaded(arguments);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_freed_by_another_thread),
        cmocka_unit_test(test_ended_threads_stay_in_the_level),
        cmocka_unit_test(test_totals_of_busy_threads),
        cmocka_unit_test(test_more_threads_than_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
