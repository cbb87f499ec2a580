/* The report of the study "fields" and its files. */
#ifndef ASSAY_STUDIES_FIELDS_REPORT_H
#define ASSAY_STUDIES_FIELDS_REPORT_H

#include <stdio.h>

#include "studies/fields/findings.h"

/* Print the report. */
ASSAY_MUST_USE assay_status assay__fields_print(const assay__fields_findings *findings,
                                                FILE *stream, assay_error *error);

/* Write the CSV and JSON files to the folder of the study, and the copy of results.json that the
 * options ask for. */
ASSAY_MUST_USE assay_status assay__fields_export(const assay__fields_findings *findings,
                                                 assay__study *study, assay_error *error);

#endif
