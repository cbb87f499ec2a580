/* Puts a forest into depth-first order without recursion: each item is linked to its parent, its
 * first child and its next sibling, and one walk follows the links. */
#include "analyze/tree_order.h"

#include <stdlib.h>

#define NONE UINT32_MAX

typedef struct links {
    uint32_t parent, first_child, next_sibling;
} links;

/* Slot `count` is the root above all top-level items. Linking from the last item to the first
 * leaves siblings in the order in which they are given. */
static void link_items(links *all, const assay__tree_node *given, size_t count,
                       int32_t (*parent_of)(const void *items, size_t index), const void *items)
{
    for (size_t i = 0; i <= count; i++)
        all[i] = (links){.parent = NONE, .first_child = NONE, .next_sibling = NONE};
    for (size_t k = count; k-- > 0;) {
        uint32_t i = given[k].index;
        int32_t parent = parent_of(items, i);
        size_t above = parent >= 0 && (size_t)parent < count ? (size_t)parent : count;
        all[i].parent = (uint32_t)above;
        all[i].next_sibling = all[above].first_child;
        all[above].first_child = i;
    }
}

assay_status assay__tree_order(size_t count, int32_t (*parent_of)(const void *items, size_t index),
                               int (*compare)(const void *left, const void *right, void *items),
                               const void *items, assay__tree_node **nodes, size_t *shown)
{
    *nodes = NULL;
    *shown = 0;
    if (count == 0)
        return ASSAY_OK;
    if (count >= NONE)
        return ASSAY_E_LIMIT;
    links *all = malloc((count + 1) * sizeof *all);
    assay__tree_node *order = malloc(count * sizeof *order);
    if (all == NULL || order == NULL) {
        free(all);
        free(order);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        order[i].index = (uint32_t)i;
    if (compare != NULL)
        qsort_r(order, count, sizeof *order, compare, (void *)(uintptr_t)items);
    link_items(all, order, count, parent_of, items);
    uint32_t depth = 0;
    for (uint32_t at = all[count].first_child; at != NONE;) {
        order[(*shown)++] = (assay__tree_node){.index = at, .depth = depth};
        if (all[at].first_child != NONE) {
            at = all[at].first_child;
            depth++;
            continue;
        }
        while (at != count && all[at].next_sibling == NONE) {
            at = all[at].parent;
            depth--;
        }
        at = at == count ? NONE : all[at].next_sibling;
    }
    free(all);
    *nodes = order;
    return ASSAY_OK;
}
