/* All the memory of one model, accounted by use.
 *
 * Blocks are 64-byte aligned and zeroed, and they are freed all at once. The figures count the
 * bytes asked for, without alignment: float32 parameters are shown with exactly 4 bytes each. A
 * block that has to grow, for a larger batch, is replaced through assay__memory_resize(). A step
 * with shapes seen before allocates nothing.
 *
 * The struct has no lock: a model, and so its memory, belongs to one thread at a time. */
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

/* Returns a zeroed block of count x size bytes, which belongs to `memory`. Returns NULL when out of
 * memory or when count x size overflows. A count of 0 gives a valid, empty block. */
void *assay__memory_take(assay__memory *memory, assay__memory_use use, size_t count, size_t size);
float *assay__memory_floats(assay__memory *memory, assay__memory_use use, size_t count);

/* Makes a block hold at least `count` x `size` bytes. `block` is the address of a pointer, such as
 * a float ** or an int64_t **; the pointer is NULL or came from this memory. If the block is
 * large enough, nothing happens. Else a larger, zeroed block replaces it; the old content is lost
 * and the old block is freed. On failure `*block` is unchanged. */
ASSAY_MUST_USE assay_status assay__memory_resize(assay__memory *memory, assay__memory_use use,
                                                 size_t count, size_t size, void *block);

/* Writes the bytes held now, by use. */
void assay__memory_figures(const assay__memory *memory, assay_model_memory *figures);

#endif
