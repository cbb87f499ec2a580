/* Writes the files of a graph study, which are views of its record. */
#ifndef ASSAY_STUDIES_GRAPH_FILES_H
#define ASSAY_STUDIES_GRAPH_FILES_H

#include <stdio.h>

#include "assay/record.h"
#include "assay/status.h"

/* The next three functions are assay_file_printers. `record` is an assay_record with the steps that
 * have ended.
 *
 * The first prints the JSON of `assay profile`, and "encoding_costs". */
ASSAY_MUST_USE assay_status assay__graph_print_json(const void *record, FILE *stream,
                                                    assay_error *error);
/* Prints the axes, with the columns axis, parameter, size, what (forward, or computation of an
 * encoding), mean_ms, std_ms, min_ms, max_ms, num_runs, storage_mb, class, exponent, low, high. */
ASSAY_MUST_USE assay_status assay__graph_print_csv(const void *record, FILE *stream,
                                                   assay_error *error);
/* Prints everything as text. */
ASSAY_MUST_USE assay_status assay__graph_print_report(const void *record, FILE *stream,
                                                      assay_error *error);

/* Print a line for each axis that has a growth. */
void assay__graph_print_growth(const assay_record *record, FILE *stream);

/* Print `before`, the exponent and its interval, as far as they are known, and a remark if they are
 * not conclusive. */
void assay__graph_print_exponent(const assay_record_scaling *scaling, const char *before,
                                 FILE *stream);

/* The first growth of this model or encoding, or NULL if there is none. */
const assay_record_scaling *assay__graph_scaling(const assay_record *record, const char *of);

#endif
