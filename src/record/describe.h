/* Sets when a record was made, and by which clock. */
#ifndef ASSAY_RECORD_DESCRIBE_H
#define ASSAY_RECORD_DESCRIBE_H

#include "assay/record.h"

/* `seconds` is the time since 1970, UTC. */
ASSAY_MUST_USE assay_status assay__record_set_created(assay_record *record, uint64_t seconds);

ASSAY_MUST_USE assay_status assay__record_set_clock(assay_record *record, const char *source,
                                                    double frequency_hz,
                                                    assay_reading resolution_ns,
                                                    assay_reading cost_ns);

#endif
