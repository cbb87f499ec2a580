/* Operations of a record by their place in the call tree and by their name. */
#ifndef ASSAY_ANALYZE_OPERATIONS_H
#define ASSAY_ANALYZE_OPERATIONS_H

#include "analyze/tree_order.h"
#include "assay/record.h"

/* The parent of an operation, -1 at the top. Parents stand before their children; another parent
 * counts as none. */
int32_t assay__operation_parent(const void *operations, size_t index);

/* How deep in the call tree each operation is, 0 at the top; caller frees. NULL: out of memory. */
int32_t *assay__operation_depths(const assay_record *record);

/* The record's operations in the order of the call tree, siblings as they stand in the record or
 * the most expensive first; see assay__tree_order. */
ASSAY_MUST_USE assay_status assay__operations_order(const assay_record *record,
                                                    bool most_expensive_first,
                                                    assay__tree_node **nodes, size_t *count);

/* One operation name, over all its places in the call tree and all threads: a row of the aggregate
 * table. */
typedef struct assay__operation_row {
    const char *name; /* borrowed from the record */
    uint64_t count;
    double total_seconds; /* recursion counted once: a span inside one of the same name adds none */
    double self_seconds;  /* total without the time of child operations */
    double enclosing_seconds; /* of its enclosing operations; the record's total at the top */
    assay_reading mean_seconds, min_seconds, max_seconds; /* of single spans */
    assay_reading first_seconds; /* the first span, where single spans are on record */
    assay_reading rest_seconds;  /* mean of the recorded spans after the first */
} assay__operation_row;

/* Operations merged by name, in order of first appearance; operations known only as individual
 * metrics come after them. Caller frees `*rows` with free(); NULL with count 0 when empty.
 * Cost: grows with the operations and metrics of the record. */
ASSAY_MUST_USE assay_status assay__operation_rows(const assay_record *record,
                                                  assay__operation_row **rows, size_t *count);

/* Time of one operation over all its places, recursion counted once; not measured when there is
 * none of that name. */
assay_reading assay__operation_seconds(const assay_record *record, const char *name);

#endif
