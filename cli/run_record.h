/* The record of a finished run: what was watched from outside, what the program wrote inside, and
 * where it ran. */
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
    const char *heap_dir;       /* NULL: the heap was not measured */
    const char *python_dir;     /* NULL: Python was not profiled */
    const char *gpu_dir;        /* NULL: GPU activity was not measured */
    size_t events;              /* of GPU activity, for a trace */
    assay_reading steal_before; /* of the machine, when the run began */
} run_facts;

/* Caller frees the record. Remarks (an unreadable journal, a program whose heap could not be seen)
 * go to stderr. */
ASSAY_MUST_USE assay_status run_record_make(const run_facts *facts, assay_error *error,
                                            assay_record **record);

#endif
