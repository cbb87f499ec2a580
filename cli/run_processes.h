/* Lists the processes of a run. Three sources know some of them each: the samples of the process
 * tree, the heap files, and the journals. */
#ifndef ASSAY_CLI_RUN_PROCESSES_H
#define ASSAY_CLI_RUN_PROCESSES_H

#include "assay/record.h"
#include "cli/run_record.h"

/* Add the processes of the tree and of the heap files to the record, which already has the
 * processes of the journals. Also fill the totals: how many processes there were, how many still
 * run, and how many the heap figures miss. */
ASSAY_MUST_USE assay_status run_processes_add(assay_record *record, const run_facts *facts,
                                              assay_error *error);

#endif
