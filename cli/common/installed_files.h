/* Finds files that were installed along with this executable. */
#ifndef ASSAY_CLI_COMMON_INSTALLED_FILES_H
#define ASSAY_CLI_COMMON_INSTALLED_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { INSTALLED_PATH_SIZE = 4096 };

/* Find the first of `places` that access(2) allows with `mode` (R_OK, X_OK), and write its path.
 * The places are paths relative to the folder of this executable. Returns false if there is none.
 */
bool installed_file_find(const char *const *places, size_t count, int mode,
                         char path[INSTALLED_PATH_SIZE]);

#endif
