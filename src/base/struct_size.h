/* The rule for public structs that may grow. Such a struct begins with its size (ASSAY_INIT in
 * assay/status.h states the rule for callers).
 *
 * New fields begin where the old struct ended, its padding included, and zero in a new field means
 * the earlier behaviour. So an older library can take the struct of a newer caller: if all bytes
 * that the library does not know are zero, the caller asks for nothing that the library does not
 * know. (Linux takes the arguments of clone3 and openat2 in this way.) No struct has grown yet, so
 * there is no older, smaller struct to accept. */
#ifndef ASSAY_BASE_STRUCT_SIZE_H
#define ASSAY_BASE_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* The largest size that is accepted. No public struct comes near it. A larger value means that the
 * size was never set. */
enum { ASSAY__STRUCT_MAX_BYTES = 4096 };

/* Check whether `given`, which claims to have `struct_size` bytes, can be read as the `known` bytes
 * of our struct. Fails with ASSAY_E_ARGUMENT if the size makes no sense, and with ASSAY_E_VERSION
 * if a field is set that we do not know. Errors call the struct `what`. */
ASSAY_MUST_USE assay_status assay__struct_check(const void *given, size_t struct_size, size_t known,
                                                const char *what, assay_error *error);

/* The same for a struct that begins with a size_t. If it passes, `own` becomes a copy of its first
 * `known` bytes, and its struct_size becomes `known`. If `given` is NULL, the rest of `own` is
 * zero, which means the defaults. */
ASSAY_MUST_USE assay_status assay__struct_take(void *own, size_t known, const void *given,
                                               const char *what, assay_error *error);

/* Check that a struct which we are to fill, and which begins with a size_t, is large enough. Its
 * bytes beyond the `known` ones stay as they are. */
bool assay__struct_has_room(const void *target, size_t known);

#endif
