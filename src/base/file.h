/* Reads whole files up to a maximum, and replaces files atomically.
 *
 * An output file either appears complete or not at all: the bytes go to a temporary file in the
 * same folder. The temporary file is flushed, and renamed over the target only when everything
 * succeeded. A target that cannot be renamed over (a pipe, or a device such as /dev/stdout) is
 * written directly. A pipe that nobody reads is refused. A new file has the mode that the umask
 * gives. If it replaces a file of the same user, it is not readable by more people than the old
 * file was. */
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

/* Flush the stream, check for write errors, and rename. On failure the temporary file is removed.
 * The output is released in either case. */
ASSAY_MUST_USE assay_status assay__output_commit(assay__output *output, assay_error *error);

/* Remove everything that was written. An output that was never begun (all zero) is accepted. */
void assay__output_abort(assay__output *output);

/* Append the whole file to `buffer`. Fails with ASSAY_E_LIMIT if the file exceeds the buffer's
 * maximum. */
ASSAY_MUST_USE assay_status assay__file_read(const char *path, assay__buffer *buffer,
                                             assay_error *error);

/* The same; but the path "-" is standard input. A message calls it by `name`, which is "standard
 * input" or the path. */
ASSAY_MUST_USE assay_status assay__file_read_input(const char *path, assay__buffer *buffer,
                                                   assay_error *error, const char **name);

/* The largest size that is accepted for a file which is read into memory as a whole: the value of
 * the environment variable ASSAY_MAX_INPUT (such as "2G"), or `usual` if it is not set or cannot be
 * read. */
size_t assay__file_maximum(size_t usual);

#endif
