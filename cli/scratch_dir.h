/* A private directory for one run, and the way to the interposer. */
#ifndef ASSAY_CLI_SCRATCH_DIR_H
#define ASSAY_CLI_SCRATCH_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/common/installed_files.h"

/* Room for the paths below. */
enum { SCRATCH_PATH_SIZE = INSTALLED_PATH_SIZE };

/* Where such directories are made: in $TMPDIR, else in memory (/dev/shm) if there is enough of it,
 * else in /tmp. */
const char *scratch_dir_parent(void);

/* Make a directory of mode 0700 there. False with errno set. */
bool scratch_dir_make(char path[SCRATCH_PATH_SIZE]);

/* Remove the directory and the files in it. An empty path is accepted. */
void scratch_dir_remove(const char *path);

bool scratch_dir_is_empty(const char *path);

/* Path of libassay_heap.so beside this executable (lib/) or its installation (../lib/). False if it
 * is in neither. */
bool scratch_find_interposer(char path[SCRATCH_PATH_SIZE]);

#endif
