/* The last step of the reduced-order-model study: the accuracy of the trained models' forecasts,
 * and their cost. */
#ifndef ASSAY_STUDIES_ROM_MEASURE_H
#define ASSAY_STUDIES_ROM_MEASURE_H

#include "studies/rom/models.h"

/* The two kinds of work that are timed for each model. */
enum { ASSAY__ROM_STEP, ASSAY__ROM_FORECAST, ASSAY__ROM_WORKS };

/* The names of the subjects in the record, by work and model: "MVAR single step", … */
extern const char *const assay__rom_subjects[ASSAY__ROM_WORKS][ASSAY__ROM_MODELS];

/* The name of the trivial forecast in the record: "last value". */
extern const char assay__rom_last_value[];

/* The context of the step. */
typedef struct assay__rom_trial {
    assay__study *study;
    const assay__rom_settings *settings;
    const assay__rom_data *data;
    assay__rom_model *models; /* (ASSAY__ROM_MODELS), trained */
} assay__rom_trial;

/* An assay__study_work whose context is a trial. It adds to `found`
 *   - the sizes of "data", the "energy" of the "reduction" and the "horizon_steps" of the test;
 *   - the figures "relative_error_latent" and "relative_error_field" and the series
 *     "relative_error" of the field over the steps of the horizon, for each model and for the
 *     trivial forecast, which repeats the last step of the window;
 *   - the four subjects, and two comparisons: of single steps, and of whole forecasts;
 *   - "peak_rss_bytes" and "rss_bytes" of the process. */
ASSAY_MUST_USE assay_status assay__rom_measure(void *trial, assay_record *found,
                                               assay_error *error);

#endif
