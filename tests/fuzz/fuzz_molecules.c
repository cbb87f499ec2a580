/* A table of molecules with any content. It is refused with a message, or gives edges between atoms
 * of the same molecule. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/file/molecules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error error = {0};
    assay_tensor tensors[3], labels;
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    assay_status status = assay__molecules_read("table", text, size, 0, &error, tensors, &labels);
    if (status != ASSAY_OK && (error.message[0] == '\0' || tensors[0].data != NULL))
        abort();
    const int64_t *edges = tensors[1].data, *graphs = tensors[2].data;
    int64_t count = status == ASSAY_OK ? tensors[1].shape[1] : 0;
    for (int64_t e = 0; e < count; e++)
        if (edges[e] < 0 || edges[e] >= tensors[0].shape[0] ||
            graphs[edges[e]] != graphs[edges[count + e]])
            abort();
    for (int i = 0; i < 3; i++)
        assay_tensor_release(&tensors[i]);
    assay_tensor_release(&labels);
    free(text);
    return 0;
}
