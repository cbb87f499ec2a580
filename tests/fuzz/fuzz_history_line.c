/* The reader of exchanged histories survives any line, and says in one line why it refuses one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/figures.h"
#include "store/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay__store_line line;
    assay__store_figures figures;
    assay_error error = {0};
    if (assay__store_line_read((const char *)data, size, &error, &line) != ASSAY_OK) {
        if (error.message[0] == '\0' || strchr(error.message, '\n') != NULL || line.record != NULL)
            abort();
        return 0;
    }
    if (assay__store_figures_of(line.record, &figures) == ASSAY_OK)
        for (size_t i = 0; i < figures.count; i++)
            if (strlen(figures.items[i].benchmark) > ASSAY__STORE_NAME_MAX)
                abort();
    assay__store_figures_release(&figures);
    assay__store_line_release(&line);
    return 0;
}
