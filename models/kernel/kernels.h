/* The loops that take the time, compiled once for each level of the processor (level/), behind one
 * table that is chosen at the first call: the level that ASSAY_CPU names, else the highest that
 * this machine has (base/level.h). Every level computes the same within the tolerances that
 * tests/unit/test_models_*.c hold.
 *
 * kernels.def lists the kernels and says of each what it does. A kernel is a whole loop over
 * arrays, so that what a call through the table costs (about 2 ns) does not count. They neither
 * allocate nor fail; from any thread.
 *
 * This is instead of the compiler's clones (target_clones), which exist for gcc only, ignore
 * ASSAY_CPU, resolve before a sanitizer is up, and give each level the same vectors and tiles. */
#ifndef ASSAY_MODELS_KERNEL_KERNELS_H
#define ASSAY_MODELS_KERNEL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/kernel/activation.h"

enum {
    ASSAY__LSTM_UNITS = 16,  /* hidden units of a block of packed weights */
    ASSAY__WALK_STARTS = 64, /* columns of a block of random walks: a row is four cache lines */
};

/* Nodes that attend to listed ones. */
typedef struct assay__sparse_attention {
    int64_t nodes, heads, head_width;
    const int64_t *offsets;
    const int32_t *neighbours;
    const float *bias; /* (2, heads): for itself, for others; NULL: none */
} assay__sparse_attention;

#define KERNEL(result, name, parameters, arguments) result assay__##name parameters;
#include "models/kernel/kernels.def"
#undef KERNEL

/* One level's. */
typedef struct assay__kernels {
#define KERNEL(result, name, parameters, arguments) result(*name) parameters;
#include "models/kernel/kernels.def"
#undef KERNEL
} assay__kernels;

#endif
