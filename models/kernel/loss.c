#include "models/kernel/loss.h"

#include <math.h>
#include <string.h>

#include "models/kernel/elementary.h"

ASSAY__SIMD double assay__mse(int64_t count, const float *y, const float *target, float *dy)
{
    double sum = 0;
    ASSAY__SUM(sum)
    for (int64_t i = 0; i < count; i++) {
        float difference = y[i] - target[i];
        sum += (double)difference * (double)difference;
    }
    if (dy != NULL) {
        float scale = (float)(2 / (double)count);
        ASSAY__LANES
        for (int64_t i = 0; i < count; i++)
            dy[i] = scale * (y[i] - target[i]);
    }
    return sum / (double)count;
}

/* -log softmax(row)[class]; d = (softmax - one-hot) scale, d NULL: not wanted. */
ASSAY__SIMD static double row_loss(int64_t classes, const float *row, int64_t class_, float scale,
                                   float *d)
{
    float most = assay__largest(classes, row);
    double loss = (double)most - (double)row[class_];
    float sum = 0;
    ASSAY__SUM(sum)
    for (int64_t j = 0; j < classes; j++)
        sum += assay__exp_negative(row[j] - most);
    if (d != NULL) {
        float factor = scale / sum;
        ASSAY__LANES
        for (int64_t j = 0; j < classes; j++)
            d[j] = factor * assay__exp_negative(row[j] - most);
        d[class_] -= scale;
    }
    return loss + log((double)sum);
}

double assay__cross_entropy(int64_t rows, int64_t classes, const float *logits,
                            const int64_t *class_of_row, float *dlogits)
{
    int64_t counted = 0;
    for (int64_t i = 0; i < rows; i++)
        counted += class_of_row[i] >= 0;
    float scale = counted == 0 ? 0 : (float)(1 / (double)counted);
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) {
        float *d = dlogits == NULL ? NULL : dlogits + i * classes;
        if (class_of_row[i] >= 0)
            sum += row_loss(classes, logits + i * classes, class_of_row[i], scale, d);
        else if (d != NULL)
            memset(d, 0, (size_t)classes * sizeof *d);
    }
    return counted == 0 ? 0 : sum / (double)counted;
}
