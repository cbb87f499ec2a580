/* The allocator behind the interposer. */
#ifndef ASSAY_INTERPOSER_ALLOCATOR_H
#define ASSAY_INTERPOSER_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* glibc's own names for its functions. They are not interposed, so calling them needs no lookup. A
 * lookup during the first allocation would lead to recursion. */
void *__libc_malloc(size_t size);
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

typedef struct assay__allocator {
    void *(*malloc)(size_t size);
    void (*free)(void *block);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *block, size_t size);
    void *(*memalign)(size_t alignment, size_t size);
    size_t (*usable_size)(void *block);
} assay__allocator;

/* The allocator in use. It is glibc's until assay__allocator_choose() has chosen one. */
extern assay__allocator assay__allocator_next __attribute__((visibility("hidden")));

/* Choose the allocator that the program would use without the interposer. Returns ASSAY__HEAP_GLIBC
 * if sizes may be read from chunk headers, ASSAY__HEAP_BYPASSED with a sanitizer, and otherwise
 * ASSAY__HEAP_OTHER. */
uint32_t assay__allocator_choose(void);

/* Remember a block that glibc gave out before the choice was made, so that it goes back to
 * glibc. */
void assay__allocator_note_early(void *block);

/* Whether a block is one of those. If so, it is forgotten. */
bool assay__allocator_take_early(void *block);

/* The functions below read malloc_usable_size() from the header of glibc's chunk (malloc/malloc.c).
 * The size field precedes the block. Its three low bits are flags. Bit 1 marks chunks that are
 * mapped separately; their header takes two words instead of one. glibc's own function also reads
 * the following chunk, which costs a cache miss. assay__allocator_choose() checks that both
 * agree. */
enum { ASSAY__CHUNK_WORD = sizeof(size_t), ASSAY__CHUNK_MAPPED = 2, ASSAY__CHUNK_FLAGS = 7 };

static inline bool assay__allocator_is_mapped(const void *block)
{
    return (((const size_t *)block)[-1] & ASSAY__CHUNK_MAPPED) != 0;
}

/* The size of a block that is not mapped separately. */
static inline size_t assay__allocator_plain_bytes(const void *block)
{
    return (((const size_t *)block)[-1] & ~(size_t)ASSAY__CHUNK_FLAGS) - ASSAY__CHUNK_WORD;
}

static inline size_t assay__allocator_chunk_bytes(const void *block)
{
    size_t bytes = assay__allocator_plain_bytes(block);
    return assay__allocator_is_mapped(block) ? bytes - ASSAY__CHUNK_WORD : bytes;
}

#endif
