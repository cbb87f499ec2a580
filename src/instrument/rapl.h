/* The processor's energy counters, as the kernel's powercap tree shows them. There is one zone for
 * each package. If the processor counts the memory of a package separately, that is a zone within
 * the zone of the package. */
#ifndef ASSAY_INSTRUMENT_RAPL_H
#define ASSAY_INSTRUMENT_RAPL_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

enum {
    ASSAY__RAPL_ZONES = 64,
    ASSAY__MOST_WATTS = 10000, /* several times what any package or GPU draws */
    ASSAY__USUAL_WATTS = 1000  /* more than a package draws for minutes */
};

typedef struct assay__rapl_zone {
    int file;          /* energy_uj */
    uint64_t last_uj;  /* as last read */
    uint64_t last_ns;  /* when, by CLOCK_MONOTONIC */
    uint64_t range_uj; /* the counter wraps around at this value; 0: not known */
} assay__rapl_zone;

typedef struct assay__rapl {
    assay__rapl_zone zones[ASSAY__RAPL_ZONES];
    size_t count;
    double joules;      /* of all zones together since they were opened */
    double limit_watts; /* the highest power that all packages may draw; 0: not known */
    unsigned restarts;  /* how often a counter started again; energy before is then lost */
    char left_out[24];  /* a zone that cannot be read, and the errno why; 0: there is none */
    int why_left_out;
} assay__rapl;

/* Open the zones below `root`. NULL is $ASSAY_POWERCAP or, if that is not set, the tree of the
 * kernel. Fails if a package cannot be read, since the others are not the whole processor: with
 * ASSAY_E_UNSUPPORTED, also if there are no zones, or with ASSAY_E_PERMISSION. Memory that cannot
 * be read is left out. */
ASSAY_MUST_USE assay_status assay__rapl_open(const char *root, assay_error *error,
                                             assay__rapl *rapl);

/* Update `joules`. ASSAY_E_IO if a counter cannot be read any more. Each counter must be read again
 * before it wraps around, which takes a minute under full load on large processors. Some counters
 * start again while the machine sleeps. That is noticed, and counted in `restarts`. */
ASSAY_MUST_USE assay_status assay__rapl_read(assay__rapl *rapl);

void assay__rapl_close(assay__rapl *rapl);

#endif
