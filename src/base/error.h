/* Fills an assay_error at the place where a failure is found. */
#ifndef ASSAY_BASE_ERROR_H
#define ASSAY_BASE_ERROR_H

#include "assay/status.h"

/* Record a failure in `error` and return `status`, so that `return assay__fail(error, ASSAY_E_IO,
 * ...)` is the whole error path. Nothing is recorded if `error` is NULL. A message longer than the
 * field is cut. Control characters in the formatted text are shown as '?'. */
ASSAY_PRINTF(3, 4)
assay_status assay__fail(assay_error *error, assay_status status, const char *format, ...);

/* The same for a failed system call. Appends ": <strerror(errno)>" to the message and maps
 * ENOSPC/EDQUOT, EACCES/EPERM/EROFS, ENOENT/ENOTDIR and ENOMEM to statuses of their own, and
 * everything else to ASSAY_E_IO. */
ASSAY_PRINTF(2, 3)
assay_status assay__fail_errno(assay_error *error, const char *format, ...);

#endif
