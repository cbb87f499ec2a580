/* A heap file with any content. It is refused, or summed without reading past its end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/heap_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Short inputs also stand for the beginning of a whole file, so that few bytes get far. */
    static assay__heap_region region;
    size_t length = size < ASSAY__HEAP_FILE_BYTES ? size : ASSAY__HEAP_FILE_BYTES;
    for (int whole = 0; whole < 2; whole++) {
        assay_heap_figures figures = {.struct_size = sizeof figures};
        assay_error error = {0};
        memset(&region, 0, sizeof region);
        memcpy(&region, data, length);
        assay_status status =
            assay__heap_check(&region, whole ? ASSAY__HEAP_FILE_BYTES : length, "input", &error);
        if (status == ASSAY_OK)
            assay__heap_sum(&region, &figures);
        else if (error.message[0] == '\0')
            abort();
    }
    return 0;
}
