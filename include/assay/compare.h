/* Comparisons: which of two subjects takes less time, really?
 *
 *     assay_record *record = NULL;                       // with two subjects or more
 *     if (assay_sampling_run(subjects, 2, NULL, &error, &record) != ASSAY_OK) ...
 *     if (assay_record_compare(record, NULL) != ASSAY_OK) ...
 *     printf("%s\n", assay_verdict_text(record->comparisons[0].verdict));
 *
 * The rule is fixed: the candidate is *faster* or *slower* only if a 99 % interval of the ratio
 * (candidate's time over the baseline's) lies wholly beyond the margin; *same* if the 95 % interval
 * lies wholly within it; otherwise *inconclusive*, and the reason says what is missing. The
 * interval shown is the 95 % one. Several comparisons made at once share the 1 % risk by Holm's
 * step-down procedure, also those that the data do not allow to be judged, and so do all looks at
 * samples while they were taken; `decision_level` gives the level that a verdict used.
 *
 * Subjects that were interleaved in one record are compared round by round, so that disturbances of
 * both cancel; their random order removes the autocorrelation of the machine's noise. Other
 * subjects are compared as two series whose noise may be autocorrelated; the strength is estimated
 * from both series. Where a yardstick was timed beside their samples (`yardstick` of sampling.h;
 * studies, profiles and Python's bench() do so), their times are judged relative to it, so that a
 * machine that was faster in one run is not taken for a difference; the ratio shown is that of the
 * times, and a verdict must not go against it. Two standard errors that the samples cannot show
 * make the interval wider: 0.3 of the logarithm of the correction by the yardstick, and 2 % for
 * single runs that have a yardstick. The verdict is inconclusive where the data do not support one:
 * too few samples, times that are negative or not finite, samples that are all equal, failed runs,
 * a drift or a step within the run that is as large as the difference, two levels between which the
 * times seldom jump, or a difference that vanishes without the disturbed pairs or samples or
 * without the time spent waiting for a processor.
 *
 * Besides wall time, whatever both subjects measured is compared. One metric leads: wall time, or
 * processor time where wall time is inconclusive and both subjects are bound by the processor. The
 * two share the risk.
 *
 * Identical subjects are called different in 1 % of comparisons at most if they took turns (1.6 %
 * with 6 to 10 pairs), or if they did not and their neighbours correlate by 0.8 at most
 * (docs/trust.md has the table). No method can see what stays constant during a run: if one run
 * has another clock frequency or another memory layout than the next from beginning to end, that is
 * a difference between two saved records. Interleave the subjects to compare them, or let
 * `fresh_rounds` (sampling.h) draw a new memory layout.
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
    double margin;  /* differences up to this share are ignored; below 1. The default is 0.01, and
                       0.15 between single runs of a study, of a profile and of functions that
                       were timed beside a yardstick: two runs of one program
                       may differ by that much */
    bool no_margin; /* every difference counts: a margin of 0 */
    bool all_pairs; /* compare every pair, not only every candidate with the first */
    const char *metric; /* the one that leads: "cpu_seconds", "peak_rss_bytes", …; NULL: wall time,
                           or processor time where wall time cannot decide */
} assay_compare_options;

#define ASSAY_COMPARE_OPTIONS_INIT ASSAY_INIT(assay_compare_options)

/* Replace the record's comparisons by those between its subjects: every other one with the first.
 * In a sweep, subjects with the same parameters are compared among themselves. Fewer than two
 * subjects give an empty list. NULL options are the defaults. ASSAY_E_ARGUMENT for
 * options that make no sense, ASSAY_E_LIMIT for more than 4096 subjects. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_compare(assay_record *record,
                                                           const assay_compare_options *options);

/* One side of a comparison: a record, or several runs of one thing. */
typedef struct assay_compare_side {
    size_t struct_size;
    const char *origin; /* its name, usually a path */
    const assay_record *const *records;
    size_t count;
} assay_compare_side;

#define ASSAY_COMPARE_SIDE_INIT ASSAY_INIT(assay_compare_side)

/* Compare saved records of any kind: every other side with the first, by subjects of the same name
 * and parameters. A record of `assay run` counts as one subject, "run"; operations that kept
 * samples are subjects with their path as name, "step/forward". On a side with several runs each
 * run is one observation of every subject, and operations are compared by the means of their spans;
 * A verdict needs at least three runs on each side, or one candidate run against five or more; the
 * spread of those runs is then taken for that of the candidate. If one side has several runs, the
 * runs of every side count in this way.
 *
 * The result is a new record of kind "compare" with all subjects and the comparisons: wall time
 * first, then whatever else both sides measured. Its `differences` list what else differs between
 * the records (processor, kernel, compiler, settings, sizes of models, results, iterations, …) and
 * what only one of them has. ASSAY_E_DATA when two sides have nothing in common, ASSAY_E_ARGUMENT
 * for fewer than two sides or one without a record, ASSAY_E_LIMIT for more than 4096 subjects on
 * one. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_records_compare(const assay_compare_side *sides,
                                                            size_t count,
                                                            const assay_compare_options *options,
                                                            assay_error *error,
                                                            assay_record **comparison);

/* Make one comparison. The subjects and the texts of the result belong to `record`. The comparison
 * is paired if both subjects have rounds. It fails with ASSAY_E_MEMORY or, for options that make no
 * sense, with ASSAY_E_ARGUMENT; bad data give an inconclusive verdict and no failure. Cost: a copy
 * of the samples, some hundred passes over them, and a millisecond to look for steps. */
ASSAY_API ASSAY_MUST_USE assay_status assay_subjects_compare(assay_record *record,
                                                             const assay_record_subject *baseline,
                                                             const assay_record_subject *candidate,
                                                             const assay_compare_options *options,
                                                             assay_record_comparison *comparison);

/* If the difference is that the candidate's record lacks a benchmark of the baseline, which was
 * therefore not compared: the name of that benchmark. NULL for any other difference. The name
 * belongs to the difference. */
ASSAY_API const char *assay_difference_missing(const assay_record_difference *difference);

#ifdef __cplusplus
}
#endif

#endif
