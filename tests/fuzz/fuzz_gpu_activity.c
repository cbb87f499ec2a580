/* The GPU activity of a process, as arbitrary bytes. A short input is filled up with zeros. */
#include <stdint.h>
#include <stdlib.h>

#include "snapshot/activity_merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay__activity_region *region;
    assay_error error;
    assay__activity_merge merge = {.most_events = 1000};
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL || assay_record_new(&merge.record) != ASSAY_OK)
        abort();
    if (assay__activity_parse(data, size, &error, &region) == ASSAY_OK) {
        if (assay__activity_merge_add(&merge, region) == ASSAY_OK &&
            assay__activity_merge_finish(&merge) == ASSAY_OK &&
            assay_record_print(merge.record, nowhere, ASSAY_RECORD_EVENTS, &error) != ASSAY_OK)
            abort(); /* what is read can be written */
        free(region);
    }
    assay__activity_merge_release(&merge);
    assay_record_free(merge.record);
    fclose(nowhere);
    return 0;
}
