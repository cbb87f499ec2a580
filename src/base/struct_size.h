/* The one rule for public structs that may grow, which begin with their size (ASSAY_INIT in
 * assay/status.h states it for callers).
 *
 * New fields begin where the old struct ended, its padding included, and zero in a new field means
 * the behaviour from before. So an older library can take the struct of a newer caller: if all
 * bytes that it does not know are zero, the caller asks for nothing that it does not know. (Linux
 * takes the arguments of clone3 and openat2 in this way.) No struct has grown yet, so there is no
 * older, smaller one to accept. */
#ifndef ASSAY_BASE_STRUCT_SIZE_H
#define ASSAY_BASE_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* The largest size that is accepted. No public struct comes near it; a larger size was never set.
 */
enum { ASSAY__STRUCT_MAX_BYTES = 4096 };

/* Check whether `given`, which claims to have `struct_size` bytes, can be read as the `known` bytes
 * of our struct. ASSAY_E_ARGUMENT: the size makes no sense. ASSAY_E_VERSION: a field that we do not
 * know is set. Errors call the struct `what`. */
ASSAY_MUST_USE assay_status assay__struct_check(const void *given, size_t struct_size, size_t known,
                                                const char *what, assay_error *error);

/* The same for a struct that begins with a size_t; if it passes, `own` becomes a copy of the
 * `known` bytes, its struct_size these. NULL given: all zero, the defaults. */
ASSAY_MUST_USE assay_status assay__struct_take(void *own, size_t known, const void *given,
                                               const char *what, assay_error *error);

/* Check that a struct which we are to fill, and which begins with a size_t, is large enough. Its
 * bytes beyond the `known` ones stay as they are. */
bool assay__struct_has_room(const void *target, size_t known);

#endif
