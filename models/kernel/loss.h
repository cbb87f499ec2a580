/* Losses: the distance of an output from its target, and its gradient with respect to the output.
 */
#ifndef ASSAY_MODELS_KERNEL_LOSS_H
#define ASSAY_MODELS_KERNEL_LOSS_H

#include <stdint.h>

#include "assay/model.h"

/* The loss of y against target, (rows, width) each, and its slope dy of the same shape. Means are
 * those of assay_loss. */
double assay__loss(assay_loss loss, int64_t rows, int64_t width, const float *y,
                   const float *target, float *dy);

#endif
