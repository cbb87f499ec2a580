/* Private directories for one run, and the path of the interposer. */
#ifndef ASSAY_CLI_SCRATCH_DIR_H
#define ASSAY_CLI_SCRATCH_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/installed_files.h"

/* Room for the paths below. */
enum { SCRATCH_PATH_SIZE = INSTALLED_PATH_SIZE };

/* The free memory that a directory of journals or of heap files needs. In containers /dev/shm often
 * has only 64 MiB, and the program may need some of it itself. */
#define SCRATCH_JOURNAL_BYTES (256u << 20)
#define SCRATCH_HEAP_BYTES    (32u << 20)

/* The directory in which private directories are made. This is $TMPDIR or else /dev/shm, if it is
 * in memory and has `needed_bytes` free; otherwise it is $TMPDIR or /tmp. */
const char *scratch_dir_parent(uint64_t needed_bytes);

/* Make a directory there, for files of this user. If this user is root, the programs that root
 * starts as other users can make files in it too. The path is absolute. Returns false with errno
 * set and an empty path. */
bool scratch_dir_make(uint64_t needed_bytes, char path[SCRATCH_PATH_SIZE]);

/* Whether the directory is in memory. If it is not, files in it count as written to storage. */
bool scratch_dir_is_in_memory(const char *path);

/* Remove the directory and the files in it. An empty path is accepted. */
void scratch_dir_remove(const char *path);

/* Remove the directories that processes of this user left behind when they were killed. It leaves
 * alone: directories of other users, of a process that lives, and of a program that still writes
 * into its journal. */
void scratch_dir_sweep(void);

bool scratch_dir_is_empty(const char *path);

/* Find libassay_heap.so in lib/ beside this executable or in ../lib/. Returns false if it is in
 * neither. */
bool scratch_find_interposer(char path[SCRATCH_PATH_SIZE]);

#endif
