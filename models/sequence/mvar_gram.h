/* Sums of lagged products of a series: all that a least-squares fit of an MVAR needs to know of it.
 */
#ifndef ASSAY_MODELS_SEQUENCE_MVAR_GRAM_H
#define ASSAY_MODELS_SEQUENCE_MVAR_GRAM_H

#include <stdint.h>

enum {
    ASSAY__GRAM_ROWS = 4,     /* a tile of products held in registers: so many rows */
    ASSAY__GRAM_COLUMNS = 16, /* and columns */
};

/* (rows, columns) of `products` for a window of `width` and its last `dim` values: both rounded up
 * to whole tiles. */
int64_t assay__gram_rows(int64_t dim);
int64_t assay__gram_columns(int64_t width);

/* products (assay__gram_rows(dim), assay__gram_columns(width)) += sum over t of x_t w_t^T, where
 * w_t (width) = series[t dim ...] is the window that starts with step t, its neighbours'
 * overlapping, and x_t (dim) its last step. t = 0 ... count - 1. Rows past dim and columns past
 * width get products of whatever lies there: ASSAY__GRAM_COLUMNS doubles behind the series must be
 * readable. */
void assay__gram_accumulate(int64_t count, int64_t dim, int64_t width, const double *series,
                            double *products);

#endif
