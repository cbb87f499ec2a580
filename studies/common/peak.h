/* What this machine can do at best: the denominators of every "share of peak".
 *
 * Kept in a file, since it does not change: $XDG_CACHE_HOME/assay/peak.json (else under
 * ~/.cache), one entry, valid for the processor it was measured on. studies/profile/peak_measure.h
 * measures it. */
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

/* As the machine's description names it; "unknown" if it does not. */
void assay__peak_processor(char text[ASSAY__PEAK_TEXT_BYTES]);

/* ASSAY_E_NOT_FOUND when nothing was kept or another processor measured it; ASSAY_E_FORMAT for a
 * file that cannot be understood. */
ASSAY_MUST_USE assay_status assay__peak_load(assay__peak *peak, assay_error *error);
ASSAY_MUST_USE assay_status assay__peak_save(const assay__peak *peak, assay_error *error);

#endif
