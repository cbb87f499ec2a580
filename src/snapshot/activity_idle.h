/* The idle time of a device, and its causes. The measured process and the reader of its file both
 * use this code. So nothing is lost if the process is killed: the reader settles the activities
 * that the process has not settled. */
#ifndef ASSAY_SNAPSHOT_ACTIVITY_IDLE_H
#define ASSAY_SNAPSHOT_ACTIVITY_IDLE_H

#include "snapshot/activity_region.h"

/* If the host makes no driver call for longer than this, it does something else than preparing the
 * next launch. Eager frameworks take 5 to 50 µs to launch an operation. */
#define ASSAY__IDLE_SILENCE_NS UINT64_C(200000)

/* Settle activities: sort those that wait, and enter the earliest of them into the sums of their
 * devices, until at most `keep` still wait. Takes a quarter of a second for the whole list at
 * worst. */
void assay__activity_settle(assay__activity_region *region, uint32_t keep);

/* The likely cause of a gap that began at `begin_ns` and ended with the activity `next`. */
assay__idle_cause assay__idle_cause_of(uint64_t begin_ns, const assay__activity *next);

#endif
