/* The study "fields": MLP, SIREN and KAN, with about as many parameters each, learn nine functions
 * of two variables; how long each took, how accurate it became, and when it converged.
 *
 * Files, in the plan's folder:
 *     fields_timing.csv, fields_timing.json    seconds of each model over all functions
 *     accuracy.csv                             function, model, parameters, losses and errors
 *     results.json                             all of it but the sweep
 *     sweep.csv                                with a sweep: cost and accuracy of each variant
 *     record.json                              the run record, of which all others are views
 *     .study/MODEL_on_FUNCTION.json            the record of one training, to go on from */
#ifndef ASSAY_STUDIES_FIELDS_STUDY_H
#define ASSAY_STUDIES_FIELDS_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "studies/common/frame.h"

typedef struct assay__fields_options {
    int64_t epochs;        /* of each training; 0: 200, quick 30 */
    int64_t samples;       /* random points to learn from; 0: 4096, quick 1024 */
    double threshold;      /* a training has converged at this loss; 0: 0.01 */
    const char *baseline;  /* "MLP", "SIREN", "KAN" of the speed-up; NULL: the slowest */
    const char *json_path; /* a copy of results.json; "-": standard output; NULL: none */
    /* After the three models, train variants of them on all functions: MLP and SIREN at each depth,
     * MLP with each activation, KAN on each grid. A list of its own, "2,3,4", turns the sweep on as
     * well; the other lists then have their defaults. */
    bool sweep;
    const char *depths;      /* NULL: 2,3,4 */
    const char *activations; /* NULL: relu,tanh,gelu */
    const char *grids;       /* NULL: 4,8,16 */
} assay__fields_options;

static inline bool assay__fields_sweeps(const assay__fields_options *options)
{
    return options->sweep || options->depths != NULL || options->activations != NULL ||
           options->grids != NULL;
}

/* `plan` without settings and steps, which are the study's own. ASSAY_E_ARGUMENT for options that
 * make no sense, ASSAY_E_STATE when interrupted or for somebody else's folder. */
ASSAY_MUST_USE assay_status assay__fields_run(const assay__study_plan *plan,
                                              const assay__fields_options *options,
                                              assay_error *error);

#endif
