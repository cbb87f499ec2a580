/* A private directory for one run, and the way to the interposer. */
#ifndef ASSAY_CLI_SCRATCH_DIR_H
#define ASSAY_CLI_SCRATCH_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/installed_files.h"

/* Room for the paths below. */
enum { SCRATCH_PATH_SIZE = INSTALLED_PATH_SIZE };

/* Free memory that a directory of journals or of heap files shall find. /dev/shm often has 64 MiB
 * in containers, of which the program may need some itself. */
#define SCRATCH_JOURNAL_BYTES (256u << 20)
#define SCRATCH_HEAP_BYTES    (32u << 20)

/* Where such directories are made: in memory, if `needed_bytes` of it are free ($TMPDIR if that is
 * in memory, else /dev/shm), otherwise in $TMPDIR or /tmp. */
const char *scratch_dir_parent(uint64_t needed_bytes);

/* Make a directory of mode 0700 there. False with errno set. */
bool scratch_dir_make(uint64_t needed_bytes, char path[SCRATCH_PATH_SIZE]);

/* False if what is written to it counts as written to storage. */
bool scratch_dir_is_in_memory(const char *path);

/* Remove the directory and the files in it. An empty path is accepted. */
void scratch_dir_remove(const char *path);

bool scratch_dir_is_empty(const char *path);

/* Path of libassay_heap.so beside this executable (lib/) or its installation (../lib/). False if it
 * is in neither. */
bool scratch_find_interposer(char path[SCRATCH_PATH_SIZE]);

#endif
