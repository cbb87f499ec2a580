/* Operations of a record, by their place in the call tree and by their name. */
#ifndef ASSAY_ANALYZE_OPERATIONS_H
#define ASSAY_ANALYZE_OPERATIONS_H

#include "analyze/tree_order.h"
#include "assay/record.h"

/* The parent of an operation, or -1 at the top. Parents stand before their children; a parent that
 * does not counts as none. */
int32_t assay__operation_parent(const void *operations, size_t index);

/* The depth of each operation in the call tree, 0 at the top. Caller frees. NULL when out of
 * memory. */
int32_t *assay__operation_depths(const assay_record *record);

/* The record's operations in the order of the call tree. Siblings are in the order of the record,
 * or the most expensive comes first. The result is that of assay__tree_order. */
ASSAY_MUST_USE assay_status assay__operations_order(const assay_record *record,
                                                    bool most_expensive_first,
                                                    assay__tree_node **nodes, size_t *count);

/* All operations of one name, anywhere in the call tree and on all threads: a row of the aggregate
 * table. */
typedef struct assay__operation_row {
    const char *name; /* borrowed from the record */
    uint64_t count;
    double total_seconds;     /* a span inside one of the same name adds nothing */
    double self_seconds;      /* total without the time of child operations */
    double enclosing_seconds; /* of the enclosing operations, or the record's total at the top */
    assay_reading mean_seconds, min_seconds, max_seconds; /* of single spans */
    assay_reading first_seconds; /* the first span, if single spans are recorded */
    assay_reading rest_seconds;  /* mean of the recorded spans after the first */
} assay__operation_row;

/* Merge operations by name, in order of first appearance. Operations that are known only as single
 * metrics come after them. Caller frees `*rows` with free(); it is NULL if the count is 0. The cost
 * is proportional to the number of operations and metrics of the record. */
ASSAY_MUST_USE assay_status assay__operation_rows(const assay_record *record,
                                                  assay__operation_row **rows, size_t *count);

/* The time of one operation over all its places in the call tree, with recursion counted once. "Not
 * measured" if there is none of that name. */
assay_reading assay__operation_seconds(const assay_record *record, const char *name);

#endif
