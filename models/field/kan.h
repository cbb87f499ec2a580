/* A Kolmogorov-Arnold network (Liu et al. 2024, "KAN: Kolmogorov-Arnold Networks"): every edge has
 * a learnable function of one variable, and nodes add up the values of their edges.
 *
 *     y_o = sum_i [ base_oi silu(x_i) + scaler_oi sum_c spline_oic B_c(x_i) ]
 *
 * B_0 ... B_{C-1}, C = grid + order, are the B-splines of that order (degree) on the uniform knots
 * t_j = -1 + 2 (j - order) / grid, j = 0 ... grid + 2 order: `grid` intervals on [-1, 1] and
 * `order` more on either side. The grid is fixed. Outside [t_0, t_last] all splines are 0, and only
 * the SiLU branch is left.
 *
 * The parameters follow the formulation known as efficient-KAN. Layer N has layers.N.base_weight
 * (out, in), layers.N.spline_weight (out, in, C) and, with `scaler`, layers.N.spline_scaler (out,
 * in). They are drawn as the paper says: base_weight Xavier-uniform, spline_weight normal with
 * deviation 0.1, spline_scaler 1. (Files of the Python package also hold layers.N.grid: leave it
 * out, and train on its default range.)
 *
 * assay__kan_new() is declared here; the other calls are those of neural_net.h. For order 1, the
 * derivative at a knot is the one from the right. */
#ifndef ASSAY_MODELS_FIELD_KAN_H
#define ASSAY_MODELS_FIELD_KAN_H

#include "assay/model.h"
#include "models/field/neural_net.h"

enum { ASSAY__KAN_MOST_ORDER = 5 };

typedef struct assay__kan_shape {
    int64_t input, hidden, output; /* widths, at least 1 */
    int64_t hidden_layers;         /* layers less one: 0 is one layer from input to output */
    int64_t grid;                  /* intervals on [-1, 1], at least 1 */
    int64_t order;                 /* 1 (piecewise linear) to ASSAY__KAN_MOST_ORDER */
    bool scaler;                   /* a learnable factor for each spline */
} assay__kan_shape;

/* Makes a network. ASSAY_E_ARGUMENT for a width, grid or order out of its limits;
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__kan_new(const assay__kan_shape *shape, uint64_t seed,
                                           assay_error *error, assay__neural_net **kan);

extern const assay_model_class assay__kan_class;

#endif
