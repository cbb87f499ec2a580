/* The peak of this machine: the largest rates of arithmetic and memory traffic, to which every
 * "share of peak" refers.
 *
 * The peak does not change, so it is kept in a file, $XDG_CACHE_HOME/assay/peak.json (or
 * ~/.cache/assay/peak.json). The file has one entry, which is valid for the processor that it was
 * measured on. studies/profile/peak_measure.h measures the peak. */
#ifndef ASSAY_STUDIES_COMMON_PEAK_H
#define ASSAY_STUDIES_COMMON_PEAK_H

#include "assay/status.h"

enum { ASSAY__PEAK_TEXT_BYTES = 128 };

typedef struct assay__peak {
    double gflops;               /* float32 products, 10^9 operations a second, one thread */
    double gigabytes_per_second; /* memory traffic of the triad, 10^9 bytes */
    char processor[ASSAY__PEAK_TEXT_BYTES];
    char measured_at[ASSAY__PEAK_TEXT_BYTES]; /* 2026-11-15T07:40:00Z */
} assay__peak;

/* The name of the processor in the machine's description, or "unknown". */
void assay__peak_processor(char text[ASSAY__PEAK_TEXT_BYTES]);

/* Load and save the peak. ASSAY_E_NOT_FOUND if there is no file, if the file is for another
 * processor, or if there is no folder for it; ASSAY_E_FORMAT if the file cannot be understood. */
ASSAY_MUST_USE assay_status assay__peak_load(assay__peak *peak, assay_error *error);
ASSAY_MUST_USE assay_status assay__peak_save(const assay__peak *peak, assay_error *error);

#endif
