/* The table is chosen at the first call of a kernel, by whichever thread comes first; a second
 * thread at the same time chooses the same one. A constructor would run before a sanitizer's
 * runtime is up, and in an order that other libraries' constructors do not know. */
#include "models/kernel/kernels.h"

#include <stdatomic.h>

#include "base/level.h"

#define LEVEL(name, suffix) extern const assay__kernels assay__kernels_##suffix;
ASSAY__LEVELS(LEVEL)
#undef LEVEL

static _Atomic(const assay__kernels *) chosen;

static const assay__kernels *choose(void)
{
    static const assay__kernels *const tables[] = {
#define LEVEL(name, suffix) &assay__kernels_##suffix,
        ASSAY__LEVELS(LEVEL)
#undef LEVEL
    };
    const assay__kernels *table = tables[assay__level_now(NULL)];
    atomic_store(&chosen, table);
    return table;
}

static inline const assay__kernels *kernels(void)
{
    const assay__kernels *table = atomic_load_explicit(&chosen, memory_order_acquire);
    return table != NULL ? table : choose();
}

#define KERNEL(result, name, parameters, arguments)                                                \
    result assay__##name parameters                                                                \
    {                                                                                              \
        return kernels()->name arguments;                                                          \
    }
#include "models/kernel/kernels.def"
#undef KERNEL
