/* How the time of a model's forward pass grows with its sizes, by its arithmetic. docs/flops.md
 * has the same table. */
#ifndef ASSAY_STUDIES_PROFILE_COMPLEXITY_H
#define ASSAY_STUDIES_PROFILE_COMPLEXITY_H

typedef struct assay__complexity {
    const char *model;
    const char *forward; /* "O(B p d²)" */
    const char *symbols; /* "B batch-size, p order, d input-dim" */
} assay__complexity;

/* NULL for a model that is not built in: a class does not state its own. */
const assay__complexity *assay__complexity_of(const char *model);

#endif
