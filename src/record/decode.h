/* Reads records from text in memory. */
#ifndef ASSAY_RECORD_DECODE_H
#define ASSAY_RECORD_DECODE_H

#include "assay/record.h"

/* Read an assay record, as assay_record_read() does from a file. Caller frees the record. */
ASSAY_MUST_USE assay_status assay__record_parse(const char *json, size_t length, assay_error *error,
                                                assay_record **record);

/* Read an assay record or another tool's result, as assay_record_load() does from a file. Caller
 * frees the record. */
ASSAY_MUST_USE assay_status assay__record_import(const char *json, size_t length,
                                                 assay_error *error, assay_record **record);

#endif
