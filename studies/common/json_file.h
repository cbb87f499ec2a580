/* Reads and writes small JSON files of the studies with jansson. */
#ifndef ASSAY_STUDIES_COMMON_JSON_FILE_H
#define ASSAY_STUDIES_COMMON_JSON_FILE_H

#include <jansson.h>

#include "assay/status.h"

/* Write a file, or standard output if `path` is "-". The file appears complete or not at all.
 * `root` is always released. If it is NULL, its allocation failed, and the call fails with
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__json_file_write(json_t *root, const char *path,
                                                   assay_error *error);

/* Read a file of at most 64 MiB. The caller releases *root. ASSAY_E_FORMAT if it is not JSON. */
ASSAY_MUST_USE assay_status assay__json_file_read(const char *path, assay_error *error,
                                                  json_t **root);

#endif
