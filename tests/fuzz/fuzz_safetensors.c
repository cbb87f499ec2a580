/* A file of weights with any content. It is refused with a message, or gives tensors that lie
 * within it, one after another, and can be read as a whole. */
#include <stdint.h>
#include <stdlib.h>

#include "models/file/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const assay__safetensor *tensor)
{
    if (!assay__stored_is_float(tensor->stored) || tensor->count == 0) {
        return;
    }
    float *values = calloc((size_t)tensor->count, sizeof *values);
    if (values != NULL && assay__convert(tensor->stored, false, tensor->bytes, tensor->count,
                                         ASSAY_F32, values) > tensor->count) {
        abort();
    }
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error error = {0};
    assay__safetensors file;
    assay_status status = assay__safetensors_parse(data, size, "input", &error, &file);
    if (status != ASSAY_OK) {
        if (error.message[0] == '\0' || file.count != 0) {
            abort();
        }
        return 0;
    }
    for (size_t i = 0; i < file.count; i++) {
        const assay__safetensor *tensor = &file.tensors[i];
        uint64_t bytes = tensor->end - tensor->begin;
        if (tensor->bytes < data || tensor->bytes + bytes > data + size ||
            assay__safetensors_find(&file, tensor->name) == NULL) {
            abort();
        }
        read_all(tensor);
    }
    (void)assay__safetensors_metadata(&file, "assay.model");
    assay__safetensors_release(&file);
    return 0;
}
