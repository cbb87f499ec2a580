/* What may follow on a command line that is being typed, for the shells.
 *
 * `assay complete WORD...` gets the words typed so far, without "assay" itself; the last one is the
 * word under the cursor, perhaps empty. It prints one candidate a line, a tab and what the help
 * says about it. A line that begins with ':' asks the shell for candidates of its own: ":files",
 * ":folders", or ":command N" for the command line of another program, which begins N words behind
 * the name of our command. All of this comes from the tables that make the help, so that the
 * completions cannot disagree with it. The files in `completions` translate it for each shell. */
#ifndef ASSAY_CLI_COMMON_COMPLETE_H
#define ASSAY_CLI_COMMON_COMPLETE_H

#include <stdbool.h>

#include "cli/common/options.h"

/* Print the candidate if it begins with `typed`. */
void complete_offer(const char *typed, const char *candidate, const char *help);

/* Complete the last of argv[1…], words behind the command. `context` is for self->choice. */
void complete_command(const command *self, const void *context, int argc, char **argv);

#endif
