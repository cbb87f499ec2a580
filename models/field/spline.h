/* B-splines on the uniform knots of kan.h, and their derivatives, of many values at once. */
#ifndef ASSAY_MODELS_FIELD_SPLINE_H
#define ASSAY_MODELS_FIELD_SPLINE_H

#include <stdint.h>

typedef struct assay__spline {
    int64_t grid;  /* intervals on [-1, 1] */
    int64_t order; /* 1 to 5 */
} assay__spline;

/* Basis functions: grid + order. */
static inline int64_t assay__spline_functions(assay__spline spline)
{
    return spline.grid + spline.order;
}

/* basis (functions, count; row stride `stride`): row c is B_c of each of x (count). */
void assay__spline_basis(assay__spline spline, int64_t count, const float *x, float *basis,
                         int64_t stride);

/* dx (count) += sum over c of dbasis (functions, count; row stride `stride`) times B_c'(x). */
void assay__spline_backward(assay__spline spline, int64_t count, const float *x,
                            const float *dbasis, int64_t stride, float *dx);

#endif
