/* The history of runs: where it is, how to open it, and how a command saves its record there. */
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

/* Open the history: the file or server that the environment variable ASSAY_HISTORY names, else
 * history.sqlite in the folder "assay" of the user's data folder. With `create` it is made if it
 * does not exist. The caller closes the store with assay__store_close(). Returns EX_OK, or an exit
 * code after a message. */
int history_open(const char *command, bool create, assay__store **store);

/* Whether the record of a command is to be saved: --save was given (`asked`), or ASSAY_HISTORY is
 * set and does not say "off". */
bool history_wanted(bool asked);

/* If the record is to be saved, check that there is a place for the history. Call this before
 * anything is measured; it does not touch a database. Returns EX_OK, or an exit code after a
 * message. */
int history_refuse(const char *command, bool asked);

/* Save a record if `asked` or if ASSAY_HISTORY is on, and print the number of the saved run. Call
 * this after the result was printed and written, so that a failure of the history does not lose the
 * result. Returns EX_OK, or an exit code after a message. */
int history_save(const char *command, bool asked, const assay_record *record);

/* The machine name under which runs are saved: the value of ASSAY_MACHINE, or NULL for the host
 * name. */
const char *history_machine(void);

/* The exit code for a failure of the store. */
int history_exit(assay_status status);

#endif
