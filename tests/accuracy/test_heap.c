/* Heap figures compared with the truth: known patterns of allocation, counted independently of the
 * interposer. */
#include "tests/accuracy/heap_blocks.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "instrument/heap_region.h"

static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;

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

/* A file takes the place of the counters, in whole pages. */
static void test_counters_have_pages_of_their_own(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *symbol = dlsym(RTLD_DEFAULT, ASSAY__HEAP_REGION_SYMBOL);
    assay__heap_region_function *region;
    assert_non_null(symbol);
    memcpy(&region, &symbol, sizeof region);
    assert_int_equal((uintptr_t)region() % page, 0);
    assert_int_equal(sizeof *region() % page, 0);
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
        cmocka_unit_test(test_counters_have_pages_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
