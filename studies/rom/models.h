/* The two models of the reduced-order-model study: their training and their forecasts. */
#ifndef ASSAY_STUDIES_ROM_MODELS_H
#define ASSAY_STUDIES_ROM_MODELS_H

#include "assay/model.h"
#include "assay/record.h"
#include "studies/rom/data.h"

enum { ASSAY__ROM_MVAR, ASSAY__ROM_LSTM, ASSAY__ROM_MODELS };

typedef struct assay__rom_model {
    const char *name; /* "MVAR" */
    assay_model *model;
    assay_element element;
    int64_t start; /* number of steps that a forecast begins from */
    void *window;  /* (start, latent_dim), of type element: the input of a forecast */
    int64_t dim;
} assay__rom_model;

void assay__rom_model_release(assay__rom_model *model);

/* Make a model, and fit or train it as one step of the study. If an earlier run has ended the step,
 * load its weights. The call adds to `whole` the model with its settings and size, its figures
 * "training_seconds" and "final_loss" and, for the LSTM, the series "loss". */
ASSAY_MUST_USE assay_status assay__rom_mvar(assay__study *study, size_t step,
                                            const assay__rom_settings *settings,
                                            const assay__rom_data *data, assay_record *whole,
                                            assay_error *error, assay__rom_model *model);
ASSAY_MUST_USE assay_status assay__rom_lstm(assay__study *study, size_t step,
                                            const assay__rom_settings *settings,
                                            const assay__rom_data *data, assay_record *whole,
                                            assay_error *error, assay__rom_model *model);

/* Set the window of the next forecasts: the `start` steps of a trajectory before step `from`. */
void assay__rom_set_window(assay__rom_model *model, const assay__rom_data *data, int64_t trajectory,
                           int64_t from);

/* Forecast `steps` steps after the window, and discard the values. */
ASSAY_MUST_USE assay_status assay__rom_forecast(assay__rom_model *model, int64_t steps);
/* The same, but write the values to forecast (steps, latent_dim). */
ASSAY_MUST_USE assay_status assay__rom_forecast_values(assay__rom_model *model, int64_t steps,
                                                       assay_error *error, double *forecast);

#endif
