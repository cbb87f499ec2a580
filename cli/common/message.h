/* Messages of the commands to their user, other than results, and the exit codes that belong to
 * them. */
#ifndef ASSAY_CLI_COMMON_MESSAGE_H
#define ASSAY_CLI_COMMON_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/status.h"

/* Print one line on stderr. Control characters, which can come from file names and arguments, are
 * shown as '?', so that they cannot control the terminal. */
ASSAY_PRINTF(1, 2) void message_error(const char *format, ...);

/* The same for remarks that are not errors: the line begins with "assay: note: ". */
ASSAY_PRINTF(1, 2) void message_note(const char *format, ...);

/* The sysexits.h code for a failure to read or understand an input. */
int message_input_exit(assay_status status);

/* The sysexits.h code for a failure to write a result. */
int message_output_exit(assay_status status);

/* Flush the standard streams and return the exit code of a command that would end with `code`. If
 * output was lost and `code` is EX_OK, the result is EX_IOERR, after a message where a message is
 * still possible. */
int message_finish(int code);

#endif
