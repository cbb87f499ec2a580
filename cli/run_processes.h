/* The processes of a run, from everything that saw some of them: the samples of the tree, the heap
 * files, and the journals. */
#ifndef ASSAY_CLI_RUN_PROCESSES_H
#define ASSAY_CLI_RUN_PROCESSES_H

#include "assay/record.h"
#include "cli/run_record.h"

/* Add these processes to the record, which already has those of the journals. Also fill the totals:
 * how many processes there were, how many still run, and how many the heap figures miss. */
ASSAY_MUST_USE assay_status run_processes_add(assay_record *record, const run_facts *facts,
                                              assay_error *error);

#endif
