/* Reading small files of /proc and /sys. */
#ifndef ASSAY_INSTRUMENT_PROC_H
#define ASSAY_INSTRUMENT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/reading.h"
#include "assay/status.h"

/* Read at most capacity - 1 bytes of `path` and terminate them; longer files are cut. Interrupted
 * and partial reads are continued. No allocation. */
ASSAY_MUST_USE assay_status assay__proc_read(const char *path, char *text, size_t capacity);

/* Find the number behind "name:" at the start of a line, as in /proc/PID/status. A " kB" behind the
 * number multiplies it by 1024. False if there is no such line, or no number in it. */
bool assay__proc_field(const char *text, const char *name, uint64_t *value);

/* The validity of a reading, by the status of the call that read its source. */
assay_validity assay__proc_validity(assay_status status);

#endif
