/* The complexity of a model's forward pass: how its arithmetic grows with its sizes. docs/flops.md
 * has the same table. */
#ifndef ASSAY_STUDIES_PROFILE_COMPLEXITY_H
#define ASSAY_STUDIES_PROFILE_COMPLEXITY_H

typedef struct assay__complexity {
    const char *model;
    const char *forward; /* "O(B p d²)" */
    const char *symbols; /* "B batch-size, p order, d input-dim" */
} assay__complexity;

/* Returns NULL for a model that is not built in, because a class does not state its complexity. */
const assay__complexity *assay__complexity_of(const char *model);

#endif
