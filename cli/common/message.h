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

/* Colour only where it can be seen and is not declined (https://no-color.org). */
bool message_colour(FILE *stream);

/* The sysexits.h code for a failure to read or understand an input. */
int message_input_exit(assay_status status);

/* The sysexits.h code for a failure to write a result. */
int message_output_exit(assay_status status);

/* Flush a stream of results. False, after a message, when something written to it was lost. */
bool message_flush(FILE *stream, const char *name);

#endif
