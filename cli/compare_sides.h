/* The records of `assay compare`, in sides: a file, a folder of runs, or what stands on one side of
 * a lone "--". */
#ifndef ASSAY_CLI_COMPARE_SIDES_H
#define ASSAY_CLI_COMPARE_SIDES_H

#include <stddef.h>

#include "assay/compare.h"
#include "assay/record.h"

typedef struct compare_sides {
    assay_compare_side *sides;
    size_t count;
} compare_sides;

/* Read one side for each operand: a file is one run; a folder is the study whose record.json is in
 * it or in the folder of its one experiment, or else all runs in it (*.json). EX_OK, or an exit
 * status after a message. */
int compare_sides_read(compare_sides *sides, char **operands, size_t count);

/* Read two sides, each with several operands. */
int compare_sides_read_two(compare_sides *sides, char **baseline, size_t baseline_count,
                           char **candidate, size_t candidate_count);

/* Read the candidate's runs, and as the baseline the last runs of its first benchmark on the same
 * machine in the history, without the candidate's own. `branch` NULL: on any; `last` 0: 20. */
int compare_sides_read_history(compare_sides *sides, char **candidate, size_t count,
                               const char *branch, size_t last);

void compare_sides_release(compare_sides *sides);

#endif
