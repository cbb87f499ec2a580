/* Makes the record of a finished run, from the figures that assay measured from outside, the files
 * that the program wrote from inside, and the description of the machine. */
#ifndef ASSAY_CLI_RUN_RECORD_H
#define ASSAY_CLI_RUN_RECORD_H

#include "assay/reading.h"
#include "assay/record.h"
#include "cli/launch.h"
#include "cli/watch_program.h"

typedef struct run_facts {
    const char *name;     /* given by the user, or NULL */
    char *const *command; /* terminated by NULL */
    const launch_result *launch;
    const watch_result *watch;
    const char *journal_dir;
    const char *heap_dir;       /* NULL if the heap was not measured */
    const char *python_dir;     /* NULL if Python was not profiled */
    const char *gpu_dir;        /* NULL if GPU activity was not measured */
    size_t events;              /* the most GPU activities of each process to keep, for a trace */
    assay_reading steal_before; /* the stolen time of the machine when the run began */
} run_facts;

/* Make the record, which the caller frees. Notes, such as on an unreadable journal or on a program
 * whose heap could not be seen, go to stderr. */
ASSAY_MUST_USE assay_status run_record_make(const run_facts *facts, assay_error *error,
                                            assay_record **record);

#endif
