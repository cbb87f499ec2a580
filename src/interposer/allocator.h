/* The allocator behind the interposer. */
#ifndef ASSAY_INTERPOSER_ALLOCATOR_H
#define ASSAY_INTERPOSER_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* glibc's own names for its functions, which nobody interposes: no lookup, and none of the
 * recursion that a lookup during the first allocation would bring. */
void *__libc_malloc(size_t size);
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);

typedef struct assay__allocator {
    void *(*malloc)(size_t size);
    void (*free)(void *block);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *block, size_t size);
    void *(*memalign)(size_t alignment, size_t size);
    size_t (*usable_size)(void *block);
} assay__allocator;

/* In use from the first call on; glibc's until assay__allocator_choose() has found out. */
extern assay__allocator assay__allocator_next __attribute__((visibility("hidden")));

/* Find out which allocator the program would use without us. Returns ASSAY__HEAP_GLIBC if sizes may
 * be read from chunk headers, ASSAY__HEAP_BYPASSED under a sanitizer, else ASSAY__HEAP_OTHER. */
uint32_t assay__allocator_choose(void);

/* Remember a block that glibc gave out while the choice was being made, to be freed there too. */
void assay__allocator_note_early(void *block);

/* Is it one of those? Forgets it then. */
bool assay__allocator_take_early(void *block);

/* malloc_usable_size() read from the header of glibc's chunk (malloc/malloc.c: the size field
 * precedes the block, its three low bits are flags, bit 1 marks chunks mapped on their own, which
 * give up two words instead of one). glibc's function also looks at the following chunk, which
 * costs a cache miss; assay__allocator_choose() checks at start that both agree. */
enum { ASSAY__CHUNK_WORD = sizeof(size_t), ASSAY__CHUNK_MAPPED = 2, ASSAY__CHUNK_FLAGS = 7 };

static inline bool assay__allocator_is_mapped(const void *block)
{
    return (((const size_t *)block)[-1] & ASSAY__CHUNK_MAPPED) != 0;
}

/* Of a block that is not mapped on its own. */
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
