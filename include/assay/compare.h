/* Comparisons: does one of two subjects take less time than the other, or is the difference noise?
 *
 *     assay_record *record = NULL;                       // with two subjects or more
 *     if (assay_sampling_run(subjects, 2, NULL, &error, &record) != ASSAY_OK) ...
 *     if (assay_record_compare(record, NULL) != ASSAY_OK) ...
 *     printf("%s\n", assay_verdict_text(record->comparisons[0].verdict));
 *
 * The rule is fixed. The ratio is the candidate's time over the baseline's.
 *   faster, slower  The 99 % interval of the ratio lies wholly beyond the margin.
 *   same            The 95 % interval lies wholly within the margin.
 *   inconclusive    Neither holds. The reason says what is missing.
 * The interval shown is the 95 % one. Several comparisons made at once share the 1 % risk by Holm's
 * step-down procedure; comparisons that the data do not allow to be judged count as well. All looks
 * at the samples while they were taken share the risk, too. `decision_level` is the confidence
 * level that a verdict used.
 *
 * Subjects that were interleaved in one record are compared round by round, so that disturbances of
 * both cancel. Their random order removes the autocorrelation of the machine's noise. Other
 * subjects are compared as two series whose noise may be autocorrelated; the strength of the
 * autocorrelation is estimated from both series. If each sample has an input of its own, the same
 * in both series (`inputs` of assay_record_subject), each input is compared with itself, and the
 * ratios of the inputs are the series.
 *
 * A yardstick may have been timed beside the samples of such series (`yardstick` of sampling.h;
 * studies, profiles and Python's bench() do so). The times are then judged relative to the
 * yardstick, so that a run on a faster machine is not taken for a faster program. The ratio shown
 * is still the ratio of the times, and no verdict contradicts it. Two standard errors are added,
 * which the samples cannot show: 0.3 times the logarithm of the correction by the yardstick, and
 * 2 % if both sides are single runs with a yardstick.
 *
 * The verdict is inconclusive where the data do not support one:
 *   - There are too few samples, or all of them are equal.
 *   - Times are negative or not finite, or runs failed.
 *   - A drift or a step within the run is as large as the difference.
 *   - The times have two levels, and jump between them too seldom.
 *   - The difference vanishes without the disturbed pairs or samples, or without the time spent
 *     waiting for a processor.
 *
 * Wall time and every other metric that both subjects measured are compared. One metric leads: wall
 * time, or processor time where wall time is inconclusive and both subjects are bound by the
 * processor. These two metrics share one risk.
 *
 * Identical subjects are called different in at most 1 % of comparisons if they took turns (1.6 %
 * with 6 to 10 pairs). The same holds for series if neighbouring samples correlate by at most 0.8
 * (docs/trust.md has the table). No method can see a cause that stays constant during a run. If two
 * runs have different clock frequencies or memory layouts from beginning to end, their saved
 * records show a difference that the subjects did not cause. So interleave the subjects that you
 * want to compare, or let `fresh_rounds` (sampling.h) draw new memory layouts.
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
    double margin;      /* differences up to this share are ignored; must be below 1. The default is
                           0.01. It is 0.15 between single runs of a study, of a profile or of
                           functions timed beside a yardstick, because two runs of one program may
                           differ by that much */
    bool no_margin;     /* use a margin of 0: every difference counts */
    bool all_pairs;     /* compare every pair, not only every candidate with the first */
    const char *metric; /* the metric that leads: "cpu_seconds", "peak_rss_bytes", …. NULL: wall
                           time, or processor time where wall time cannot decide */
} assay_compare_options;

#define ASSAY_COMPARE_OPTIONS_INIT ASSAY_INIT(assay_compare_options)

/* Compare the subjects of a record: every other subject with the first. The result replaces the
 * record's comparisons. In a sweep, only subjects with the same parameters are compared with each
 * other. Fewer than two subjects give an empty list. NULL options are the defaults. The call fails
 * with ASSAY_E_ARGUMENT for options that make no sense and with ASSAY_E_LIMIT for more than 4096
 * subjects. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_compare(assay_record *record,
                                                           const assay_compare_options *options);

/* One side of a comparison: one record, or the records of several runs of the same program.
 * Everything is borrowed. */
typedef struct assay_compare_side {
    size_t struct_size;
    const char *origin; /* its name, usually a path */
    const assay_record *const *records;
    size_t count;
} assay_compare_side;

#define ASSAY_COMPARE_SIDE_INIT ASSAY_INIT(assay_compare_side)

/* Compare saved records of any kind: every other side with the first. Subjects belong together if
 * they have the same name and parameters. A record of `assay run` counts as one subject, "run".
 * Operations that kept samples are subjects, too; their name is their path, "step/forward".
 *
 * If any side has several runs, then on every side each run is one observation of every subject,
 * and operations are compared by the means of their spans. A verdict then needs at least three runs
 * on each side, or one candidate run against five or more baseline runs. In the second case the
 * spread of the baseline runs is also taken for the spread of the candidate.
 *
 * The result is a new record of kind "compare" with all subjects and the comparisons: wall time
 * first, then the other metrics that both sides measured. Its `differences` list other differences
 * between the records (processor, kernel, compiler, settings, sizes of models, results, iterations,
 * …) and subjects that only one side has. The call fails with ASSAY_E_DATA when two sides have
 * nothing in common, with ASSAY_E_ARGUMENT for fewer than two sides or for a side without a record,
 * and with ASSAY_E_LIMIT for a side with more than 4096 subjects. Caller frees the result. */
ASSAY_API ASSAY_MUST_USE assay_status assay_records_compare(const assay_compare_side *sides,
                                                            size_t count,
                                                            const assay_compare_options *options,
                                                            assay_error *error,
                                                            assay_record **comparison);

/* Make one comparison. The subjects and the texts of the result belong to `record`. The comparison
 * is paired if both subjects have rounds. The call fails with ASSAY_E_MEMORY or, for options that
 * make no sense, with ASSAY_E_ARGUMENT. Bad data give an inconclusive verdict and no failure. Cost:
 * a copy of the samples, some hundred passes over them, and about a millisecond to look for
 * steps. */
ASSAY_API ASSAY_MUST_USE assay_status assay_subjects_compare(assay_record *record,
                                                             const assay_record_subject *baseline,
                                                             const assay_record_subject *candidate,
                                                             const assay_compare_options *options,
                                                             assay_record_comparison *comparison);

/* Return the name of the benchmark if the difference says that the candidate's record lacks a
 * benchmark of the baseline (which was therefore not compared). Returns NULL for any other
 * difference. The name belongs to the difference. */
ASSAY_API const char *assay_difference_missing(const assay_record_difference *difference);

#ifdef __cplusplus
}
#endif

#endif
