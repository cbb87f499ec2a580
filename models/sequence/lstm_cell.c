/* Four gates, the cell and its output in one pass over memory; the compiler vectorises over units.
 * Slopes are taken from the activated gates (s (1 - s), 1 - t^2), as PyTorch does: the agreement
 * asked for is with its gradients. */
#include "models/kernel/elementary.h"
#include "models/sequence/lstm_state.h"

ASSAY__SIMD void assay__lstm_cell_forward(int64_t batch, int64_t hidden_dim, const float *bias,
                                          float *restrict gates, const float *cell_before,
                                          float *restrict cell, float *restrict tanh_cell,
                                          float *restrict hidden)
{
    int64_t n = hidden_dim;
    for (int64_t b = 0; b < batch; b++) {
        float *row = gates + 4 * b * n;
        ASSAY__LANES
        for (int64_t j = 0; j < n; j++) {
            float i = assay__sigmoid1(row[j] + bias[j]);
            float f = assay__sigmoid1(row[n + j] + bias[n + j]);
            float g = assay__tanh1(row[2 * n + j] + bias[2 * n + j]);
            float o = assay__sigmoid1(row[3 * n + j] + bias[3 * n + j]);
            float c = f * cell_before[b * n + j] + i * g;
            float t = assay__tanh1(c);
            row[j] = i;
            row[n + j] = f;
            row[2 * n + j] = g;
            row[3 * n + j] = o;
            cell[b * n + j] = c;
            tanh_cell[b * n + j] = t;
            hidden[b * n + j] = o * t;
        }
    }
}

ASSAY__SIMD void assay__lstm_cell_advance(int64_t batch, int64_t hidden_dim, const float *bias,
                                          const float *gates, float *restrict cell,
                                          float *restrict hidden)
{
    int64_t n = hidden_dim;
    for (int64_t b = 0; b < batch; b++) {
        const float *row = gates + 4 * b * n;
        ASSAY__LANES
        for (int64_t j = 0; j < n; j++) {
            float i = assay__sigmoid1(row[j] + bias[j]);
            float f = assay__sigmoid1(row[n + j] + bias[n + j]);
            float g = assay__tanh1(row[2 * n + j] + bias[2 * n + j]);
            float o = assay__sigmoid1(row[3 * n + j] + bias[3 * n + j]);
            float c = f * cell[b * n + j] + i * g;
            cell[b * n + j] = c;
            hidden[b * n + j] = o * assay__tanh1(c);
        }
    }
}

ASSAY__SIMD void assay__lstm_cell_backward(int64_t batch, int64_t hidden_dim, const float *dh,
                                           const float *cell_before, const float *tanh_cell,
                                           float *restrict gates, float *restrict dcell)
{
    int64_t n = hidden_dim;
    for (int64_t b = 0; b < batch; b++) {
        float *row = gates + 4 * b * n;
        ASSAY__LANES
        for (int64_t j = 0; j < n; j++) {
            float i = row[j], f = row[n + j], g = row[2 * n + j], o = row[3 * n + j];
            float slope = dh[b * n + j], t = tanh_cell[b * n + j];
            float dc = dcell[b * n + j] + slope * o * (1 - t * t);
            row[j] = dc * g * i * (1 - i);
            row[n + j] = dc * cell_before[b * n + j] * f * (1 - f);
            row[2 * n + j] = dc * i * (1 - g * g);
            row[3 * n + j] = slope * t * o * (1 - o);
            dcell[b * n + j] = dc * f;
        }
    }
}
