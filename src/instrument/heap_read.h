/* Figures from the interposer's counters, wherever they were found. */
#ifndef ASSAY_INSTRUMENT_HEAP_READ_H
#define ASSAY_INSTRUMENT_HEAP_READ_H

#include <stddef.h>

#include "assay/memory.h"
#include "instrument/heap_region.h"

/* Sum the header and the slots taken so far; slots_used must be within the region. Additions are
 * done modulo 2^64, since a file may hold anything. */
void assay__heap_sum(const assay__heap_region *region, assay_heap_figures *figures);

/* Check a region of unknown origin, of which `length` bytes are there; `name` is for messages. On
 * ASSAY_OK it may be summed. */
ASSAY_MUST_USE assay_status assay__heap_check(const assay__heap_region *region, size_t length,
                                              const char *name, assay_error *error);

/* Figures of a living, ended or killed process from the file its interposer keeps when
 * ASSAY_HEAP_DIR is set (docs/heap-file.md). A malformed, foreign, truncated or newer file is
 * refused with the reason in `error`. ASSAY_E_UNSUPPORTED if that process's allocations did not
 * pass through the interposer. */
ASSAY_MUST_USE assay_status assay__heap_file_read(const char *path, assay_error *error,
                                                  assay_heap_figures *figures);

/* Room for a region; NULL when out of memory. Caller frees. */
assay__heap_region *assay__heap_region_new(assay_error *error);

/* Copy a file into a region and check it, as assay__heap_file_read() does. The header is filled as
 * far as the file reaches also when the check fails. */
ASSAY_MUST_USE assay_status assay__heap_region_read(const char *path, assay__heap_region *region,
                                                    assay_error *error);

#endif
