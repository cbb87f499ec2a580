/* The elementwise part of a gated recurrent unit (Cho et al. 2014) as PyTorch's nn.GRU has it:
 *     r = sigmoid(gi_r + gh_r)    z = sigmoid(gi_z + gh_z)    n = tanh(gi_n + r gh_n)
 *     h' = (1 - z) n + z h
 * with gi = W_ih x + b_ih and gh = W_hh h + b_hh, each (rows, 3 hidden) in the order r, z, n. */
#ifndef ASSAY_MODELS_ROAD_GRU_H
#define ASSAY_MODELS_ROAD_GRU_H

#include <stdint.h>

/* gates (rows, 3 hidden) = r, z, n; next (rows, hidden). gh has the row stride gh_stride. gates may
 * be gi. */
void assay__gru_gates(int64_t rows, int64_t hidden, const float *gi, const float *gh,
                      int64_t gh_stride, const float *previous, float *gates, float *next);

/* From dh (rows, hidden): dgi and dgh (rows, 3 hidden), and dprevious (rows, hidden) but for what
 * comes through gh. dprevious may be dh. */
void assay__gru_gates_backward(int64_t rows, int64_t hidden, const float *dh, const float *gates,
                               const float *gh, const float *previous, float *dgi, float *dgh,
                               float *dprevious);

#endif
