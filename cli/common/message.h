/* What the command says to its user, apart from results. */
#ifndef ASSAY_CLI_COMMON_MESSAGE_H
#define ASSAY_CLI_COMMON_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/status.h"

/* One line to stderr; control characters, which come from file names and arguments, are shown as
 * '?' so that they cannot drive the terminal. */
ASSAY_PRINTF(1, 2) void message_error(const char *format, ...);

/* The same for remarks that are no errors: "assay: note: ...". */
ASSAY_PRINTF(1, 2) void message_note(const char *format, ...);

/* The sysexits.h code for a failure to read or understand an input. */
int message_input_exit(assay_status status);

/* The sysexits.h code for a failure to write a result. */
int message_output_exit(assay_status status);

/* The exit code of a command that would end with `code`: EX_IOERR instead of EX_OK, after a message
 * where that is possible, when something written to standard output or standard error was lost. */
int message_finish(int code);

#endif
