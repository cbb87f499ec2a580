/* Which boards the devices of this process are. CUDA's number of a device depends on
 * CUDA_VISIBLE_DEVICES, so that it may be another board in another process. The UUID does not. */
#ifndef ASSAY_CUPTI_IDENTITY_H
#define ASSAY_CUPTI_IDENTITY_H

#include "snapshot/activity_region.h"

/* Look for the driver. Call this while the driver loads us. */
void assay__identity_open(void);

/* Ask the driver for the UUIDs. Only the first call does this; each later call reads one flag. Call
 * this on a thread of the program that is entering a call of the driver, and never on a thread of
 * CUPTI. A thread of CUPTI could wait here for a lock of the driver, while the thread that holds
 * the lock waits for CUPTI. */
void assay__identity_ask(void);

/* Enter the UUIDs that are known into the devices of the region. */
void assay__identity_enter(assay__activity_region *region);

#endif
