/* Where results go: refused early if it cannot work, reported if it did not. */
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

/* Pass judgement on a finished write: true if it succeeded, else a message. */
bool output_check(const char *command, assay_status status, const assay_error *error);

#endif
