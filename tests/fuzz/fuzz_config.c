/* The YAML configuration of a study: any bytes give settings or an error, never a crash. */
#include <stddef.h>
#include <stdint.h>

#include "studies/pde/config_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay__config_entries entries = {.arena = assay__arena_new(1 << 20)};
    assay_error error = {0};
    if (entries.arena == NULL)
        return 0;
    assay_status status =
        assay__config_parse((const char *)data, size, "fuzz.yaml", &entries, &error);
    if (status != ASSAY_OK && status != ASSAY_E_MEMORY && error.message[0] == '\0')
        __builtin_trap();
    assay__config_entries_release(&entries);
    assay__arena_free(entries.arena);
    return 0;
}
