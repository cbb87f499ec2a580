/* The files and streams that receive results. A command refuses a path that cannot work before it
 * begins to measure, and reports a failed write afterwards. */
#ifndef ASSAY_CLI_COMMON_OUTPUT_H
#define ASSAY_CLI_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/record.h"
#include "assay/status.h"

/* Check output paths before any work is done: their folder must exist and be writable, and no two
 * paths may be the same. A path may be NULL, if that output is not wanted, or "-" for standard
 * output. For "-" the call also switches off the filter of cli/common/ascii.h, so that the bytes
 * arrive as they are. Creates no file. Returns EX_OK, or an
 * exit code after a message. */
int output_refuse(const char *command, const char *const *paths, size_t count);

/* Report a finished write. Returns true if it succeeded, and false after a message if not. */
bool output_check(const char *command, assay_status status, const assay_error *error);

/* After a trace of `record` was written: note that it shows no spans, if the record has none of its
 * events, and how to get them. */
void output_note_no_events(const assay_record *record, const char *remedy);

#endif
