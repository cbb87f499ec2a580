/* An array file with any content. It is refused with a message, or gives values that can all be
 * read. */
#include <stdint.h>
#include <stdlib.h>

#include "models/file/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error error = {0};
    assay__npy array;
    assay_status status = assay__npy_parse(data, size, "input", &error, &array);
    if (status != ASSAY_OK) {
        if (error.message[0] == '\0') {
            abort();
        }
        return 0;
    }
    for (assay_element element = ASSAY_F32; element <= ASSAY_I64; element++) {
        assay_tensor tensor;
        status = assay__npy_read(&array, element, "input", &error, &tensor);
        if ((status == ASSAY_OK) != (tensor.data != NULL) ||
            (status == ASSAY_OK && assay_tensor_count(&tensor) != array.count)) {
            abort();
        }
        assay_tensor_release(&tensor);
    }
    return 0;
}
