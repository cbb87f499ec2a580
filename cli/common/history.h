/* Where the history of runs is, and saving into it. */
#ifndef ASSAY_CLI_COMMON_HISTORY_H
#define ASSAY_CLI_COMMON_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/record.h"
#include "store/store.h"

/* The option of every command that measures; `field` is a bool of its settings. */
#define HISTORY_SAVE_OPTION(settings, field)                                                       \
    {                                                                                              \
        "save", 0, OPTION_FLAG, NULL,                                                              \
            "Save the record in the history of runs as well; ASSAY_HISTORY=1 always does.",        \
            offsetof(settings, field)                                                              \
    }

/* Open the history: what the environment variable ASSAY_HISTORY names, else history.sqlite in the
 * folder assay of the user's data folder. With `create` it is made if it is not there. EX_OK, or an
 * exit code after a message. */
int history_open(const char *command, bool create, assay__store **store);

/* Whether the record of a command is to be saved: --save was given (`asked`), or ASSAY_HISTORY is
 * set. */
bool history_wanted(bool asked);

/* Check, before anything is measured and without touching a database, whether the record can be
 * saved if it is to be. EX_OK, or an exit code after a message. */
int history_refuse(const char *command, bool asked);

/* Save a record if `asked` or if ASSAY_HISTORY is on; say under which number. To be called after
 * the result was printed and written, so that a history that fails takes nothing away. EX_OK, or an
 * exit code after a message. */
int history_save(const char *command, bool asked, const assay_record *record);

/* The machine of the runs that are saved: ASSAY_MACHINE, or NULL for the host name. */
const char *history_machine(void);

/* The exit code for a failure of the store. */
int history_exit(assay_status status);

#endif
