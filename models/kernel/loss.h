/* Losses: the distance of a model's output from its target, and the gradient of the loss with
 * respect to the output. */
#ifndef ASSAY_MODELS_KERNEL_LOSS_H
#define ASSAY_MODELS_KERNEL_LOSS_H

#include <stdint.h>

#include "assay/model.h"

/* Returns the loss of y against target, both (rows, width), and writes its gradient to dy of the
 * same shape. The mean is taken as assay_loss says. */
double assay__loss(assay_loss loss, int64_t rows, int64_t width, const float *y,
                   const float *target, float *dy);

#endif
