/* The study "fields": MLP, SIREN and KAN, with about as many parameters each, learn nine functions
 * of two variables; what each took, how well it did, when it got there.
 *
 * Files, in the plan's folder:
 *     fields_timing.csv, fields_timing.json    seconds of each model over all functions (seed B)
 *     accuracy.csv                             function, model, parameters, losses and errors
 *     results.json                             all of it
 *     record.json                              the run record, of which all others are views
 *     .study/MODEL_on_FUNCTION.json            the record of one training, to go on from */
#ifndef ASSAY_STUDIES_FIELDS_STUDY_H
#define ASSAY_STUDIES_FIELDS_STUDY_H

#include <stdint.h>

#include "studies/common/frame.h"

typedef struct assay__fields_options {
    int64_t epochs;        /* of each training; 0: 200, quick 30 */
    int64_t samples;       /* random points to learn from; 0: 4096, quick 1024 */
    double threshold;      /* a training has converged at this loss; 0: 0.01 */
    const char *baseline;  /* "MLP", "SIREN", "KAN" of the speed-up; NULL: the slowest */
    const char *json_path; /* a copy of results.json; "-": standard output; NULL: none */
} assay__fields_options;

/* `plan` without settings and steps, which are the study's own. ASSAY_E_ARGUMENT for options that
 * make no sense, ASSAY_E_STATE when interrupted or for somebody else's folder. */
ASSAY_MUST_USE assay_status assay__fields_run(const assay__study_plan *plan,
                                              const assay__fields_options *options,
                                              assay_error *error);

#endif
