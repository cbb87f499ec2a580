/* Which allocator the program would use without us.
 *
 * Normally glibc's, called by its own names. If another library brings one (jemalloc, tcmalloc, the
 * address sanitizer), blocks must come from and go to that one, since such a library hands out
 * blocks by further names of its own which the program then passes to free(). It is found with
 * RTLD_NEXT during the first allocation of the process. That lookup may itself allocate; what glibc
 * gives out meanwhile is remembered and goes back to glibc. */
#include "interposer/allocator.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "instrument/heap_region.h"

enum { EARLY_BLOCKS = 32 };

assay__allocator assay__allocator_next = {__libc_malloc,  __libc_free,     __libc_calloc,
                                          __libc_realloc, __libc_memalign, malloc_usable_size};

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

/* Do chunk headers say what malloc_usable_size() says: small, with an odd size, mapped on its own,
 * aligned? */
static bool headers_are_understood(void)
{
    static const size_t sizes[] = {1, 24, 25, 1000, 100000, 64 << 20};
    bool agree = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *blocks[] = {__libc_malloc(sizes[i]), __libc_memalign(4096, sizes[i])};
        for (size_t k = 0; k < 2; k++) {
            if (blocks[k] != NULL)
                agree &= assay__allocator_chunk_bytes(blocks[k]) == malloc_usable_size(blocks[k]);
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

uint32_t assay__allocator_choose(void)
{
    void *(*next_malloc)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    if (next_malloc == NULL || next_malloc == __libc_malloc)
        return headers_are_understood() ? ASSAY__HEAP_GLIBC : ASSAY__HEAP_OTHER;
    assay__allocator next = {
        .malloc = next_malloc,
        .free = (void (*)(void *))dlsym(RTLD_NEXT, "free"),
        .calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc"),
        .realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc"),
        .memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign"),
        .usable_size = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size"),
    };
    if (next.usable_size == NULL)
        next.usable_size = unknown_size;
    assay__allocator_next = next;
    return ASSAY__HEAP_OTHER;
}
