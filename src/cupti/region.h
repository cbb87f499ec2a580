/* The file into which a process writes its GPU activity (snapshot/activity_region.h). These calls
 * take no lock: the caller holds the lock of inject.c. */
#ifndef ASSAY_CUPTI_REGION_H
#define ASSAY_CUPTI_REGION_H

#include <stdbool.h>

#include "cupti/api.h"
#include "cupti/submit.h"
#include "snapshot/activity_region.h"

/* Make a file in $ASSAY_GPU_DIR, allocate all of it and map it. NULL if there is no such variable.
 * Also NULL if there is no room for the file; a short file then gives this reason. */
assay__activity_region *assay__region_map(void);

/* Note that the program begins a range. Another thread may enter records at the same time. */
void assay__region_begin_range(assay__activity_region *region, uint64_t now_ns);

/* Enter one record of CUPTI. Records of unknown kinds are ignored. `submits` has the calls that
 * submitted the work. `clock_offset_ns` is added to the times of the record. */
void assay__region_enter(assay__activity_region *region, const void *record,
                         assay__submits *submits, int64_t clock_offset_ns);

#endif
