/* The directory $ASSAY_HEAP_DIR: the file onto which the counters are mapped, and the list of the
 * programs that were started. No call allocates: all of them also run in the child of a fork. */
#ifndef ASSAY_INTERPOSER_COUNTERS_FILE_H
#define ASSAY_INTERPOSER_COUNTERS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "instrument/heap_region.h"

/* Remember $ASSAY_HEAP_DIR such that a later change of directory does not matter. */
void assay__counters_file_find(void);

/* CLOCK_BOOTTIME, which the start of a process is told in too. */
int64_t assay__counters_now_ns(void);

/* When this process started, in ticks since boot; 0 if /proc does not tell. */
uint64_t assay__counters_start_ticks(void);

/* Put a new file with `content` in the place of the counters. On failure nothing is left behind and
 * the counters are as they were. */
bool assay__counters_file_map(const assay__heap_region *content);

/* Put private memory with `content` in the place of the counters, which may be a file's. */
void assay__counters_private_map(const assay__heap_region *content);

/* Make room in the file for all slots. False if the file refuses: the slots there are stay. */
bool assay__counters_file_grow(void);

/* Append to the list of programs. errno is kept. */
void assay__counters_announce(pid_t process, int64_t announced_ns, uint32_t flags,
                              const char *path);

#endif
