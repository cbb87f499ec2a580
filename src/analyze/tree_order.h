/* Orders the items of a forest, which is given by the parent of each item, as they are shown. */
#ifndef ASSAY_ANALYZE_TREE_ORDER_H
#define ASSAY_ANALYZE_TREE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

typedef struct assay__tree_node {
    uint32_t index; /* index of the item */
    uint32_t depth; /* 0 at the top */
} assay__tree_node;

/* Put `count` items into depth-first order, parents before children. `parent_of` returns the parent
 * of an item; a number outside 0…count-1 means that the item is at the top. `compare` orders
 * siblings: it gets two nodes, of which only `index` is set, and the items. If it is NULL, siblings
 * are in the order of their index. The caller frees `*nodes` with free(). `*shown` is their number;
 * it is below `count` only if parents form a cycle, whose members are left out. There is no
 * recursion. */
ASSAY_MUST_USE assay_status
assay__tree_order(size_t count, int32_t (*parent_of)(const void *items, size_t index),
                  int (*compare)(const void *left, const void *right, void *items),
                  const void *items, assay__tree_node **nodes, size_t *shown);

#endif
