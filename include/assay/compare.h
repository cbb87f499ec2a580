/* Comparisons: which of two subjects takes less time, really?
 *
 *     assay_record *record = NULL;                       // with two subjects or more
 *     if (assay_sampling_run(subjects, 2, NULL, &error, &record) != ASSAY_OK) ...
 *     if (assay_record_compare(record, NULL) != ASSAY_OK) ...
 *     printf("%s\n", assay_verdict_text(record->comparisons[0].verdict));
 *
 * The rule is fixed: the candidate is *faster* or *slower* only if a 99 % interval of the ratio
 * (candidate's time over the baseline's), aware of autocorrelation, lies wholly beyond the margin;
 * *same* if the 95 % interval lies wholly within it; otherwise *inconclusive*, and the reason says
 * what is missing. The interval shown is the 95 % one. When several comparisons are made at once
 * the 1 % risk is shared between them by Holm's step-down procedure, those included that the data
 * keep from being judged; `decision_level` says which level a verdict took.
 *
 * Subjects that were interleaved in one record are compared round by round: what disturbs both
 * cancels. Others are compared as two series. Whatever the data cannot support (too few samples,
 * times that are no times, samples that are all equal, failed runs, one side disturbed clearly more
 * often, a drift or a step within the run as large as the difference) is inconclusive, never a
 * made-up number.
 *
 * Identical subjects are called different in 1 % of comparisons at most, whatever the size of the
 * noise, if neighbouring samples are correlated by 0.8 at most (0.95 from 30 samples on). Of many
 * compared at once with such an autocorrelation (20 candidates, 12 to 40 rounds) one record in 40
 * has a false alarm. No method sees what never changes while it looks: a level that one run has
 * from beginning to end and the next one has not (another clock frequency, another place in memory)
 * is a difference between two saved records. Interleave the subjects to compare them, or let
 * `fresh_rounds` (sampling.h) draw the place anew.
 *
 * Threads: one thread at a time on the same record.
 */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start from ASSAY_COMPARE_OPTIONS_INIT; every zero means the default. */
typedef struct assay_compare_options {
    size_t struct_size;
    double margin;  /* differences up to this share are none; default 0.01, below 1 */
    bool no_margin; /* every difference counts: a margin of 0 */
    bool all_pairs; /* every pair, not only every candidate with the first */
} assay_compare_options;

#define ASSAY_COMPARE_OPTIONS_INIT ASSAY_INIT(assay_compare_options)

/* Replace the record's comparisons by those between its subjects: every other with the first. In a
 * sweep, where several subjects have the same parameters, those are compared among themselves.
 * Fewer than two subjects: an empty list. NULL options are the defaults. ASSAY_E_ARGUMENT for
 * options that make no sense, ASSAY_E_LIMIT for more than 4096 subjects. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_compare(assay_record *record,
                                                           const assay_compare_options *options);

/* Compare saved records: subjects of the same name and parameters, every other record with the
 * first. `origins` names the records (paths). The result is a new record of kind "compare" with all
 * subjects, the comparisons, and in `differences` what besides the code differs between the records
 * (processor, kernel, governor, compiler, iterations, …) or is in one of them only. ASSAY_E_DATA
 * when two records to be compared have no benchmark in common, ASSAY_E_ARGUMENT for fewer than two
 * records, ASSAY_E_LIMIT for more than 4096 benchmarks in one. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_records_compare(
    const assay_record *const *records, const char *const *origins, size_t count,
    const assay_compare_options *options, assay_error *error, assay_record **comparison);

/* One comparison; the subjects and the texts of the result belong to `record`. Paired if both have
 * rounds. Fails with ASSAY_E_MEMORY or, for options that make no sense, ASSAY_E_ARGUMENT; bad data
 * is a verdict. Cost: a copy of the samples, some 30 passes over them, and a millisecond to look
 * for steps. */
ASSAY_API ASSAY_MUST_USE assay_status assay_subjects_compare(assay_record *record,
                                                             const assay_record_subject *baseline,
                                                             const assay_record_subject *candidate,
                                                             const assay_compare_options *options,
                                                             assay_record_comparison *comparison);

/* The name of a benchmark of the baseline that is missing from the candidate's record and so was
 * not compared, if that is the difference; else NULL. Points into the difference. */
ASSAY_API const char *assay_difference_missing(const assay_record_difference *difference);

#ifdef __cplusplus
}
#endif

#endif
