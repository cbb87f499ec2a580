/* Computes heap figures from the interposer's counters, in memory or in a file. */
#ifndef ASSAY_INSTRUMENT_HEAP_READ_H
#define ASSAY_INSTRUMENT_HEAP_READ_H

#include <stddef.h>

#include "assay/memory.h"
#include "instrument/heap_region.h"

/* Sum up the header and the slots in use; slots_used must be within the region. Additions are done
 * modulo 2^64, because a file may contain any values. */
void assay__heap_sum(const assay__heap_region *region, assay_heap_figures *figures);

/* Check a region of unknown origin, of which `length` bytes were read. `name` is used in messages.
 * After ASSAY_OK the region may be summed. */
ASSAY_MUST_USE assay_status assay__heap_check(const assay__heap_region *region, size_t length,
                                              const char *name, assay_error *error);

/* Read the figures of a process from the file that its interposer keeps when ASSAY_HEAP_DIR is set
 * (docs/heap-file.md). The process may still run, have ended or have been killed. A malformed,
 * foreign, truncated or newer file is refused, with the reason in `error`. ASSAY_E_UNSUPPORTED if
 * the allocations of that process did not pass through the interposer. */
ASSAY_MUST_USE assay_status assay__heap_file_read(const char *path, assay_error *error,
                                                  assay_heap_figures *figures);

/* Room for a region; NULL when out of memory. Caller frees. */
assay__heap_region *assay__heap_region_new(assay_error *error);

/* Copy a file into a region and check it, as assay__heap_file_read() does. If the check fails, the
 * header still contains as much as the file has. */
ASSAY_MUST_USE assay_status assay__heap_region_read(const char *path, assay__heap_region *region,
                                                    assay_error *error);

#endif
