/* The table of this level's kernels, from which kernels.c chooses. */
#include "models/kernel/level/level.h"

extern const assay__kernels ASSAY__AT(kernels);

const assay__kernels ASSAY__AT(kernels) = {
#define KERNEL(result, name, parameters, arguments) .name = ASSAY__AT(name),
#include "models/kernel/kernels.def"
#undef KERNEL
};
