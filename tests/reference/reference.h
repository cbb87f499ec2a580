/* The models as plain loops in double, as their formulas read. The unit tests compare the fast code
 * of models/ with them. The shapes and meanings of arguments are those of the function of the same
 * name in models/, unless stated otherwise. */
#ifndef ASSAY_TESTS_REFERENCE_REFERENCE_H
#define ASSAY_TESTS_REFERENCE_REFERENCE_H

#include "models/field/kan.h"
#include "models/field/mlp.h"
#include "models/graph/attention.h"
#include "models/graph/encoding.h"
#include "models/kernel/activation.h"
#include "models/kernel/matmul.h"
#include "models/road/next_road.h"
#include "models/sequence/lstm.h"
#include "models/sequence/mvar.h"

double reference_activate(assay__activation kind, double x);
double reference_activate_slope(assay__activation kind, double x);

void reference_matmul(int64_t m, int64_t n, int64_t k, float alpha, assay__matrix a,
                      assay__matrix b, float beta, float *c, int64_t c_stride);

/* `values` and `gradient` (parameter count) are in the order of the network's parameters. Pass NULL
 * for `gradient` if you do not need it. y (rows, output) is written. Returns the mean squared error
 * against target, or NaN when out of memory. B-splines are computed by the recursion of Cox and de
 * Boor. */
double reference_mlp(const assay__mlp_shape *shape, const double *values, int64_t rows,
                     const float *x, const float *target, double *y, double *gradient);
double reference_kan(const assay__kan_shape *shape, const double *values, int64_t rows,
                     const float *x, const float *target, double *y, double *gradient);

/* `weights` (heads, nodes, nodes) is 0 between nodes that do not attend to each other. Pass NULL if
 * you do not need it. Fails with ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status reference_attention(const assay__attention *attention, const float *qkv,
                                                double *output, double *weights);

/* y is (nodes, steps). Fails with ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status reference_encode_walk(const assay__graph *graph, int64_t steps,
                                                  double *y);

/* Like assay__lstm_forecast(): y is (batch, steps, output). With 1 step it is forward(). Fails with
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status reference_lstm(const assay__lstm *model, int64_t batch, int64_t time,
                                           const float *x, int64_t steps, double *y);

void reference_mvar_forecast(const assay__mvar *model, int64_t batch, int64_t time,
                             const double *series, int64_t steps, double *forecast);
/* The same as assay__gram_accumulate(). */
void reference_gram_accumulate(int64_t count, int64_t dim, int64_t width, const double *series,
                               double *products);

/* Computes the loss and, if `probability` is not NULL, the probabilities (C). `parameters` holds
 * all parameters in order, as model->parameters.values does. Fails with ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status reference_next_road(const assay__next_road_shape *shape,
                                                const double *parameters,
                                                const assay__road_batch *batch, double *probability,
                                                double *loss);

#endif
