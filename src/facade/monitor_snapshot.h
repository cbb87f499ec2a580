/* The record of a live monitor, without the description of where it was made. */
#ifndef ASSAY_FACADE_MONITOR_SNAPSHOT_H
#define ASSAY_FACADE_MONITOR_SNAPSHOT_H

#include "assay/monitor.h"
#include "assay/record.h"

/* Like assay_monitor_record(), but without the description of machine, build and git, because that
 * description costs more than the figures. Caller frees the record. */
ASSAY_MUST_USE assay_status assay__monitor_snapshot(assay_monitor *monitor, assay_error *error,
                                                    assay_record **record);

#endif
