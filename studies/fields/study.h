/* The study "fields": MLP, SIREN and KAN, with about the same number of parameters, learn nine
 * functions of two variables. The study shows how long each training took, how accurate the model
 * became, and when it converged.
 *
 * The study writes these files to the plan's folder:
 *     fields_timing.csv, fields_timing.json    seconds of each model over all functions
 *     accuracy.csv                             function, model, parameters, losses and errors
 *     results.json                             all results except the sweep
 *     sweep.csv                                with a sweep: cost and accuracy of each variant
 *     record.json                              the run record; the files above are views of it
 *     .study/MODEL_on_FUNCTION.json            the record of one training, for resuming */
#ifndef ASSAY_STUDIES_FIELDS_STUDY_H
#define ASSAY_STUDIES_FIELDS_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "studies/common/frame.h"

typedef struct assay__fields_options {
    int64_t epochs;        /* of each training; 0: 200, quick 30 */
    int64_t samples;       /* random points to learn from; 0: 4096, quick 1024 */
    double threshold;      /* a training has converged at this loss; 0: 0.01 */
    const char *baseline;  /* of speed-ups: "MLP", "SIREN" or "KAN"; NULL: the slowest */
    const char *json_path; /* a copy of results.json; "-": standard output; NULL: none */
    /* After the three models, train variants of them on all functions: MLP at each depth with each
     * activation, SIREN at each depth, KAN on each grid. Giving one of the lists below, such as
     * "2,3,4", also turns the sweep on; the other lists then have their defaults. */
    bool sweep;
    const char *depths;      /* NULL: 2,3,4 */
    const char *activations; /* NULL: relu,tanh,gelu */
    const char *grids;       /* NULL: 4,8,16 */
} assay__fields_options;

/* Whether the options ask for a sweep. */
static inline bool assay__fields_sweeps(const assay__fields_options *options)
{
    return options->sweep || options->depths != NULL || options->activations != NULL ||
           options->grids != NULL;
}

/* Run the study. It fills in the settings and the steps of `plan`. ASSAY_E_ARGUMENT if the options
 * make no sense; ASSAY_E_STATE if the user interrupts the study or the folder belongs to something
 * else. */
ASSAY_MUST_USE assay_status assay__fields_run(const assay__study_plan *plan,
                                              const assay__fields_options *options,
                                              assay_error *error);

#endif
