/* Where a measurement was made: machine, build, source, clock and time. */
#ifndef ASSAY_CLI_DESCRIBE_H
#define ASSAY_CLI_DESCRIBE_H

#include "assay/record.h"

/* Fill `machine`, `build`, `git`, `clock` and `created` of a record. About 15 ms, mostly the
 * calibration of the clock. */
ASSAY_MUST_USE assay_status describe_record(assay_record *record);

#endif
