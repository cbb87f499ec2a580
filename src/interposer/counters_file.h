/* The directory $ASSAY_HEAP_DIR, with the file onto which the counters are mapped and the list of
 * programs that were started. No call allocates memory, because all of them also run in the child
 * of a fork. */
#ifndef ASSAY_INTERPOSER_COUNTERS_FILE_H
#define ASSAY_INTERPOSER_COUNTERS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "instrument/heap_region.h"

/* Remember $ASSAY_HEAP_DIR as an absolute path, so that a later change of the working directory
 * does not matter. */
void assay__counters_file_find(void);

/* The present time on CLOCK_BOOTTIME, the clock of the start times of processes. */
int64_t assay__counters_now_ns(void);

/* When this process started, in ticks since boot; 0 if /proc cannot be read. */
uint64_t assay__counters_start_ticks(void);

/* Map the counters onto a new file with `content`. After a failure there is no file, and the
 * counters are unchanged. */
bool assay__counters_file_map(const assay__heap_region *content);

/* Map the counters, which may be mapped onto a file, onto private memory with `content`. */
void assay__counters_private_map(const assay__heap_region *content);

/* Make room in the file for all slots. False if the file cannot grow; the present slots remain. */
bool assay__counters_file_grow(void);

/* Append an announcement to the list of programs. errno is preserved. */
void assay__counters_announce(pid_t process, int64_t announced_ns, uint32_t flags,
                              const char *path);

#endif
