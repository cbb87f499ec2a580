/* Resident memory for those who ask often. */
#ifndef ASSAY_INSTRUMENT_RSS_H
#define ASSAY_INSTRUMENT_RSS_H

#include <stdint.h>

#include "assay/status.h"

/* Resident bytes of this process now; under a microsecond, three system calls, no allocation. */
ASSAY_MUST_USE assay_status assay__rss_now(uint64_t *bytes);

#endif
