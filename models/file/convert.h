/* Converts numbers from the types that files store to the elements of tensors. */
#ifndef ASSAY_MODELS_FILE_CONVERT_H
#define ASSAY_MODELS_FILE_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/model.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files of weights are little-endian and used as they lie in memory");

typedef enum assay__stored {
    ASSAY__STORED_NONE, /* a type of known size whose values are not understood */
    ASSAY__STORED_F16,  /* IEEE 754 binary16 */
    ASSAY__STORED_BF16, /* the upper half of a binary32 */
    ASSAY__STORED_F32,
    ASSAY__STORED_F64,
    ASSAY__STORED_BOOL, /* one byte, 0 or 1 */
    ASSAY__STORED_I8,
    ASSAY__STORED_I16,
    ASSAY__STORED_I32,
    ASSAY__STORED_I64,
    ASSAY__STORED_U8,
    ASSAY__STORED_U16,
    ASSAY__STORED_U32,
    ASSAY__STORED_U64
} assay__stored;

size_t assay__stored_size(assay__stored stored); /* bytes; 0 for NONE */
bool assay__stored_is_float(assay__stored stored);

size_t assay__element_size(assay_element element);

/* Converts `count` values at `source` (any alignment; bytes reversed if `swapped`) to `target`. A
 * value may be rounded. The conversion stops at the first value that the target cannot hold: a
 * fraction or a NaN if the target is an integer, or a number outside its range. Returns the index
 * of that value, or `count` if there is none. */
int64_t assay__convert(assay__stored stored, bool swapped, const void *source, int64_t count,
                       assay_element element, void *target);

#endif
