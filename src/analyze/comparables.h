/* The parts of a record that can be compared, as subjects: its own subjects, the whole command of a
 * run, and operations. */
#ifndef ASSAY_ANALYZE_COMPARABLES_H
#define ASSAY_ANALYZE_COMPARABLES_H

#include "assay/record.h"

/* Append these parts to `result` as subjects with this origin. Operations that kept no samples are
 * counted in `*without_samples` and left out, because the totals of one run say nothing about their
 * noise. */
ASSAY_MUST_USE assay_status assay__comparables_of(const assay_record *record, const char *origin,
                                                  assay_record *result, size_t *without_samples);

/* The same for several runs of the same program. Each subject has one sample for each run in which
 * it occurs: the mean of its samples in that run or, for an operation, the mean of its spans. */
ASSAY_MUST_USE assay_status assay__comparables_of_runs(const assay_record *const *records,
                                                       size_t count, const char *origin,
                                                       assay_record *result);

/* Whether the subject is a whole run of a command. */
bool assay__is_whole_run(const assay_record_subject *subject);

/* Whether two subjects are the same: they have equal names and parameters. */
bool assay__same_subject(const assay_record_subject *a, const assay_record_subject *b);

#endif
