/* The B-splines on the uniform knots of kan.h. kernels.h has the kernels for their values and
 * derivatives. */
#ifndef ASSAY_MODELS_FIELD_SPLINE_H
#define ASSAY_MODELS_FIELD_SPLINE_H

#include <stdint.h>

typedef struct assay__spline {
    int64_t grid;  /* intervals on [-1, 1] */
    int64_t order; /* 1 to 5 */
} assay__spline;

/* Returns the number of basis functions, grid + order. */
static inline int64_t assay__spline_functions(assay__spline spline)
{
    return spline.grid + spline.order;
}

#endif
