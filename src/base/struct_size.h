/* The one rule for public structs that may grow, which begin with their size (ASSAY_INIT in
 * assay/status.h states it for callers).
 *
 * New fields begin where the old struct ended, its padding included, and zero in them means what
 * was so before. That is what lets an older library take a newer caller's struct: if everything it
 * does not know is zero, nothing it does not know was asked for. (Linux takes the arguments of
 * clone3 and openat2 so.) No struct has grown yet, so there is no older, smaller one to accept. */
#ifndef ASSAY_BASE_STRUCT_SIZE_H
#define ASSAY_BASE_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* No public struct comes near it; a larger size is one that was never set. */
enum { ASSAY__STRUCT_MAX_BYTES = 4096 };

/* May `given`, which says it has `struct_size` bytes, be read as the `known` bytes of ours?
 * ASSAY_E_ARGUMENT: the size makes no sense. ASSAY_E_VERSION: a field that we do not know is set.
 * Errors call it `what`. */
ASSAY_MUST_USE assay_status assay__struct_check(const void *given, size_t struct_size, size_t known,
                                                const char *what, assay_error *error);

/* The same for a struct that begins with a size_t; if it passes, `own` becomes a copy of the
 * `known` bytes, its struct_size these. NULL given: all zero, the defaults. */
ASSAY_MUST_USE assay_status assay__struct_take(void *own, size_t known, const void *given,
                                               const char *what, assay_error *error);

/* Is there room in a struct that we are to fill, which begins with a size_t? Beyond the `known`
 * bytes it stays as it is. */
bool assay__struct_has_room(const void *target, size_t known);

#endif
