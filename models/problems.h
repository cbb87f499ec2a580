/* Several things wrong at once, told together.
 *
 * Each problem goes to the sink, if there is one; the first ones are also kept for the one line of
 * an assay_error, which ends in "and 12 more" when they did not all fit. Allocates nothing. */
#ifndef ASSAY_MODELS_PROBLEMS_H
#define ASSAY_MODELS_PROBLEMS_H

#include "assay/model.h"

typedef struct assay__problems { /* all zero: none yet, no sink */
    assay_problem_sink sink;
    void *context;
    size_t count, kept;
    size_t used;
    char text[384];
} assay__problems;

ASSAY_PRINTF(2, 3)
void assay__problems_add(assay__problems *problems, const char *format, ...);

/* "PREFIX: first; second; and 3 more"; returns `status`. */
ASSAY_PRINTF(4, 5)
assay_status assay__problems_fail(const assay__problems *problems, assay_status status,
                                  assay_error *error, const char *prefix_format, ...);

#endif
