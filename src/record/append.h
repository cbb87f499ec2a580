/* Copies parts of one record into another, and finds items by name. */
#ifndef ASSAY_RECORD_APPEND_H
#define ASSAY_RECORD_APPEND_H

#include "assay/record.h"

/* Append copies of the settings, subjects, models, figures, series, scalings and comparisons of
 * `from`. A setting or model that `into` has under the same name is replaced. Rounds are
 * renumbered, so that samples of the two records do not become pairs. */
ASSAY_MUST_USE assay_status assay__record_append(assay_record *into, const assay_record *from);

/* Append a copy of one subject, with its rounds. */
ASSAY_MUST_USE assay_status assay__record_append_subject(assay_record *into,
                                                         const assay_record_subject *subject);

/* Append a copy of one subject with this origin and without its rounds, because rounds pair samples
 * only within one record. */
ASSAY_MUST_USE assay_status assay__record_append_alone(assay_record *into,
                                                       const assay_record_subject *subject,
                                                       const char *origin);

/* Give `whole` every measure that all of the parts have. The samples of `whole` must be the samples
 * of the parts, one after another. Measures that `whole` had before are replaced. */
ASSAY_MUST_USE assay_status assay__record_join_measures(assay_record *record,
                                                        const assay_record_subject *const *parts,
                                                        size_t count, assay_record_subject *whole);

/* The first item with this name, or NULL. A series or figure must also belong to `of`; NULL stands
 * for those of the whole run. */
const assay_record_subject *assay__record_find_subject(const assay_record *record,
                                                       const char *name);
const assay_record_model *assay__record_find_model(const assay_record *record, const char *name);
const assay_record_series *assay__record_find_series(const assay_record *record, const char *name,
                                                     const char *of);
/* The samples of this measure of the subject, or NULL. */
const double *assay__record_measure_samples(const assay_record_subject *subject,
                                            const char *metric);
/* The value of this setting, or NULL. */
const char *assay__record_setting(const assay_record *record, const char *key);

/* The value of the figure, or "not measured" if there is none. */
assay_reading assay__record_figure(const assay_record *record, const char *name, const char *of);

#endif
