/* Losses as PyTorch defines them: MSELoss, L1Loss, BCEWithLogitsLoss, and CrossEntropyLoss with
 * probabilities as targets, each reduced by its mean. The squared error has a kernel of its own.
 * The others are plain loops, because an output is small beside the model that computed it. */
#include "models/kernel/loss.h"

#include <math.h>

#include "models/kernel/kernels.h"

static double absolute_error(int64_t count, const float *y, const float *target, float *dy)
{
    double sum = 0;
    const float slope = 1.0F / (float)count;
    for (int64_t i = 0; i < count; i++) {
        float difference = y[i] - target[i];
        sum += fabsf(difference);
        dy[i] = difference > 0 ? slope : difference < 0 ? -slope : 0;
    }
    return sum / (double)count;
}

/* The mean of log(1 + exp(y)) - target y, written in the form that does not overflow. */
static double binary_cross_entropy(int64_t count, const float *y, const float *target, float *dy)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double logit = y[i], tail = exp(-fabs(logit));
        double probability = logit >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
        sum += fmax(logit, 0) - logit * target[i] + log1p(tail);
        dy[i] = (float)((probability - target[i]) / (double)count);
    }
    return sum / (double)count;
}

/* The mean over the rows of -sum_i target_i log softmax(y)_i. */
static double cross_entropy(int64_t rows, int64_t width, const float *y, const float *target,
                            float *dy)
{
    double likelihood = 0;
    for (int64_t r = 0; r < rows; r++, y += width, target += width, dy += width) {
        double largest = y[0], total = 0, weight = 0;
        for (int64_t i = 1; i < width; i++) /* with fmax(), gcc 12 fails for AArch64 */
            largest = y[i] > largest ? y[i] : largest;
        for (int64_t i = 0; i < width; i++)
            total += exp(y[i] - largest);
        const double offset = largest + log(total);
        for (int64_t i = 0; i < width; i++) {
            weight += target[i];
            likelihood += target[i] * (y[i] - offset);
        }
        for (int64_t i = 0; i < width; i++)
            dy[i] = (float)((weight * exp(y[i] - largest) / total - target[i]) / (double)rows);
    }
    return -likelihood / (double)rows;
}

double assay__loss(assay_loss loss, int64_t rows, int64_t width, const float *y,
                   const float *target, float *dy)
{
    switch (loss) {
    case ASSAY_LOSS_L1:
        return absolute_error(rows * width, y, target, dy);
    case ASSAY_LOSS_BINARY_CROSS_ENTROPY:
        return binary_cross_entropy(rows * width, y, target, dy);
    case ASSAY_LOSS_CROSS_ENTROPY:
        return cross_entropy(rows, width, y, target, dy);
    case ASSAY_LOSS_MSE:
        break;
    }
    return assay__mse(rows * width, y, target, dy);
}
