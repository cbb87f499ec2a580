/* The passes of a model with every sample: what the short forms of profile.h sum up. */
#ifndef ASSAY_MODELS_PROFILE_PASSES_H
#define ASSAY_MODELS_PROFILE_PASSES_H

#include "assay/profile.h"
#include "assay/record.h"

/* Time every pass that the class and the target allow, in turns: the record has the subjects
 * "forward", "gradient" (forward and backward together) and "training_step" (gradient and update),
 * in this order. Caller frees it. */
ASSAY_MUST_USE assay_status assay__passes_sample(const assay_profile_target *target,
                                                 const assay_sampling_options *options,
                                                 assay_error *error, assay_record **record);

/* One gradient with the loss of the target, and one step of its optimizer unless the rate is
 * ASSAY__NO_UPDATE. The model trains as before afterwards. */
#define ASSAY__NO_UPDATE (-1.0)
ASSAY_MUST_USE assay_status assay__passes_train(const assay_profile_target *target,
                                                double learning_rate, assay_error *error);

/* Gradient less forward, two subjects that took turns: see assay_profile_backward(). */
ASSAY_MUST_USE assay_status assay__passes_subtract(const assay_record_subject *gradient,
                                                   const assay_record_subject *forward,
                                                   assay_timing *timing);

#endif
