/* What a study finds, as run records.
 *
 * Each step keeps what it found as a record of its own under .study, so that a resumed study reads
 * it back as any reader would. The records of all steps together are the study's: record.json in
 * its folder. All other files and the printed report are views of that one record.
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
#include "record/append.h" /* for every study */
#include "record/metric.h"
#include "studies/common/frame.h"

/* An empty record of kind "study" with the study, the experiment, and "seed" and "quick" among its
 * settings. Caller frees. */
ASSAY_MUST_USE assay_status assay__study_findings(const assay__study *study, assay_error *error,
                                                  assay_record **record);

/* Make a record that something else began, a monitor for instance, one of the study: the same kind,
 * names and settings. */
ASSAY_MUST_USE assay_status assay__study_claim(const assay__study *study, assay_record *record,
                                               assay_error *error);

/* Keep what the step found, and read it back. The error of a file that cannot be read names the
 * remedy. */
ASSAY_MUST_USE assay_status assay__study_keep(assay__study *study, size_t step,
                                              const assay_record *record, assay_error *error);
ASSAY_MUST_USE assay_status assay__study_recall(assay__study *study, size_t step,
                                                assay_error *error, assay_record **record);

/* A step in one call: `work` fills a record with what it finds, which is then kept; where an
 * earlier run ended the step, its record is read back instead. Either is appended to `whole`. */
typedef assay_status assay__study_work(void *context, assay_record *found, assay_error *error);
ASSAY_MUST_USE assay_status assay__study_find(assay__study *study, size_t step,
                                              assay__study_work *work, void *context,
                                              assay_record *whole, assay_error *error);

/* Describe machine, build and source, and write record.json. */
ASSAY_MUST_USE assay_status assay__study_publish(assay__study *study, assay_record *whole,
                                                 assay_error *error);

/* ---- filling; texts and numbers are copied, `of` and `unit` may be NULL ---- */

ASSAY_MUST_USE assay_status assay__found_figure(assay_record *record, const char *name,
                                                const char *of, assay_reading value,
                                                const char *unit);
/* The same with what the figure covers. */
ASSAY_MUST_USE assay_status assay__found_cost(assay_record *record, const char *name,
                                              const char *of, assay_reading value, const char *unit,
                                              const char *covers);
/* `places` NULL: 1, 2, 3, … */
ASSAY_MUST_USE assay_status assay__found_series(assay_record *record, const char *name,
                                                const char *of, const char *along,
                                                const double *places, const double *values,
                                                size_t count);
/* A subject with these samples, each of one iteration, and the figures computed from them. */
ASSAY_MUST_USE assay_status assay__found_times(assay_record *record, const char *name,
                                               const char *model, const char *covers,
                                               const double *seconds, size_t count);
/* What each sample of the subject added last cost besides its time; NaN: unknown. */
ASSAY_MUST_USE assay_status assay__found_measure(assay_record *record, const char *metric,
                                                 const double *samples);
/* One subject from parts that were sampled at different times of the study, so that its samples
 * span what the machine did meanwhile: the samples of all, one after another, with name, model and
 * covers of the first. Subjects that took turns in each part are pairs in the whole, too. */
ASSAY_MUST_USE assay_status assay__found_joined(assay_record *record,
                                                const assay_record_subject *const *parts,
                                                size_t count);

/* Settings that are numbers, of the study and of a model that will be added to the record. */
ASSAY_MUST_USE assay_status assay__found_setting(assay_record *record, const char *key,
                                                 double value);
ASSAY_MUST_USE assay_status assay__found_model_setting(assay_record *record,
                                                       assay_record_model *model, const char *key,
                                                       double value);

/* ---- views in jansson ---- */

/* A number, or null with its reason in the object's "unavailable". 0, or -1 without memory, as
 * json_object_set_new says. */
int assay__json_set_reading(json_t *object, const char *key, assay_reading reading);
/* An array of the values; NaN becomes null. NULL without memory. */
json_t *assay__json_numbers(const double *values, size_t count);

#endif
