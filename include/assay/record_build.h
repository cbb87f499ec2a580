/* Filling records: for programs that measure by themselves and use assay to show and compare the
 * results.
 *
 *     assay_record *record = NULL;
 *     assay_record_subject subject;
 *     if (assay_record_new(&record) != ASSAY_OK) ...
 *     assay_record_subject_init(&subject);
 *     subject.name = assay_record_text(record, "sort");
 *     subject.samples_seconds = samples;              // lives as long as the record
 *     subject.sample_count = count;
 *     if (assay_record_add_subject(record, &subject) != ASSAY_OK) ...
 *
 * Threads: a record has no locks; one thread at a time.
 */
#ifndef ASSAY_RECORD_BUILD_H
#define ASSAY_RECORD_BUILD_H

#include <stddef.h>

#include "assay/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise an item: counts are 0, readings are ASSAY_NOT_MEASURED, an operation is at the top.
 * Call this before you fill an item. (In an item that is all zero, every reading is a valid 0.) */
ASSAY_API void assay_record_operation_init(assay_record_operation *item);
ASSAY_API void assay_record_metric_init(assay_record_metric *item);
ASSAY_API void assay_record_subject_init(assay_record_subject *item);
ASSAY_API void assay_record_model_init(assay_record_model *item);
ASSAY_API void assay_record_scaling_init(assay_record_scaling *item);
ASSAY_API void assay_record_device_init(assay_record_device *item);
ASSAY_API void assay_record_member_init(assay_record_member *item);

/* Allocate zeroed memory that lives as long as the record, for the arrays of its items. NULL when
 * out of memory. */
ASSAY_API void *assay_record_allocate(assay_record *record, size_t count, size_t size);
/* Copy a text into the record and make it printable. A text longer than ASSAY_RECORD_MAX_TEXT bytes
 * (the longest argument that Linux passes to a program) is cut and ends in "...". NULL for NULL, or
 * when out of memory. */
enum { ASSAY_RECORD_MAX_TEXT = 128 * 1024 };
ASSAY_API const char *assay_record_text(assay_record *record, const char *text);

/* Append an item to an array of the record. An array has at most ASSAY_RECORD_MAX_ITEMS items, and
 * grows in steps, so that appending is cheap. The item is copied; its strings must already belong
 * to the record. */
enum { ASSAY_RECORD_MAX_ITEMS = 1 << 24 };
ASSAY_API ASSAY_MUST_USE assay_status
assay_record_add_operation(assay_record *record, const assay_record_operation *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_metric(assay_record *record,
                                                              const assay_record_metric *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_counter(assay_record *record,
                                                               const assay_record_counter *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_lane(assay_record *record,
                                                            const assay_record_lane *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_event(assay_record *record,
                                                             const assay_record_event *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_subject(assay_record *record,
                                                               const assay_record_subject *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_model(assay_record *record,
                                                             const assay_record_model *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_figure(assay_record *record,
                                                              const assay_record_figure *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_series(assay_record *record,
                                                              const assay_record_series *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_scaling(assay_record *record,
                                                               const assay_record_scaling *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_device(assay_record *record,
                                                              const assay_record_device *item);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_process(assay_record *record,
                                                               const assay_record_member *item);
/* Add a fact to the description of the machine. If the value is not known, pass NULL and the reason
 * in `validity`. Both strings are copied. A key that exists keeps its place and gets the new value.
 * ASSAY_E_ARGUMENT for the key "unavailable", which is reserved. */
enum { ASSAY_RECORD_MAX_FACTS = 1024 };
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_machine(assay_record *record,
                                                               const char *key, const char *value,
                                                               assay_validity validity);

/* The same for the settings of a study, whose values are always known. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_setting(assay_record *record,
                                                               const char *key, const char *value);

/* The same for the parameters of a subject that belongs, or will belong, to the record. Each call
 * replaces the array of parameters in `subject`. A copy of the subject keeps the old array, so add
 * all parameters before you copy the subject. */
enum { ASSAY_RECORD_MAX_PARAMETERS = 64 };
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_parameter(assay_record *record,
                                                                 assay_record_subject *subject,
                                                                 const char *key,
                                                                 const char *value);
/* The same for the settings of a model. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_add_model_setting(assay_record *record,
                                                                     assay_record_model *model,
                                                                     const char *key,
                                                                     const char *value);

#ifdef __cplusplus
}
#endif

#endif
