/* A forest given by parents, put in the order to show it. */
#ifndef ASSAY_ANALYZE_TREE_ORDER_H
#define ASSAY_ANALYZE_TREE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

typedef struct assay__tree_node {
    uint32_t index; /* of the item */
    uint32_t depth; /* 0 at the top */
} assay__tree_node;

/* Depth-first order of `count` items, parents before children; a parent outside 0…count-1 means the
 * top. `parent_of` answers for one item. `compare` puts siblings in order, given two nodes of which
 * the index counts, and the items; NULL: in index order. The nodes are the caller's to free();
 * `*shown` is their number, below `count` only if parents formed a cycle, whose members are left
 * out. No recursion. */
ASSAY_MUST_USE assay_status
assay__tree_order(size_t count, int32_t (*parent_of)(const void *items, size_t index),
                  int (*compare)(const void *left, const void *right, void *items),
                  const void *items, assay__tree_node **nodes, size_t *shown);

#endif
