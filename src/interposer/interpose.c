/* The interposed functions. Each calls the allocator and counts what it did.
 *
 * The size of a block is that of malloc_usable_size(), because only this size is known again when
 * the block is freed. The alternatives would be a table or a header of our own. A table costs a
 * cache miss in each call. A header changes the alignment, and breaks blocks that another library
 * allocated before. strdup(), getline() and the like also come through here. C++'s operators are in
 * operators.c.
 *
 * All functions have the same structure. A thread with a slot, in a process with glibc's allocator,
 * takes a few inlined instructions. All other threads take the slow path. */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interposer/allocator.h"
#include "interposer/count.h"

#define EXPORT      __attribute__((visibility("default")))
#define SLOW        static __attribute__((noinline, cold))

#define chunk_bytes assay__allocator_chunk_bytes

static inline assay__heap_slot *fast_slot(void)
{
    return assay__heap_this_thread.fast;
}

/* ---- The slow path: first call of a thread, no slot, or another allocator ------------------- */

/* Enter the slow path. Returns whether the call is to be counted. Another allocator may call its
 * own public functions, and so come back here; only the outermost call, that of the program,
 * counts. */
static bool enter(void)
{
    assay__heap_attach();
    if (assay__heap_this_thread.inside || assay__heap_is_bypassed())
        return false;
    assay__heap_this_thread.inside = true;
    return true;
}

/* Leave the slow path. Count the block that the allocator returned, and return it. */
static void *leave(bool is_outermost, void *block)
{
    if (!is_outermost)
        return block;
    if (block != NULL && UNLIKELY(assay__heap_is_starting()))
        assay__allocator_note_early(block);
    if (block != NULL)
        count_made(assay__allocator_next.usable_size(block));
    assay__heap_this_thread.inside = false;
    return block;
}

SLOW void *slow_malloc(size_t size)
{
    bool is_outermost = enter();
    return leave(is_outermost, assay__allocator_next.malloc(size));
}

SLOW void *slow_calloc(size_t count, size_t size)
{
    bool is_outermost = enter();
    return leave(is_outermost, assay__allocator_next.calloc(count, size));
}

SLOW void *slow_memalign(size_t alignment, size_t size)
{
    bool is_outermost = enter();
    return leave(is_outermost, assay__allocator_next.memalign(alignment, size));
}

SLOW void slow_free(void *block)
{
    bool is_outermost = enter(), is_early = assay__allocator_take_early(block);
    if (is_outermost)
        count_freed(is_early ? chunk_bytes(block) : assay__allocator_next.usable_size(block));
    if (is_early)
        __libc_free(block);
    else
        assay__allocator_next.free(block);
    leave(is_outermost, NULL);
}

/* Reallocate a block that glibc gave out before the allocator was chosen. The new block comes from
 * the chosen allocator. */
static void *move_early(void *block, size_t size)
{
    void *moved = size != 0 ? assay__allocator_next.malloc(size) : NULL;
    if (moved == NULL && size != 0) {
        assay__allocator_note_early(block);
        return NULL;
    }
    size_t old_bytes = chunk_bytes(block);
    if (moved != NULL)
        memcpy(moved, block, old_bytes < size ? old_bytes : size);
    __libc_free(block);
    return moved;
}

SLOW void *slow_realloc(void *block, size_t size)
{
    bool is_outermost = enter(), is_early = assay__allocator_take_early(block);
    size_t old_bytes = is_early ? chunk_bytes(block) : assay__allocator_next.usable_size(block);
    void *moved = is_early ? move_early(block, size) : assay__allocator_next.realloc(block, size);
    if (is_outermost && (moved != NULL || size == 0))
        count_freed(old_bytes);
    return leave(is_outermost, moved);
}

/* ---- The functions -------------------------------------------------------------------------- */

/* Blocks that are mapped separately, and levels that must be published, are handled by these
 * functions, which are tail calls. So the usual path through malloc() and free() keeps nothing but
 * the block across a call. */
static __attribute__((noinline)) void *publish_and_return(void *block)
{
    assay__heap_slot *slot = fast_slot();
    assay__heap_publish(slot, assay__heap_slot_level(slot));
    return block;
}

static __attribute__((noinline)) void publish_and_free(void *block)
{
    assay__heap_slot *slot = fast_slot();
    assay__heap_publish(slot, assay__heap_slot_level(slot));
    __libc_free(block);
}

static __attribute__((noinline)) void *count_mapped(void *block)
{
    bool publish = count_allocation(fast_slot(), chunk_bytes(block));
    return publish ? publish_and_return(block) : block;
}

static __attribute__((noinline)) void free_mapped(void *block)
{
    if (count_free(fast_slot(), chunk_bytes(block)))
        publish_and_free(block);
    else
        __libc_free(block);
}

/* Count a new block. NULL, for a failed allocation, is not counted. */
static inline void *counted_fast(void *block)
{
    if (UNLIKELY(block == NULL))
        return NULL;
    if (UNLIKELY(assay__allocator_is_mapped(block)))
        return count_mapped(block);
    if (UNLIKELY(count_allocation(fast_slot(), assay__allocator_plain_bytes(block))))
        return publish_and_return(block);
    return block;
}

EXPORT void *malloc(size_t size)
{
    if (UNLIKELY(fast_slot() == NULL))
        return slow_malloc(size);
    return counted_fast(__libc_malloc(size));
}

EXPORT void free(void *block)
{
    if (block == NULL)
        return;
    assay__heap_slot *slot = fast_slot();
    if (UNLIKELY(slot == NULL))
        slow_free(block);
    else if (UNLIKELY(assay__allocator_is_mapped(block)))
        free_mapped(block);
    else if (UNLIKELY(count_free(slot, assay__allocator_plain_bytes(block))))
        publish_and_free(block);
    else
        __libc_free(block);
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (UNLIKELY(fast_slot() == NULL))
        return slow_calloc(count, size);
    return counted_fast(__libc_calloc(count, size));
}

EXPORT void *realloc(void *block, size_t size)
{
    if (block == NULL)
        return malloc(size);
    if (UNLIKELY(fast_slot() == NULL))
        return slow_realloc(block, size);
    size_t old_bytes = chunk_bytes(block);
    void *moved = __libc_realloc(block, size);
    bool publish = false;
    if (LIKELY(moved != NULL))
        publish = count_replacement(fast_slot(), old_bytes, chunk_bytes(moved));
    else if (size == 0)
        publish = count_free(fast_slot(), old_bytes);
    return UNLIKELY(publish) ? publish_and_return(moved) : moved;
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    if (UNLIKELY(fast_slot() == NULL))
        return slow_memalign(alignment, size);
    return counted_fast(__libc_memalign(alignment, size));
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

EXPORT int posix_memalign(void **result, size_t alignment, size_t size)
{
    bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power_of_two || alignment % sizeof(void *) != 0)
        return EINVAL;
    int saved_errno = errno; /* POSIX: the result is the error, and errno does not change */
    void *block = memalign(alignment, size);
    errno = saved_errno;
    if (block == NULL)
        return ENOMEM;
    *result = block;
    return 0;
}

EXPORT void *valloc(size_t size)
{
    return memalign((size_t)sysconf(_SC_PAGESIZE), size);
}

EXPORT void *pvalloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), padded = 0;
    if (__builtin_add_overflow(size, page - 1, &padded)) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page, padded & ~(page - 1));
}
