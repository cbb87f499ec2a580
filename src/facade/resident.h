/* The resident memory of this process as a reading, in bytes. */
#ifndef ASSAY_FACADE_RESIDENT_H
#define ASSAY_FACADE_RESIDENT_H

#include "assay/reading.h"
#include "instrument/rss.h"

static inline assay_reading assay__resident_bytes(void)
{
    uint64_t bytes = 0;
    return assay__rss_now(&bytes) == ASSAY_OK ? assay_reading_of((double)bytes)
                                              : assay_reading_missing(ASSAY_UNSUPPORTED);
}

#endif
