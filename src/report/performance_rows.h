/* The rows of the performance summary: individually recorded spans and aggregated operations of a
 * record in one tree. */
#ifndef ASSAY_REPORT_PERFORMANCE_ROWS_H
#define ASSAY_REPORT_PERFORMANCE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/record.h"

typedef struct assay__performance_row {
    assay_record_metric span; /* one span, or what all spans of an operation sum up to */
    uint64_t more;            /* not 0: stands for that many spans not recorded individually */
    uint64_t spans, read;     /* not 0: resident memory was read in so many of the spans only */
} assay__performance_row;

/* At every level first the individually recorded spans in the order they began, then the
 * aggregated operations in order of appearance, one row each; what ran inside a span follows it,
 * one level deeper. Caller frees `*rows`. O(n log n). */
ASSAY_MUST_USE assay_status assay__performance_rows(const assay_record *record,
                                                    assay__performance_row **rows, size_t *count);

/* The rows as CSV (format "csv-spans"), with or without the line of names. */
ASSAY_MUST_USE assay_status assay__performance_csv(const assay_record *record, bool header,
                                                   FILE *stream, assay_error *error);

#endif
