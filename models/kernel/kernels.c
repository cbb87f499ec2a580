/* Each kernel calls the function of the same name in the table of the chosen level. The first call
 * of a kernel chooses the table. If two threads do so at the same time, they choose the same table.
 * A constructor would not do: it would run before a sanitizer's runtime is up, and in an unknown
 * order among the constructors of other libraries. */
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
