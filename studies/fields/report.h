/* What the study "fields" shows of its trainings, and the files it leaves. */
#ifndef ASSAY_STUDIES_FIELDS_REPORT_H
#define ASSAY_STUDIES_FIELDS_REPORT_H

#include <stdio.h>

#include "studies/fields/findings.h"

ASSAY_MUST_USE assay_status assay__fields_print(const assay__fields_findings *findings,
                                                FILE *stream, assay_error *error);

/* The CSV and JSON files into the folder of the study. */
ASSAY_MUST_USE assay_status assay__fields_export(const assay__fields_findings *findings,
                                                 assay__study *study, assay_error *error);

#endif
