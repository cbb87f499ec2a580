/* The trace of a record as a block of the page, for web/src/trace.ts to read. */
#ifndef ASSAY_CLI_PAGE_TRACE_H
#define ASSAY_CLI_PAGE_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/status.h"

/* Whether the record has spans, sampled functions or processes whose times are known. */
bool page_trace_has(const assay_record *record);

/* Print the trace as base64; the subject is an assay_record. The layout is in page_trace.c. A trace
 * that would take too much of the page is written with coarser times. */
ASSAY_MUST_USE assay_status page_trace_print(const void *subject, FILE *stream, assay_error *error);

#endif
