/* Arrays in files: NumPy's .npy, versions 1 to 3 (numpy/lib/format.py).
 *
 * Such a file holds "\x93NUMPY", the version, the length of the header, a Python dictionary
 * {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and then the values. The reader
 * understands f2, f4, f8, i1 to i8, u1 to u8 and b1 in either byte order, and up to four axes.
 * Arrays in Fortran's order are transposed. */
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
    const unsigned char *values; /* inside the parsed bytes; all `count` values are there */
} assay__npy;

/* Parses a whole file in memory; `bytes` must outlive the result. `name` stands for the file in
 * messages. Allocates nothing. */
ASSAY_MUST_USE assay_status assay__npy_parse(const void *bytes, size_t size, const char *name,
                                             assay_error *error, assay__npy *array);

/* Converts the values to `element`, in C's order, in a newly allocated block. Release the tensor
 * with assay_tensor_release(). */
ASSAY_MUST_USE assay_status assay__npy_read(const assay__npy *array, assay_element element,
                                            const char *name, assay_error *error,
                                            assay_tensor *tensor);

#endif
