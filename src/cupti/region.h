/* The file that a process writes (snapshot/activity_region.h), and how records are entered. None of
 * these calls takes a lock: the caller holds the one of inject.c. */
#ifndef ASSAY_CUPTI_REGION_H
#define ASSAY_CUPTI_REGION_H

#include <stdbool.h>

#include "cupti/api.h"
#include "cupti/submit.h"
#include "snapshot/activity_region.h"

/* Make a file in $ASSAY_GPU_DIR and map it, allocated in full. NULL if there is no such variable or
 * no room for the file, which then only says so: nothing is measured. */
assay__activity_region *assay__region_map(void);

/* Enter one record of CUPTI, of a kind that we know or not. `submits` says what was known of the
 * calls; `clock_offset_ns` is added to the record's times. */
void assay__region_enter(assay__activity_region *region, const void *record,
                         assay__submits *submits, int64_t clock_offset_ns);

#endif
