/* A doubly linked list of blocks, each with a header that holds its use and size. A model has some
 * dozens of blocks. The list is walked only when the whole memory is freed, so a list is enough. */
#include "models/kernel/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 }; /* the size of a cache line and of the widest vector */

typedef struct block {
    struct block *next, *previous;
    size_t bytes;
    assay__memory_use use;
} block;

_Static_assert(sizeof(block) <= ALIGNMENT, "the header must not push the data off its alignment");

struct assay__memory {
    block *first;
    uint64_t bytes[ASSAY__MEMORY_USES];
};

static void *data_of(block *header)
{
    return (char *)header + ALIGNMENT;
}
static block *header_of(void *data)
{
    return (block *)(void *)((char *)data - ALIGNMENT);
}

assay__memory *assay__memory_new(void)
{
    return calloc(1, sizeof(assay__memory));
}

void assay__memory_free(assay__memory *memory)
{
    if (memory == NULL)
        return;
    for (block *header = memory->first, *next; header != NULL; header = next) {
        next = header->next;
        free(header);
    }
    free(memory);
}

void *assay__memory_take(assay__memory *memory, assay__memory_use use, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    size_t whole = ALIGNMENT + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block *header = aligned_alloc(ALIGNMENT, whole);
    if (header == NULL)
        return NULL;
    memset(header, 0, whole);
    header->bytes = bytes;
    header->use = use;
    header->next = memory->first;
    if (memory->first != NULL)
        memory->first->previous = header;
    memory->first = header;
    memory->bytes[use] += bytes;
    return data_of(header);
}

float *assay__memory_floats(assay__memory *memory, assay__memory_use use, size_t count)
{
    return assay__memory_take(memory, use, count, sizeof(float));
}

static void drop(assay__memory *memory, block *header)
{
    memory->bytes[header->use] -= header->bytes;
    if (header->previous != NULL)
        header->previous->next = header->next;
    else
        memory->first = header->next;
    if (header->next != NULL)
        header->next->previous = header->previous;
    free(header);
}

assay_status assay__memory_resize(assay__memory *memory, assay__memory_use use, size_t count,
                                  size_t size, void *block_pointer)
{
    void *old;
    memcpy(&old, block_pointer, sizeof old);
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return ASSAY_E_MEMORY;
    if (old != NULL && header_of(old)->bytes >= bytes)
        return ASSAY_OK;
    void *fresh = assay__memory_take(memory, use, count, size);
    if (fresh == NULL)
        return ASSAY_E_MEMORY;
    if (old != NULL)
        drop(memory, header_of(old));
    memcpy(block_pointer, &fresh, sizeof fresh);
    return ASSAY_OK;
}

void assay__memory_figures(const assay__memory *memory, assay_model_memory *figures)
{
    *figures = (assay_model_memory){.parameters = memory->bytes[ASSAY__PARAMETERS],
                                    .gradients = memory->bytes[ASSAY__GRADIENTS],
                                    .optimizer = memory->bytes[ASSAY__OPTIMIZER],
                                    .activations = memory->bytes[ASSAY__ACTIVATIONS],
                                    .workspace = memory->bytes[ASSAY__WORKSPACE]};
}
