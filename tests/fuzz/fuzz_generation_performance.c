/* The file with the costs of generating trajectories: any bytes give figures or an error, never a
 * crash. */
#include <stddef.h>
#include <stdint.h>

#include "models/routes/performance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_generation_performance performance;
    assay_error error = {0};
    assay_status status =
        assay__performance_parse((const char *)data, size, "fuzz.json", &error, &performance);
    if (status != ASSAY_OK && error.message[0] == '\0')
        __builtin_trap();
    return 0;
}
