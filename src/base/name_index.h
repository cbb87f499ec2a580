/* Finds the number of a name below a parent, such as an operation in the call tree: a hash table
 * with open addressing. */
#ifndef ASSAY_BASE_NAME_INDEX_H
#define ASSAY_BASE_NAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

typedef struct assay__name_slot {
    const char *name; /* borrowed; NULL: the slot is free */
    int32_t parent;
    int32_t number;
} assay__name_slot;

/* An index that is all zero is empty and ready for use. */
typedef struct assay__name_index {
    assay__name_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t used;
} assay__name_index;

/* The number of this name below this parent, or -1. */
int32_t assay__name_index_find(const assay__name_index *index, int32_t parent, const char *name);

/* Enter a name that is not there yet. The index borrows the name, which must outlive it. Fails with
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__name_index_add(assay__name_index *index, int32_t parent,
                                                  const char *name, int32_t number);

void assay__name_index_release(assay__name_index *index);

/* The hash of a name: where its search begins, before it is reduced to the size of the table. */
uint64_t assay__name_hash(int32_t parent, const char *name);

#endif
