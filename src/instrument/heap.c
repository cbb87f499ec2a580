/* Heap figures of this process, read from the heap interposer if it is loaded.
 *
 * The interposer is found by name at run time. libassay does not link against it. A weak reference
 * would not do either: in an executable linked without the interposer it would be bound to zero,
 * and preloading could not change that. */
#include "instrument/heap.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "assay/memory.h"
#include "base/struct_size.h"
#include "instrument/heap_read.h"
#include "instrument/heap_region.h"

#define LOAD  ASSAY__HEAP_LOAD
#define STORE ASSAY__HEAP_STORE

static assay__heap_slot *no_slot(void)
{
    return NULL;
}

/* The function of the interposer that returns the slot of a thread, or no_slot(). The answer is
 * kept, because the interposer cannot be loaded later: symbols are interposed at program start or
 * never. */
static assay__heap_slot_function *slot_function(void)
{
    static _Atomic(assay__heap_slot_function *) cached;
    assay__heap_slot_function *function = atomic_load_explicit(&cached, memory_order_relaxed);
    if (function == NULL) {
        function = (assay__heap_slot_function *)dlsym(RTLD_DEFAULT, ASSAY__HEAP_SLOT_SYMBOL);
        if (function == NULL)
            function = no_slot;
        atomic_store_explicit(&cached, function, memory_order_relaxed);
    }
    return function;
}

static const assay__heap_region *find_region(void)
{
    if (slot_function() == no_slot)
        return NULL;
    assay__heap_region_function *region =
        (assay__heap_region_function *)dlsym(RTLD_DEFAULT, ASSAY__HEAP_REGION_SYMBOL);
    return region != NULL ? region() : NULL;
}

bool assay_heap_available(void)
{
    const assay__heap_region *region = find_region();
    return region != NULL && LOAD(region->header.allocator) != ASSAY__HEAP_BYPASSED;
}

assay_status assay_heap_read(assay_heap_figures *figures)
{
    if (!assay__struct_has_room(figures, sizeof *figures))
        return ASSAY_E_ARGUMENT;
    const assay__heap_region *region = find_region();
    if (region == NULL || LOAD(region->header.allocator) == ASSAY__HEAP_BYPASSED)
        return ASSAY_E_UNSUPPORTED;
    assay__heap_sum(region, figures);
    return ASSAY_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void assay__heap_span_begin(assay__heap_mark *mark)
{
    assay__heap_slot *slot = slot_function()();
    mark->slot = slot;
    if (slot == NULL)
        return;
    int64_t level = assay__heap_slot_level(slot), high = LOAD(slot->high_bytes);
    mark->level_bytes = level;
    mark->outer_high_bytes = larger(LOAD(slot->span_high_bytes), high);
    mark->allocations = LOAD(slot->allocations);
    mark->frees = LOAD(slot->frees);
    STORE(slot->peak_high_bytes, larger(LOAD(slot->peak_high_bytes), high));
    STORE(slot->span_high_bytes, level);
    STORE(slot->high_bytes, level);
}

bool assay__heap_span_end(const assay__heap_mark *mark, assay__heap_span *span)
{
    assay__heap_slot *slot = mark->slot;
    if (slot == NULL)
        return false;
    int64_t high = larger(LOAD(slot->span_high_bytes), LOAD(slot->high_bytes));
    span->live_delta_bytes = assay__heap_slot_level(slot) - mark->level_bytes;
    span->peak_growth_bytes = (uint64_t)(high - mark->level_bytes);
    span->allocations = LOAD(slot->allocations) - mark->allocations;
    span->frees = LOAD(slot->frees) - mark->frees;
    STORE(slot->span_high_bytes, larger(high, mark->outer_high_bytes));
    return true;
}
