/* Finds the allocator that the program would use without the interposer.
 *
 * Normally this is glibc's allocator, which is called by glibc's own names. Another library may
 * bring an allocator of its own (jemalloc, tcmalloc, the address sanitizer). Then all blocks must
 * come from that allocator and go back to it, because such a library has further functions that
 * allocate, and the program passes their blocks to free(). The allocator is found with RTLD_NEXT
 * during the first allocation of the process. That lookup may itself allocate. The blocks that
 * glibc gives out meanwhile are remembered and go back to glibc. */
#include "interposer/allocator.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "instrument/heap_region.h"

enum { EARLY_BLOCKS = 32 };

static size_t chunk_usable_size(void *block)
{
    return assay__allocator_chunk_bytes(block);
}

assay__allocator assay__allocator_next = {__libc_malloc,  __libc_free,     __libc_calloc,
                                          __libc_realloc, __libc_memalign, chunk_usable_size};

static _Atomic(void *) early_blocks[EARLY_BLOCKS];
static atomic_int early_count;

void assay__allocator_note_early(void *block)
{
    int index = atomic_fetch_add(&early_count, 1);
    if (index < EARLY_BLOCKS)
        atomic_store(&early_blocks[index], block);
}

bool assay__allocator_take_early(void *block)
{
    int count = atomic_load_explicit(&early_count, memory_order_relaxed);
    for (int i = 0; i < count && i < EARLY_BLOCKS; i++) {
        void *expected = block;
        if (atomic_compare_exchange_strong(&early_blocks[i], &expected, NULL))
            return true;
    }
    return false;
}

/* Whether the headers of glibc's chunks give the same sizes as malloc_usable_size(). This is tried
 * for small, larger, aligned and separately mapped blocks. The trial must not change the heap for
 * the program. So the mapped block is larger than the sizes from which glibc learns when to map (up
 * to 32 MiB), and the other blocks are small. */
static bool headers_are_understood(size_t (*usable_size)(void *))
{
    static const size_t sizes[] = {24, 25, 1000, 64 << 20};
    enum { SMALLEST = 3 * sizeof(size_t) }; /* glibc gives more for 1 byte; valgrind does not */
    void *least = __libc_malloc(1);
    bool agree = least != NULL && usable_size(least) >= SMALLEST;
    __libc_free(least);
    for (size_t i = 0; agree && i < sizeof sizes / sizeof *sizes; i++) {
        void *blocks[] = {__libc_malloc(sizes[i]), __libc_memalign(256, sizes[i])};
        for (size_t k = 0; k < 2; k++) {
            if (blocks[k] != NULL)
                agree &= assay__allocator_chunk_bytes(blocks[k]) == usable_size(blocks[k]);
            __libc_free(blocks[k]);
        }
    }
    return agree;
}

static size_t unknown_size(void *block)
{
    (void)block;
    return 0;
}

/* The runtimes of the sanitizers also replace some of glibc's own names, and may be called before
 * they are ready. So with a sanitizer, calls are only passed on. */
extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

static bool has_sanitizer(void)
{
    return __asan_init != NULL || __hwasan_init != NULL || __msan_init != NULL ||
           __tsan_init != NULL;
}

static uint32_t choose_glibc(size_t (*usable_size)(void *))
{
    if (usable_size == NULL || headers_are_understood(usable_size))
        return ASSAY__HEAP_GLIBC;
    assay__allocator_next.usable_size = usable_size;
    return ASSAY__HEAP_OTHER;
}

uint32_t assay__allocator_choose(void)
{
    assay__allocator next = {
        .malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"),
        .free = (void (*)(void *))dlsym(RTLD_NEXT, "free"),
        .calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc"),
        .realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc"),
        .memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign"),
        .usable_size = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size"),
    };
    if (has_sanitizer()) {
        assay__allocator_next = next;
        return ASSAY__HEAP_BYPASSED;
    }
    if (next.malloc == NULL || next.malloc == __libc_malloc)
        return choose_glibc(next.usable_size);
    if (next.usable_size == NULL)
        next.usable_size = unknown_size;
    assay__allocator_next = next;
    return ASSAY__HEAP_OTHER;
}
