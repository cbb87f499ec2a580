/* Where results go. A path that cannot work is refused before the work; a write that failed is
 * reported after it. */
#ifndef ASSAY_CLI_COMMON_OUTPUT_H
#define ASSAY_CLI_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* Check output paths (NULL: not asked for, "-": standard output, which then carries the document as
 * it is, without the filter of cli/common/ascii.h) before any work is done: their
 * folder must exist and be writable, and no two may be the same. EX_OK, or the exit code after a
 * message. Creates nothing. */
int output_refuse(const char *command, const char *const *paths, size_t count);

/* Report a finished write: true if it succeeded, otherwise false after a message. */
bool output_check(const char *command, assay_status status, const assay_error *error);

#endif
