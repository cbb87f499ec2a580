/* Default numbers of runs, for callers that give none. */
#ifndef ASSAY_MODELS_PROFILE_RUNS_H
#define ASSAY_MODELS_PROFILE_RUNS_H

#include "assay/sampling.h"
#include "base/struct_size.h"

/* Copy the options, which may be NULL, and fill in `runs` and `warmup` where they leave them
 * open. */
static inline ASSAY_MUST_USE assay_status assay__runs_take(const assay_sampling_options *given,
                                                           size_t runs, size_t warmup,
                                                           assay_error *error,
                                                           assay_sampling_options *options)
{
    assay_status status =
        assay__struct_take(options, sizeof *options, given, "assay_sampling_options", error);
    if (status == ASSAY_OK && options->runs == 0)
        options->runs = runs;
    if (status == ASSAY_OK && options->warmup == 0 && !options->no_warmup)
        options->warmup = warmup;
    return status;
}

#endif
