/* Sparse attention: each node against the few it looks at, one head after the other. Backward adds
 * to the keys and values of a node from every node that looks at it; with one thread a scatter is
 * as good as a second list. */
#include <math.h>
#include <string.h>

#include "models/graph/attention.h"
#include "models/kernel/elementary.h"
#include "models/kernel/simd.h"

ASSAY__ELEMENT float dot(int64_t width, const float *restrict a, const float *restrict b)
{
    float sum = 0;
    ASSAY__SUM(sum)
    for (int64_t j = 0; j < width; j++)
        sum += a[j] * b[j];
    return sum;
}

/* y += factor x, both (width) */
ASSAY__ELEMENT void add_scaled(int64_t width, float factor, const float *restrict x,
                               float *restrict y)
{
    ASSAY__LANES
    for (int64_t j = 0; j < width; j++)
        y[j] += factor * x[j];
}

/* scores (count) of query `q` against the keys of `others` (count) */
ASSAY__ELEMENT void score(const assay__attention *attention, int64_t node, int64_t index,
                          int64_t count, const int32_t *others, const float *qkv, float *scores)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    float scale = 1 / sqrtf((float)width);
    const float *q = qkv + node * 3 * hidden + index * width;
    for (int64_t e = 0; e < count; e++) {
        const float *k = qkv + others[e] * 3 * hidden + hidden + index * width;
        scores[e] = scale * dot(width, q, k);
        if (attention->buckets > 0)
            scores[e] += attention->bias[(others[e] != node) * attention->heads + index];
    }
}

ASSAY__SIMD
void assay__attention_sparse_forward(const assay__attention *attention, const float *qkv,
                                     float *scratch, float *output, float *log_sum)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    int64_t nodes = attention->graph->nodes;
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = attention->attended->offsets[i];
        int64_t count = attention->attended->offsets[i + 1] - start;
        const int32_t *others = attention->attended->neighbours + start;
        for (int64_t a = 0; a < attention->heads; a++) {
            score(attention, i, a, count, others, qkv, scratch);
            float most = scratch[0];
            for (int64_t e = 1; e < count; e++)
                most = scratch[e] > most ? scratch[e] : most;
            float total = 0;
            for (int64_t e = 0; e < count; e++) {
                scratch[e] = assay__exp1(scratch[e] - most);
                total += scratch[e];
            }
            float *out = output + i * hidden + a * width;
            memset(out, 0, (size_t)width * sizeof *out);
            for (int64_t e = 0; e < count; e++) {
                add_scaled(width, scratch[e] / total,
                           qkv + others[e] * 3 * hidden + 2 * hidden + a * width, out);
            }
            log_sum[a * nodes + i] = most + logf(total);
        }
    }
}

ASSAY__SIMD
void assay__attention_sparse_backward(const assay__attention *attention, const float *qkv,
                                      const float *output, const float *log_sum,
                                      const float *doutput, float *scratch, float *dqkv,
                                      float *dbias)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    int64_t nodes = attention->graph->nodes;
    float scale = 1 / sqrtf((float)width);
    memset(dqkv, 0, (size_t)(nodes * 3 * hidden) * sizeof *dqkv);
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = attention->attended->offsets[i];
        int64_t count = attention->attended->offsets[i + 1] - start;
        const int32_t *others = attention->attended->neighbours + start;
        for (int64_t a = 0; a < attention->heads; a++) {
            const float *dout = doutput + i * hidden + a * width;
            int64_t query = i * 3 * hidden + a * width;
            float along = dot(width, output + i * hidden + a * width, dout);
            score(attention, i, a, count, others, qkv, scratch);
            for (int64_t e = 0; e < count; e++) {
                int64_t key = others[e] * 3 * hidden + hidden + a * width, value = key + hidden;
                float weight = assay__exp1(scratch[e] - log_sum[a * nodes + i]);
                float gradient = weight * (dot(width, dout, qkv + value) - along);
                add_scaled(width, weight, dout, dqkv + value);
                add_scaled(width, scale * gradient, qkv + query, dqkv + key);
                add_scaled(width, scale * gradient, qkv + key, dqkv + query);
                if (dbias != NULL)
                    dbias[(others[e] != i) * attention->heads + a] += gradient;
            }
        }
    }
}
