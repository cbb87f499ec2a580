/* The reduced-order-model study. Fields in space and time are reduced to a few amplitudes, which an
 * MVAR and an LSTM forecast. The study measures the cost of training and inference of both models,
 * and tells which is faster, with a test of significance.
 *
 *     1    data         trajectories (count, time, features), made up or loaded
 *     2    reduce       proper orthogonal decomposition of the training trajectories
 *     3    train        MVAR by least squares, LSTM by Adam on stretches, both timed
 *     4    evaluate     forecasts of the test trajectories, compared with repeating the last value
 *     4.5  benchmark    single steps and whole forecasts of both models, interleaved
 *
 * The study writes to <out>/<experiment>/ the run record record.json and views of it, which are
 * MVAR/runtime_profile.json, LSTM/runtime_profile.json, runtime_comparison.json and summary.json.
 * The files that are needed to resume are in .study there. */
#ifndef ASSAY_STUDIES_ROM_STUDY_H
#define ASSAY_STUDIES_ROM_STUDY_H

#include "studies/common/frame.h"

typedef struct assay__rom_settings {
    const char *data;   /* .npy (trajectories, time, features) or (time, features); NULL: made up */
    int64_t latent_dim; /* number of amplitudes that are kept */
    int64_t lag;        /* MVAR: order */
    int64_t hidden_size, num_layers, window, epochs, batch; /* LSTM */
    double learning_rate;                                   /* of the first batch; it falls */
    const char *device;                                     /* of the LSTM; NULL: the processor */
    int64_t n_steps;                                        /* of a forecast */
    int64_t n_trials;      /* samples of each subject of the benchmark */
    double budget_seconds; /* of all samples together */
} assay__rom_settings;

/* The default settings, with or without --quick. */
assay__rom_settings assay__rom_defaults(bool quick);

/* Run the study. `plan` needs study, experiment, folder, seed and streams; the study fills in steps
 * and settings. A copy of summary.json goes to `summary_path`, unless that is NULL. If it is "-",
 * the copy goes to standard output, and the report is not printed. */
ASSAY_MUST_USE assay_status assay__study_rom(assay__study_plan plan,
                                             const assay__rom_settings *settings,
                                             const char *summary_path, assay_error *error);

#endif
