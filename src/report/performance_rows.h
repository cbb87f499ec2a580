/* The rows of the performance summary: the individually recorded spans and the aggregated
 * operations of a record, in one tree. */
#ifndef ASSAY_REPORT_PERFORMANCE_ROWS_H
#define ASSAY_REPORT_PERFORMANCE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/record.h"

typedef struct assay__performance_row {
    assay_record_metric span; /* one span, or the sum of all spans of an operation */
    uint64_t more; /* if some spans of the operation have rows of their own: the number of others */
    uint64_t spans, read; /* if not 0: memory was read in only `read` of `spans` */
} assay__performance_row;

/* Make the rows. At every level, the individually recorded spans come first, in the order in which
 * they began, then the aggregated operations in order of appearance, one row each. Everything that
 * ran inside a span follows it, one level deeper. Caller frees `*rows`. The cost is O(n log n). */
ASSAY_MUST_USE assay_status assay__performance_rows(const assay_record *record,
                                                    assay__performance_row **rows, size_t *count);

/* Print the rows as CSV (format "csv-spans"), with or without the line of names. */
ASSAY_MUST_USE assay_status assay__performance_csv(const assay_record *record, bool header,
                                                   FILE *stream, assay_error *error);

#endif
