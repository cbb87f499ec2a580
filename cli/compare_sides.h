/* Reads the records of `assay compare` into sides. A side is a file, a folder of runs, or all
 * operands before or behind a lone "--". */
#ifndef ASSAY_CLI_COMPARE_SIDES_H
#define ASSAY_CLI_COMPARE_SIDES_H

#include <stddef.h>

#include "assay/compare.h"
#include "assay/record.h"

typedef struct compare_sides {
    assay_compare_side *sides;
    size_t count;
} compare_sides;

/* Read one side for each operand. A file is one run. A folder stands for a study, if record.json is
 * in it or in the folder of its only experiment; otherwise it stands for all runs in it (*.json).
 * Returns EX_OK, or an exit status after a message. Call compare_sides_release() in both cases. */
int compare_sides_read(compare_sides *sides, char **operands, size_t count);

/* Read two sides, each with one or more operands. */
int compare_sides_read_two(compare_sides *sides, char **baseline, size_t baseline_count,
                           char **candidate, size_t candidate_count);

/* Read the runs of the candidate. The baseline is the last `last` runs of the candidate's first
 * benchmark on the same machine in the history, without the candidate's own runs. `last` 0 means
 * 20; `branch` NULL means any branch. */
int compare_sides_read_history(compare_sides *sides, char **candidate, size_t count,
                               const char *branch, size_t last);

void compare_sides_release(compare_sides *sides);

#endif
