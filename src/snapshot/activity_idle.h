/* When a device had nothing to do, and why. Shared by the process that is measured and by the
 * reader of what it left, so that a killed process loses nothing: the reader settles the rest. */
#ifndef ASSAY_SNAPSHOT_ACTIVITY_IDLE_H
#define ASSAY_SNAPSHOT_ACTIVITY_IDLE_H

#include "snapshot/activity_region.h"

/* Host time without a call of the driver that is too long for preparing the next launch: eager
 * frameworks take 5 to 50 µs for an operation. */
#define ASSAY__IDLE_SILENCE_NS UINT64_C(200000)

/* Sort the activities that wait, and enter the first of them into the sums of their devices, so
 * that at most `keep` still wait. Takes a quarter of a second for the whole list at worst. */
void assay__activity_settle(assay__activity_region *region, uint32_t keep);

/* The likely cause of a gap that began at `begin_ns` and that `next` ended. */
assay__idle_cause assay__idle_cause_of(uint64_t begin_ns, const assay__activity *next);

#endif
