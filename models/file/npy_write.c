/* Writes .npy files of version 1.0, as numpy.save does: the values begin at a multiple of 64
 * bytes. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "models/file/npy.h"

static size_t compose(const assay_tensor *tensor, char text[256])
{
    const char *type = tensor->element == ASSAY_F32   ? "f4"
                       : tensor->element == ASSAY_F64 ? "f8"
                                                      : "i8";
    size_t used =
        (size_t)snprintf(text, 256, "{'descr': '<%s', 'fortran_order': False, 'shape': (", type);
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        used += (size_t)snprintf(text + used, 256 - used, "%s%lld", axis > 0 ? ", " : "",
                                 (long long)tensor->shape[axis]);
    }
    used += (size_t)snprintf(text + used, 256 - used, "%s), }", tensor->rank == 1 ? "," : "");
    size_t padded = (10 + used + 1 + 63) / 64 * 64 - 10;
    memset(text + used, ' ', padded - used - 1);
    text[padded - 1] = '\n';
    return padded;
}

assay_status assay_tensor_save_npy(const assay_tensor *tensor, const char *path, assay_error *error)
{
    char header[256];
    if (tensor->rank > ASSAY_TENSOR_MAX_RANK) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "cannot write '%s': an array of %u axes", path,
                           tensor->rank);
    }
    size_t length = compose(tensor, header);
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    fwrite("\x93NUMPY\x01\x00", 1, 8, output.stream);
    fputc((int)(length & 255), output.stream);
    fputc((int)(length >> 8), output.stream);
    fwrite(header, 1, length, output.stream);
    fwrite(tensor->data, assay__element_size(tensor->element), (size_t)assay_tensor_count(tensor),
           output.stream);
    return assay__output_commit(&output, error);
}
