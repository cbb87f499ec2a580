/* A benchmark of sizes: which subjects of a record are one command at several sizes, and how its
 * time grows with them. */
#ifndef ASSAY_CLI_SWEEP_H
#define ASSAY_CLI_SWEEP_H

#include <stddef.h>
#include <stdio.h>

#include "assay/growth.h"
#include "assay/record.h"

typedef struct sweep {
    const char *parameter; /* the key of the size; belongs to the record */
    assay_growth **series; /* one for each command; its name has {n} for the size */
    size_t count;
} sweep;

/* Fit every series of the record. `parameter` NULL: the one parameter that is a number above 0 for
 * every subject and differs between them. `metric` NULL: wall time; else one of the subjects'
 * measures ("cpu_seconds"). Subjects belong to one series if their other parameters are equal;
 * where several have all parameters equal, as the commands of a sweep, the first of them belongs to
 * the first series, and so on. ASSAY_E_DATA with the reason if the record is no sweep of sizes.
 * Release the sweep, also after a failure. */
ASSAY_MUST_USE assay_status sweep_fit(const assay_record *record, const char *parameter,
                                      const char *metric, assay_error *error, sweep *result);
void sweep_release(sweep *released);

/* A line for each series: class and exponent with its interval. Nothing if no series has enough
 * sizes for a class that is more than a guess. */
void sweep_print_summary(const sweep *shown, FILE *stream);

#endif
