/* The CSV dialect of assay_growth_table_read, from memory: what the fuzzer feeds. */
#ifndef ASSAY_ANALYZE_GROWTH_CSV_H
#define ASSAY_ANALYZE_GROWTH_CSV_H

#include "assay/growth.h"

/* `text` is `length` bytes, terminated, and is cut up; `name` is what errors call it. */
ASSAY_MUST_USE assay_status assay__growth_csv_parse(char *text, size_t length, const char *name,
                                                    const char *size_column,
                                                    const char *seconds_column, assay_error *error,
                                                    assay_growth_table *table);

#endif
