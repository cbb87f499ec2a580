/* A table of sizes and times with any content. It is refused with a message, or gives numbers above
 * zero. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/growth_csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[][2] = {{NULL, NULL}, {"size", "time"}, {"3", "1"}};
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (size > 0)
            memcpy(text, data, size);
        text[size] = '\0';
        assay_error error = {0};
        assay_growth_table table;
        assay_status status = assay__growth_csv_parse(text, size, "input", columns[i][0],
                                                      columns[i][1], &error, &table);
        if (status != ASSAY_OK && (error.message[0] == '\0' || table.count != 0))
            abort();
        for (size_t row = 0; row < table.count; row++)
            if (!(table.sizes[row] > 0 && table.seconds[row] > 0) || isinf(table.sizes[row]) ||
                isinf(table.seconds[row]))
                abort();
        assay_growth_table_release(&table);
    }
    free(text);
    return 0;
}
