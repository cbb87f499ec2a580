/* The elementwise parts of a GRU and of an LSTM. The compiler vectorises over the units. A loop
 * that computed a unit from beginning to end would be a chain of some hundred operations, each of
 * which waits for the one before it. So each row takes several loops: first the gates that need no
 * other gate, then what is made of them. The slopes of an LSTM's gates are computed from the
 * activated gates (s (1 - s), 1 - t^2), as PyTorch does, because our gradients are compared with
 * PyTorch's. */
#include "models/kernel/elementary.h"
#include "models/kernel/level/level.h"

void ASSAY__AT(gru_gates)(int64_t rows, int64_t hidden, const float *gi, const float *gh,
                          int64_t gh_stride, const float *previous, float *gates, float *next)
{
    const float bound = assay__exp_bound();
    for (int64_t row = 0; row < rows; row++) {
        const float *in = gi + row * 3 * hidden, *rec = gh + row * gh_stride;
        const float *old = previous + row * hidden;
        float *gate = gates + row * 3 * hidden, *out = next + row * hidden;
        ASSAY__LANES
        for (int64_t j = 0; j < 2 * hidden; j++)
            gate[j] = assay__gate1(in[j] + rec[j], bound);
        ASSAY__LANES
        for (int64_t j = 0; j < hidden; j++) {
            float n = assay__tanh1(in[2 * hidden + j] + gate[j] * rec[2 * hidden + j]);
            gate[2 * hidden + j] = n;
            out[j] = n + gate[hidden + j] * (old[j] - n);
        }
    }
}

/* (1 - z) n + z h with z = 1 / (1 + b) and n = (e - 1) / (e + 1) is one fraction, so there are two
 * divisions where gru_gates() has three. The gate n waits for r, which would leave the processor
 * idle, so a loop over all rows first computes the exponentials of r and z. */
void ASSAY__AT(gru_advance)(int64_t rows, int64_t hidden, const float *gi, const int32_t *gi_row,
                            const float *gh, const int32_t *gh_row, const float *previous,
                            float *restrict powers, float *restrict next)
{
    const float bound = assay__exp_bound();
    for (int64_t row = 0; row < rows; row++) {
        const float *in = gi + gi_row[row] * 3 * hidden, *rec = gh + gh_row[row] * 3 * hidden;
        ASSAY__LANES
        for (int64_t j = 0; j < 2 * hidden; j++)
            powers[row * 2 * hidden + j] = assay__exp_bounded(-(in[j] + rec[j]), bound);
    }
    for (int64_t row = 0; row < rows; row++) {
        const float *in = gi + (gi_row[row] * 3 + 2) * hidden;
        const float *rec = gh + (gh_row[row] * 3 + 2) * hidden;
        const float *old = previous + gh_row[row] * hidden, *power = powers + row * 2 * hidden;
        float *out = next + row * hidden;
        ASSAY__LANES
        for (int64_t j = 0; j < hidden; j++) {
            float r = 1 / (1 + power[j]), b = power[hidden + j];
            float e = assay__exp_bounded(2 * (in[j] + r * rec[j]), bound);
            out[j] = (old[j] * (e + 1) + b * (e - 1)) / ((1 + b) * (e + 1));
        }
    }
}

void ASSAY__AT(gru_gates_backward)(int64_t rows, int64_t hidden, const float *dh,
                                   const float *gates, const float *gh, const float *previous,
                                   float *dgi, float *dgh, float *dprevious)
{
    for (int64_t row = 0; row < rows; row++) {
        const float *gate = gates + row * 3 * hidden, *rec = gh + row * 3 * hidden;
        const float *old = previous + row * hidden, *slope = dh + row * hidden;
        float *din = dgi + row * 3 * hidden, *drec = dgh + row * 3 * hidden;
        float *dold = dprevious + row * hidden;
        ASSAY__LANES
        for (int64_t j = 0; j < hidden; j++) {
            float r = gate[j], z = gate[hidden + j], n = gate[2 * hidden + j];
            float d = slope[j];
            float dn = d * (1 - z) * (1 - n * n);
            float dz = d * (old[j] - n) * z * (1 - z);
            float dr = dn * rec[2 * hidden + j] * r * (1 - r);
            dold[j] = d * z;
            din[j] = drec[j] = dr;
            din[hidden + j] = drec[hidden + j] = dz;
            din[2 * hidden + j] = dn;
            drec[2 * hidden + j] = dn * r;
        }
    }
}

/* Activates the gates of one row, in the order i, f, g, o. */
ASSAY__ELEMENT void activate_gates(int64_t n, float bound, const float *restrict bias,
                                   float *restrict gates)
{
    ASSAY__LANES
    for (int64_t j = 0; j < 2 * n; j++)
        gates[j] = assay__gate1(gates[j] + bias[j], bound);
    ASSAY__LANES
    for (int64_t j = 2 * n; j < 3 * n; j++)
        gates[j] = assay__tanh1(gates[j] + bias[j]);
    ASSAY__LANES
    for (int64_t j = 3 * n; j < 4 * n; j++)
        gates[j] = assay__gate1(gates[j] + bias[j], bound);
}

void ASSAY__AT(lstm_cell_forward)(int64_t batch, int64_t hidden_dim, const float *bias,
                                  float *restrict gates, const float *cell_before,
                                  float *restrict cell, float *restrict tanh_cell,
                                  float *restrict hidden)
{
    const float bound = assay__exp_bound();
    int64_t n = hidden_dim;
    for (int64_t b = 0; b < batch; b++) {
        float *row = gates + 4 * b * n;
        activate_gates(n, bound, bias, row);
        ASSAY__LANES
        for (int64_t j = 0; j < n; j++) {
            float c = row[n + j] * cell_before[b * n + j] + row[j] * row[2 * n + j];
            float t = assay__tanh1(c);
            cell[b * n + j] = c;
            tanh_cell[b * n + j] = t;
            hidden[b * n + j] = row[3 * n + j] * t;
        }
    }
}

void ASSAY__AT(lstm_cell_advance)(int64_t batch, int64_t hidden_dim, const float *bias,
                                  float *restrict gates, float *restrict cell,
                                  float *restrict hidden)
{
    const float bound = assay__exp_bound();
    int64_t n = hidden_dim;
    for (int64_t b = 0; b < batch; b++) {
        float *row = gates + 4 * b * n;
        activate_gates(n, bound, bias, row);
        ASSAY__LANES
        for (int64_t j = 0; j < n; j++) {
            float c = row[n + j] * cell[b * n + j] + row[j] * row[2 * n + j];
            cell[b * n + j] = c;
            hidden[b * n + j] = row[3 * n + j] * assay__tanh1(c);
        }
    }
}

void ASSAY__AT(lstm_cell_backward)(int64_t batch, int64_t hidden_dim, const float *dh,
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
