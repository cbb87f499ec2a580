/* Records read from text in memory. */
#ifndef ASSAY_RECORD_DECODE_H
#define ASSAY_RECORD_DECODE_H

#include "assay/record.h"

/* What assay_record_read() does with the text of a file. */
ASSAY_MUST_USE assay_status assay__record_parse(const char *json, size_t length, assay_error *error,
                                                assay_record **record);

/* What assay_record_load() does with the text of a file. */
ASSAY_MUST_USE assay_status assay__record_import(const char *json, size_t length,
                                                 assay_error *error, assay_record **record);

#endif
