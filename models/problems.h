/* Collects several problems and reports them together.
 *
 * Each problem goes to the sink, if there is one. The first problems are also kept for the one line
 * of an assay_error. The line ends in "and 12 more" if not all of them fit. Nothing is
 * allocated. */
#ifndef ASSAY_MODELS_PROBLEMS_H
#define ASSAY_MODELS_PROBLEMS_H

#include "assay/model.h"

typedef struct assay__problems { /* all zero: no problem yet, and no sink */
    assay_problem_sink sink;
    void *context;
    size_t count, kept;
    size_t used;
    char text[384];
} assay__problems;

/* Adds one problem, a line of text. */
ASSAY_PRINTF(2, 3)
void assay__problems_add(assay__problems *problems, const char *format, ...);

/* Fails with the message "PREFIX: first; second; and 3 more"; returns `status`. */
ASSAY_PRINTF(4, 5)
assay_status assay__problems_fail(const assay__problems *problems, assay_status status,
                                  assay_error *error, const char *prefix_format, ...);

#endif
