/* Sweeps of the study "fields": variants of a model with several depths, several activations, or
 * several grids of its splines. */
#ifndef ASSAY_STUDIES_FIELDS_SWEEP_H
#define ASSAY_STUDIES_FIELDS_SWEEP_H

#include "studies/fields/findings.h"

enum { ASSAY__FIELDS_MAX_VARIANTS = 36 };

/* A variant of a model, such as "MLP depth 2 tanh", "SIREN depth 2" or "KAN grid 4". */
typedef struct assay__fields_variant {
    char name[ASSAY__FIELDS_NAME_BYTES];
    size_t model;
    assay__setting settings[2];
    size_t setting_count;
} assay__fields_variant;

/* List every combination that the options ask for. There are none without --sweep and its lists.
 * ASSAY_E_ARGUMENT if a list is wrong, or if there are too many variants. */
ASSAY_MUST_USE assay_status
assay__fields_variants(const assay__fields_options *options, assay_error *error,
                       assay__fields_variant variants[ASSAY__FIELDS_MAX_VARIANTS], size_t *count);

/* Train the variant on every function. Adds its figures "time", "rmse" (the mean), "parameters" and
 * "functions_converged". `step` is as for assay__fields_train(). */
ASSAY_MUST_USE assay_status assay__fields_train_variant(const assay__fields_step *step,
                                                        const assay__fields_variant *variant,
                                                        const assay__fields_options *options,
                                                        assay_error *error);

/* ---- showing ---- */

/* Print the timing summary of all variants, and a table of their cost and accuracy. */
ASSAY_MUST_USE assay_status assay__fields_sweep_print(const assay_record *record,
                                                      const assay__fields_variant *variants,
                                                      size_t count, FILE *stream);
/* Write a CSV file with the columns variant, parameters, time, rmse, functions_converged. */
ASSAY_MUST_USE assay_status assay__fields_sweep_save(const assay_record *record,
                                                     const assay__fields_variant *variants,
                                                     size_t count, const char *path,
                                                     assay_error *error);

#endif
