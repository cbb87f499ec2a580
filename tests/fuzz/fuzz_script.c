/* The profile of a script, as arbitrary bytes. */
#include <stdint.h>
#include <stdlib.h>

#include "snapshot/script_merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay__script_view view;
    assay_error error;
    assay__script_merge merge = {.origin_ns = 0};
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL || assay_record_new(&merge.record) != ASSAY_OK)
        abort();
    if (assay__script_parse("fuzz", data, size, &error, &view) == ASSAY_OK) {
        if (assay__script_merge_add(&merge, &view) == ASSAY_OK &&
            assay__script_merge_finish(&merge) == ASSAY_OK &&
            assay_record_print(merge.record, nowhere, ASSAY_RECORD_EVENTS, &error) != ASSAY_OK)
            abort(); /* what is read can be written */
        assay__script_release(&view);
    }
    assay__script_merge_release(&merge);
    assay_record_free(merge.record);
    fclose(nowhere);
    return 0;
}
