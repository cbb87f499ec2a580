/* Completion of a command line that the user is typing, for the shells.
 *
 * `assay complete WORD...` gets the words typed so far, without "assay" itself. The last word is
 * the one under the cursor and may be empty. The command prints one candidate per line: the
 * candidate, a tab, and its help text. A line that begins with ':' asks the shell for candidates of
 * its own: ":files", ":folders", or ":command N" for the command line of another program, which
 * begins N words behind the name of our command. The candidates come from the same tables as the
 * help, so that the two cannot disagree. The files in `completions` translate this output for each
 * shell. */
#ifndef ASSAY_CLI_COMMON_COMPLETE_H
#define ASSAY_CLI_COMMON_COMPLETE_H

#include <stdbool.h>

#include "cli/common/options.h"

/* Print the candidate if it begins with `typed`. */
void complete_offer(const char *typed, const char *candidate, const char *help);

/* Print the candidates for the last word of argv[1…], the words behind the command. `context` is
 * passed to self->choice. */
void complete_command(const command *self, const void *context, int argc, char **argv);

#endif
