#include "models/road/gru.h"

#include "models/kernel/elementary.h"
#include "models/kernel/simd.h"

ASSAY__SIMD void assay__gru_gates(int64_t rows, int64_t hidden, const float *gi, const float *gh,
                                  int64_t gh_stride, const float *previous, float *gates,
                                  float *next)
{
    for (int64_t row = 0; row < rows; row++) {
        const float *in = gi + row * 3 * hidden, *rec = gh + row * gh_stride;
        const float *old = previous + row * hidden;
        float *gate = gates + row * 3 * hidden, *out = next + row * hidden;
        ASSAY__LANES
        for (int64_t j = 0; j < hidden; j++) {
            float r = assay__sigmoid1(in[j] + rec[j]);
            float z = assay__sigmoid1(in[hidden + j] + rec[hidden + j]);
            float n = assay__tanh1(in[2 * hidden + j] + r * rec[2 * hidden + j]);
            gate[j] = r;
            gate[hidden + j] = z;
            gate[2 * hidden + j] = n;
            out[j] = n + z * (old[j] - n);
        }
    }
}

ASSAY__SIMD void assay__gru_gates_backward(int64_t rows, int64_t hidden, const float *dh,
                                           const float *gates, const float *gh,
                                           const float *previous, float *dgi, float *dgh,
                                           float *dprevious)
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
