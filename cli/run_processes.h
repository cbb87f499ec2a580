/* The processes of a run, from everything that saw some of them: the samples of the tree, the heap
 * files, and the journals. */
#ifndef ASSAY_CLI_RUN_PROCESSES_H
#define ASSAY_CLI_RUN_PROCESSES_H

#include "assay/record.h"
#include "cli/run_record.h"

/* Add them to the record, which holds those of the journals already, and fill what the record says
 * of them as a whole: how many there were, how many still run, how many the heap figures miss. */
ASSAY_MUST_USE assay_status run_processes_add(assay_record *record, const run_facts *facts,
                                              assay_error *error);

#endif
