/* The arena takes memory from calloc() in blocks of 64 KiB, or of the requested size if that is
 * larger, and hands out pieces of the newest block. The maximum counts the bytes that callers asked
 * for, without the rounding. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 64 * 1024 };

typedef struct block {
    struct block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
} block;

struct assay__arena {
    block *blocks; /* newest first; only the newest is filled further */
    size_t given, maximum;
};

assay__arena *assay__arena_new(size_t maximum)
{
    assay__arena *arena = calloc(1, sizeof *arena);
    if (arena != NULL)
        arena->maximum = maximum;
    return arena;
}

void assay__arena_free(assay__arena *arena)
{
    if (arena == NULL)
        return;
    for (block *it = arena->blocks, *next; it != NULL; it = next) {
        next = it->next;
        free(it);
    }
    free(arena);
}

void *assay__arena_allocate(assay__arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > arena->maximum - arena->given ||
        bytes > PTRDIFF_MAX / 2)
        return NULL; /* beyond PTRDIFF_MAX / 2 the rounding could overflow */
    size_t rounded = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    block *top = arena->blocks;
    if (top == NULL || top->size - top->used < rounded) {
        size_t room = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
        top = calloc(1, sizeof *top + room);
        if (top == NULL)
            return NULL;
        top->size = room;
        top->next = arena->blocks;
        arena->blocks = top;
    }
    void *result = top->bytes + top->used;
    top->used += rounded;
    arena->given += bytes;
    return result;
}
