/* The results of a study, as run records.
 *
 * Each step saves its results as a record of its own under .study, so that a resumed study can read
 * them back. The records of all steps together are the record of the study, record.json in its
 * folder. All other files and the printed report are views of this record.
 *
 *     assay_record *found = NULL;
 *     if (assay__study_done(study, TRAIN))
 *         status = assay__study_recall(study, TRAIN, error, &found);
 *     else {
 *         status = assay__study_findings(study, error, &found);
 *         ... assay__found_figure(found, "final_loss", "LSTM", loss, NULL); ...
 *         status = assay__study_keep(study, TRAIN, found, error);
 *         status = assay__study_end(study, error);
 *     }
 *     status = assay__record_append(whole, found);
 *     ...
 *     status = assay__study_publish(study, whole, error);
 */
#ifndef ASSAY_STUDIES_COMMON_RESULTS_H
#define ASSAY_STUDIES_COMMON_RESULTS_H

#include <jansson.h>

#include "assay/record.h"
#include "record/append.h" /* every study uses it */
#include "record/metric.h"
#include "studies/common/frame.h"

/* Make an empty record of kind "study" with the names of the study and the experiment, and with
 * "seed" and "quick" among its settings. Free it with assay_record_free(). */
ASSAY_MUST_USE assay_status assay__study_findings(const assay__study *study, assay_error *error,
                                                  assay_record **record);

/* Give the same kind, names and settings to a record that something else made, for example a
 * monitor. */
ASSAY_MUST_USE assay_status assay__study_claim(const assay__study *study, assay_record *record,
                                               assay_error *error);

/* Save the results of a step, and read them back. If a file cannot be read, the message names the
 * remedy. */
ASSAY_MUST_USE assay_status assay__study_keep(assay__study *study, size_t step,
                                              const assay_record *record, assay_error *error);
ASSAY_MUST_USE assay_status assay__study_recall(assay__study *study, size_t step,
                                                assay_error *error, assay_record **record);

/* Do a whole step. `work` adds its results to the record `found`, which is then saved. If an
 * earlier run has ended the step, its record is read back instead. In both cases the record is
 * appended to `whole`. */
typedef assay_status assay__study_work(void *context, assay_record *found, assay_error *error);
ASSAY_MUST_USE assay_status assay__study_find(assay__study *study, size_t step,
                                              assay__study_work *work, void *context,
                                              assay_record *whole, assay_error *error);

/* Describe machine, build and source, and write record.json. */
ASSAY_MUST_USE assay_status assay__study_publish(assay__study *study, assay_record *whole,
                                                 assay_error *error);

/* ---- filling a record; texts and numbers are copied, `of` and `unit` may be NULL ---- */

/* Add a figure: a reading with a name, that belongs to `of`. */
ASSAY_MUST_USE assay_status assay__found_figure(assay_record *record, const char *name,
                                                const char *of, assay_reading value,
                                                const char *unit);
/* The same, with a text that says what the figure covers. */
ASSAY_MUST_USE assay_status assay__found_cost(assay_record *record, const char *name,
                                              const char *of, assay_reading value, const char *unit,
                                              const char *covers);
/* Add a series of `count` values along an axis named `along`. If `places` is NULL, the places on
 * the axis are 1, 2, 3, … */
ASSAY_MUST_USE assay_status assay__found_series(assay_record *record, const char *name,
                                                const char *of, const char *along,
                                                const double *places, const double *values,
                                                size_t count);
/* Add a subject with these samples, each of one iteration, and with the figures that follow from
 * them. */
ASSAY_MUST_USE assay_status assay__found_times(assay_record *record, const char *name,
                                               const char *model, const char *covers,
                                               const double *seconds, size_t count);
/* Add a measure to the subject that was added last: a further cost of each sample besides its time.
 * NaN means unknown. */
ASSAY_MUST_USE assay_status assay__found_measure(assay_record *record, const char *metric,
                                                 const double *samples);
/* Say that each sample of the subject that was added last has an input of its own. `inputs`
 * identifies the list of inputs: two runs with the same text are compared input by input. */
ASSAY_MUST_USE assay_status assay__found_inputs(assay_record *record, const char *inputs);
/* Add a subject that is joined from parts which were sampled at different times of the study. So
 * its samples include the changes of the machine's speed in between. It has the samples of all
 * parts, one after another, and the name, model and covers of the first part. Subjects that were
 * sampled in turn within each part are still pairs in the joined subjects. */
ASSAY_MUST_USE assay_status assay__found_joined(assay_record *record,
                                                const assay_record_subject *const *parts,
                                                size_t count);

/* Add a setting that is a number, to the record, or to a model that will be added to it. */
ASSAY_MUST_USE assay_status assay__found_setting(assay_record *record, const char *key,
                                                 double value);
ASSAY_MUST_USE assay_status assay__found_model_setting(assay_record *record,
                                                       assay_record_model *model, const char *key,
                                                       double value);

/* ---- views in jansson ---- */

/* Set a member to the number or, if the reading is missing, to null with the reason in the object's
 * "unavailable". Returns 0, or -1 if there is no memory, as json_object_set_new does. */
int assay__json_set_reading(json_t *object, const char *key, assay_reading reading);
/* An array of the values, in which NaN and infinity become null. NULL if there is no memory. */
json_t *assay__json_numbers(const double *values, size_t count);

#endif
