/* Operation names of a record, told apart without comparing each with each. */
#ifndef ASSAY_ANALYZE_OPERATIONS_H
#define ASSAY_ANALYZE_OPERATIONS_H

#include "analyze/tree.h"
#include "assay/record.h"

/* Items 0…operation_count-1 are the record's operations, those after them its metrics. Items of
 * one name share a group; groups are numbered in order of first appearance. */
typedef struct assay__name_groups {
    uint32_t *group_of; /* by item */
    uint32_t *first;    /* by group: its first item */
    size_t count;       /* of groups */
} assay__name_groups;

ASSAY_MUST_USE assay_status assay__name_groups_init(assay__name_groups *groups,
                                                    const assay_record *record);
void assay__name_groups_release(assay__name_groups *groups);

/* The record's operations in the order of the call tree; see assay__tree_order. */
ASSAY_MUST_USE assay_status assay__operations_order(const assay_record *record,
                                                    assay__tree_node **nodes, size_t *count);

#endif
