/* Reads the CSV of assay_growth_table_read() from memory. The fuzzer calls this function directly.
 */
#ifndef ASSAY_ANALYZE_GROWTH_CSV_H
#define ASSAY_ANALYZE_GROWTH_CSV_H

#include "assay/growth.h"

/* `text` has `length` bytes, is terminated, and is changed while it is read. Errors call it `name`.
 */
ASSAY_MUST_USE assay_status assay__growth_csv_parse(char *text, size_t length, const char *name,
                                                    const char *size_column,
                                                    const char *seconds_column, assay_error *error,
                                                    assay_growth_table *table);

#endif
