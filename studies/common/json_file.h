/* Small JSON files of the studies, through jansson. */
#ifndef ASSAY_STUDIES_COMMON_JSON_FILE_H
#define ASSAY_STUDIES_COMMON_JSON_FILE_H

#include <jansson.h>

#include "assay/status.h"

/* The file ("-": standard output) appears complete or not at all. `root` is released whatever
 * happens; NULL stands for a failed allocation. */
ASSAY_MUST_USE assay_status assay__json_file_write(json_t *root, const char *path,
                                                   assay_error *error);

/* At most 64 MiB. ASSAY_E_FORMAT for what is no JSON. Caller releases. */
ASSAY_MUST_USE assay_status assay__json_file_read(const char *path, assay_error *error,
                                                  json_t **root);

#endif
