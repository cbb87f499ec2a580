/* The loops in which the models spend their time, compiled once for each level of the processor
 * (level/). A table of one level's kernels is chosen at the first call: the level that ASSAY_CPU
 * names, else the highest level of this machine (base/level.h). Every level computes the same
 * results within the tolerances of tests/unit/test_models_*.c.
 *
 * kernels.def lists the kernels and says what each of them does. A kernel is a whole loop over
 * arrays, so the cost of a call through the table (about 2 ns) is negligible. Kernels neither
 * allocate nor fail, and any thread may call them.
 *
 * The table takes the place of the compiler's clones (target_clones). Those exist for gcc only,
 * ignore ASSAY_CPU, are resolved before a sanitizer's runtime is up, and would give each level the
 * same vectors and tiles. */
#ifndef ASSAY_MODELS_KERNEL_KERNELS_H
#define ASSAY_MODELS_KERNEL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/kernel/activation.h"

enum {
    ASSAY__LSTM_UNITS = 16,  /* hidden units of one block of packed weights */
    ASSAY__ROAD_BLOCK = 16,  /* candidates of one block */
    ASSAY__WALK_STARTS = 64, /* columns of one block of random walks: a row is four cache lines */
};

/* Sparse attention: node i attends to the nodes neighbours[offsets[i] ... offsets[i + 1] - 1]. */
typedef struct assay__sparse_attention {
    int64_t nodes, heads, head_width;
    const int64_t *offsets;
    const int32_t *neighbours;
    const float *bias; /* (2, heads): for the node itself, for others; may be NULL */
} assay__sparse_attention;

#define KERNEL(result, name, parameters, arguments) result assay__##name parameters;
#include "models/kernel/kernels.def"
#undef KERNEL

/* The kernels of one level. */
typedef struct assay__kernels {
#define KERNEL(result, name, parameters, arguments) result(*name) parameters;
#include "models/kernel/kernels.def"
#undef KERNEL
} assay__kernels;

#endif
