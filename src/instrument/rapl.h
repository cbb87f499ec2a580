/* The processor's counters of energy, as the kernel's powercap tree shows them: one zone for each
 * package, with its memory as a zone within it where the processor counts that apart. */
#ifndef ASSAY_INSTRUMENT_RAPL_H
#define ASSAY_INSTRUMENT_RAPL_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

enum { ASSAY__RAPL_ZONES = 16 };

typedef struct assay__rapl_zone {
    int file;          /* energy_uj */
    uint64_t last_uj;  /* as last read */
    uint64_t range_uj; /* the counter starts over behind this; 0: not known */
} assay__rapl_zone;

typedef struct assay__rapl {
    assay__rapl_zone zones[ASSAY__RAPL_ZONES];
    size_t count;
    double joules;      /* of all zones together since they were opened */
    double limit_watts; /* the most that all packages may draw; 0: not known */
} assay__rapl;

/* Open the zones below `root`; NULL: $ASSAY_POWERCAP, else where the kernel has them.
 * ASSAY_E_UNSUPPORTED: there are none; ASSAY_E_PERMISSION: they may not be read. */
ASSAY_MUST_USE assay_status assay__rapl_open(const char *root, assay_error *error,
                                             assay__rapl *rapl);

/* Bring `joules` up to date. ASSAY_E_IO if a counter cannot be read any more. A counter must be
 * read again before it comes round, which takes a minute under full load on large processors. */
ASSAY_MUST_USE assay_status assay__rapl_read(assay__rapl *rapl);

void assay__rapl_close(assay__rapl *rapl);

#endif
