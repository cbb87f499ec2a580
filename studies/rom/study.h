/* The reduced-order-model study: fields in space and time, reduced to a few amplitudes, forecast by
 * an MVAR and by an LSTM; what each costs in training and inference, and which is faster, with
 * significance.
 *
 *     1    data         trajectories (count, time, features), made up or loaded
 *     2    reduce       proper orthogonal decomposition of the training trajectories
 *     3    train        MVAR by least squares, LSTM by Adam on stretches, both timed
 *     4    evaluate     forecasts of the test trajectories, beside the last value as a forecast
 *     4.5  benchmark    single steps and whole forecasts of both models, interleaved
 *
 * Written below <out>/<experiment>/: the run record record.json, and views of it, which are
 * MVAR/runtime_profile.json, LSTM/runtime_profile.json, runtime_comparison.json and summary.json;
 * what resuming needs stands in .study there. */
#ifndef ASSAY_STUDIES_ROM_STUDY_H
#define ASSAY_STUDIES_ROM_STUDY_H

#include "studies/common/frame.h"

typedef struct assay__rom_settings {
    const char *data;   /* .npy (trajectories, time, features) or (time, features); NULL: made up */
    int64_t latent_dim; /* amplitudes kept */
    int64_t lag;        /* MVAR: order */
    int64_t hidden_size, num_layers, window, epochs, batch; /* LSTM */
    double learning_rate;                                   /* at first; it falls */
    const char *device;                                     /* of the LSTM; NULL: the processor */
    int64_t n_steps;                                        /* forecast */
    int64_t n_trials;      /* samples of each subject of the benchmark */
    double budget_seconds; /* of all samples together */
} assay__rom_settings;

/* The defaults, those of --quick included. */
assay__rom_settings assay__rom_defaults(bool quick);

/* `plan` needs study, experiment, folder, seed and streams; steps and settings are filled here.
 * `summary_path` (NULL: none) gets a copy of summary.json, "-" for plan->output. */
ASSAY_MUST_USE assay_status assay__study_rom(assay__study_plan plan,
                                             const assay__rom_settings *settings,
                                             const char *summary_path, assay_error *error);

#endif
