/* Whole files, read with a maximum and replaced atomically.
 *
 * An output file either appears complete or not at all: bytes go to a temporary name in the same
 * folder, are flushed, and renamed over the target only when everything succeeded. Targets that
 * cannot be renamed over (pipes, devices such as /dev/stdout) are written directly; a pipe that
 * nobody reads is refused. A new file has the mode that the umask gives; a file that replaces one
 * of the user's own is not readable for more people than that one was. */
#ifndef ASSAY_BASE_FILE_H
#define ASSAY_BASE_FILE_H

#include <stdio.h>

#include "assay/status.h"
#include "base/buffer.h"

typedef struct assay__output {
    FILE *stream; /* write here between begin and commit */
    char *path;
    char *temporary; /* NULL when the target is written directly */
} assay__output;

ASSAY_MUST_USE assay_status assay__output_begin(assay__output *output, const char *path,
                                                assay_error *error);

/* Flush, check for write errors, rename. On failure the temporary file is removed. Either way the
 * output is released. */
ASSAY_MUST_USE assay_status assay__output_commit(assay__output *output, assay_error *error);

/* Drop everything written; no trace is left. Accepts an output that was never begun (all zero). */
void assay__output_abort(assay__output *output);

/* Append the whole file to `buffer`, up to its maximum (ASSAY_E_LIMIT beyond it). */
ASSAY_MUST_USE assay_status assay__file_read(const char *path, assay__buffer *buffer,
                                             assay_error *error);

/* The most bytes that are accepted of a file which grows in memory: what the variable
 * ASSAY_MAX_INPUT says ("2G"), else `usual`. */
size_t assay__file_maximum(size_t usual);

#endif
