/* All the memory of one model, accounted by use.
 *
 * Blocks are 64-byte aligned and zeroed, freed all at once. The figures count the bytes asked for,
 * so parameters x 4 is exactly what float32 parameters are shown to take. A block that has to grow
 * (a larger batch) is replaced through assay__memory_resize; a step with shapes seen before
 * allocates nothing. */
#ifndef ASSAY_MODELS_KERNEL_MEMORY_H
#define ASSAY_MODELS_KERNEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "assay/model.h"

typedef enum assay__memory_use {
    ASSAY__PARAMETERS,
    ASSAY__GRADIENTS,
    ASSAY__OPTIMIZER,
    ASSAY__ACTIVATIONS,
    ASSAY__WORKSPACE,
    ASSAY__MEMORY_USES
} assay__memory_use;

typedef struct assay__memory assay__memory;

assay__memory *assay__memory_new(void); /* NULL when out of memory */
void assay__memory_free(assay__memory *memory);

/* NULL when out of memory or when count x size overflows; count 0 gives a valid, empty block. */
void *assay__memory_take(assay__memory *memory, assay__memory_use use, size_t count, size_t size);
float *assay__memory_floats(assay__memory *memory, assay__memory_use use, size_t count);

/* `block` is the address of a pointer (float **, int64_t **, ...). Make it (NULL, or from this
 * memory) hold at least `count` x `size` bytes: if it does already, nothing happens; else it is
 * replaced by a zeroed larger one (its content is lost) and the old one freed. On failure `*block`
 * is unchanged. */
ASSAY_MUST_USE assay_status assay__memory_resize(assay__memory *memory, assay__memory_use use,
                                                 size_t count, size_t size, void *block);

void assay__memory_figures(const assay__memory *memory, assay_model_memory *figures);

#endif
