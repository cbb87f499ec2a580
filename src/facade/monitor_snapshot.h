/* The figures of a live monitor alone. */
#ifndef ASSAY_FACADE_MONITOR_SNAPSHOT_H
#define ASSAY_FACADE_MONITOR_SNAPSHOT_H

#include "assay/monitor.h"
#include "assay/record.h"

/* As assay_monitor_record, without the description of machine, build and git, which costs more
 * than the figures. */
ASSAY_MUST_USE assay_status assay__monitor_snapshot(assay_monitor *monitor, assay_error *error,
                                                    assay_record **record);

#endif
