/* Samples the passes of a model and returns every sample. The calls of profile.h return summaries
 * of these samples. */
#ifndef ASSAY_MODELS_PROFILE_PASSES_H
#define ASSAY_MODELS_PROFILE_PASSES_H

#include "assay/profile.h"
#include "assay/record.h"

/* Time every pass that the class and the target allow, one sample of each in turn. The record has
 * the subjects "forward", "gradient" (forward and backward together) and "training_step" (gradient
 * and update), in this order. Free it with assay_record_free(). */
ASSAY_MUST_USE assay_status assay__passes_sample(const assay_profile_target *target,
                                                 const assay_sampling_options *options,
                                                 assay_error *error, assay_record **record);

/* Compute one gradient with the target's loss and, unless the learning rate is ASSAY__NO_UPDATE,
 * make one step of the target's optimizer. Afterwards the model has its own loss and optimizer
 * again. */
#define ASSAY__NO_UPDATE (-1.0)
ASSAY_MUST_USE assay_status assay__passes_train(const assay_profile_target *target,
                                                double learning_rate, assay_error *error);

/* Subtract the times of `forward` from those of `gradient`, sample by sample. Both must have been
 * sampled in turn. assay_profile_backward() says which figures the result has. */
ASSAY_MUST_USE assay_status assay__passes_subtract(const assay_record_subject *gradient,
                                                   const assay_record_subject *forward,
                                                   assay_timing *timing);

#endif
