/* The vector autoregression as its formula reads. */
#include "tests/reference/reference.h"

void reference_mvar_forecast(const assay__mvar *model, int64_t batch, int64_t time,
                             const double *series, int64_t steps, double *forecast)
{
    int64_t dim = model->shape.dim;
    for (int64_t b = 0; b < batch; b++) {
        const double *past = series + b * time * dim; /* (time, dim) */
        double *future = forecast + b * steps * dim;  /* (steps, dim) */
        for (int64_t step = 0; step < steps; step++) {
            for (int64_t i = 0; i < dim; i++) {
                double sum = model->intercept[i];
                for (int64_t lag = 1; lag <= model->shape.order; lag++) {
                    const double *x = step >= lag ? future + (step - lag) * dim
                                                  : past + (time + step - lag) * dim;
                    const double *row = model->lags + ((lag - 1) * dim + i) * dim;
                    for (int64_t j = 0; j < dim; j++)
                        sum += row[j] * x[j];
                }
                future[step * dim + i] = sum;
            }
        }
    }
}

void reference_gram_accumulate(int64_t count, int64_t dim, int64_t width, const double *series,
                               double *products)
{
    for (int64_t t = 0; t < count; t++) {
        const double *window = series + t * dim, *last = window + width - dim;
        for (int64_t row = 0; row < dim; row++)
            for (int64_t column = 0; column < width; column++)
                products[row * width + column] += last[row] * window[column];
    }
}
