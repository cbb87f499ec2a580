/* Ready-made calls that bring the pieces together: measure, snapshot, analyse, print. */
#ifndef ASSAY_FACADE_H
#define ASSAY_FACADE_H

#include "assay/monitor.h"
#include "assay/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything a monitor has measured so far, as a record that also describes machine, clock, build
 * and git state. May be called at any time from any thread; spans go on meanwhile. A disabled or
 * NULL monitor gives a record without operations. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_monitor_record(assay_monitor *monitor,
                                                           assay_error *error,
                                                           assay_record **record);

/* Add the description of this machine, build and git working directory to a record. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_describe(assay_record *record);

#ifdef __cplusplus
}
#endif

#endif
