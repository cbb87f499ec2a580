/* The activation functions of the graph transformer, on all threads. */
#ifndef ASSAY_MODELS_GRAPH_ACTIVATE_H
#define ASSAY_MODELS_GRAPH_ACTIVATE_H

#include <stdbool.h>
#include <stdint.h>

/* y (count) = f(x), where f is gelu or relu. x and y may be the same array. */
void assay__graph_activate(bool gelu, int64_t count, const float *x, float *y);

/* dy (count) = dy f'(x). For relu, x may also be f(x). */
void assay__graph_activate_backward(bool gelu, int64_t count, const float *x, float *dy);

#endif
