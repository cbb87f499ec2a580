/* Arrays in files: NumPy's .npy, versions 1 to 3 (numpy/lib/format.py).
 *
 * "\x93NUMPY", version, header length, a Python dictionary {'descr': '<f4', 'fortran_order': False,
 * 'shape': (3, 4), }, then the values. Understood are f2, f4, f8, i1 to i8, u1 to u8 and b1 in
 * either byte order, up to four axes; arrays in Fortran's order are transposed. */
#ifndef ASSAY_MODELS_FILE_NPY_H
#define ASSAY_MODELS_FILE_NPY_H

#include "assay/model.h"
#include "models/file/convert.h"

enum { ASSAY__NPY_MAX_HEADER = 65535 };

typedef struct assay__npy {
    assay__stored stored;
    bool swapped; /* big-endian */
    bool fortran_order;
    uint32_t rank;
    int64_t shape[ASSAY_TENSOR_MAX_RANK];
    int64_t count;               /* elements */
    const unsigned char *values; /* within the bytes parsed: count x size of them are there */
} assay__npy;

/* `name` stands for the file in messages. Allocates nothing. */
ASSAY_MUST_USE assay_status assay__npy_parse(const void *bytes, size_t size, const char *name,
                                             assay_error *error, assay__npy *array);

/* The values in C's order as `element`, in a block of their own. */
ASSAY_MUST_USE assay_status assay__npy_read(const assay__npy *array, assay_element element,
                                            const char *name, assay_error *error,
                                            assay_tensor *tensor);

#endif
