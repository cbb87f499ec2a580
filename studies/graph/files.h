/* The files of a graph study, made of what its steps left. */
#ifndef ASSAY_STUDIES_GRAPH_FILES_H
#define ASSAY_STUDIES_GRAPH_FILES_H

#include <jansson.h>
#include <stdio.h>

#include "assay/status.h"

/* Add the members of `part`'s "scaling" to those of `whole`; made if missing. */
ASSAY_MUST_USE assay_status assay__graph_add_scaling(json_t *whole, const json_t *part,
                                                     assay_error *error);

/* "scaling" of a profile as CSV: axis, parameter, size, what (forward, or computation of an
 * encoding), mean_ms, std_ms, min_ms, max_ms, num_runs, storage_mb, class, exponent, low, high. */
void assay__graph_write_csv(const json_t *profile, FILE *stream);

/* `before`, the exponent with its interval as far as they are known, and whether to believe them.
 */
void assay__graph_print_exponent(const json_t *growth, const char *before, FILE *stream);

/* The growth along each axis that has one, a line each. */
void assay__graph_print_growth(const json_t *profile, FILE *stream);

#endif
