/* The loops of attention. Full attention (graph/attention.c) consists of matrix products; this file
 * has the steps between them, which work on the scores and on copies of a head's columns. Sparse
 * attention is all here: each node against the few nodes that it attends to, one head after the
 * other. Backward of sparse attention adds to the keys and values of a node from every node that
 * attends to it. It scatters these additions; a second list would be no better. */
#include <math.h>
#include <string.h>

#include "models/kernel/elementary.h"
#include "models/kernel/level/level.h"

/* ---- Full attention ---- */

void ASSAY__AT(attention_gather)(int64_t rows, int64_t all, int64_t width, int64_t deep,
                                 float factor, const float *restrict from, int64_t stride,
                                 float *restrict to)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < width; j++)
            to[i * deep + j] = factor * from[i * stride + j];
        for (int64_t j = width; j < deep; j++)
            to[i * deep + j] = 0;
    }
    memset(to + rows * deep, 0, (size_t)((all - rows) * deep) * sizeof *to);
}

void ASSAY__AT(attention_put_back)(int64_t rows, int64_t width, int64_t deep, float factor,
                                   const float *restrict factors, const float *restrict from,
                                   float *restrict to, int64_t stride)
{
    for (int64_t i = 0; i < rows; i++) {
        const float by = factors != NULL ? factors[i] : factor;
        for (int64_t j = 0; j < width; j++)
            to[i * stride + j] = by * from[i * deep + j];
    }
}

ASSAY__ELEMENT float dot(int64_t width, const float *restrict a, const float *restrict b)
{
    float sum = 0;
    ASSAY__SUM(sum)
    for (int64_t j = 0; j < width; j++)
        sum += a[j] * b[j];
    return sum;
}

float ASSAY__AT(attention_longest)(int64_t rows, int64_t width, const float *x, int64_t stride)
{
    float most = 0;
    for (int64_t i = 0; i < rows; i++) {
        const float square = dot(width, x + i * stride, x + i * stride);
        most = square > most ? square : most;
    }
    return sqrtf(most);
}

void ASSAY__AT(attention_weigh_small)(int64_t rows, int64_t columns, int64_t stride, float *scores,
                                      float *sum)
{
    for (int64_t i = 0; i < rows; i++) {
        float *restrict score = scores + i * stride, total = 0;
        ASSAY__SUM(total)
        for (int64_t j = 0; j < columns; j++) {
            float weight = assay__exp2_normal(score[j]);
            score[j] = weight;
            total += weight;
        }
        sum[i] += total;
    }
}

static void weigh(int64_t columns, float *restrict scores, float *maximum, float *sum,
                  int64_t width, float *restrict output)
{
    float most = assay__largest(columns, scores);
    most = most > *maximum ? most : *maximum;
    float total = 0;
    ASSAY__SUM(total)
    for (int64_t j = 0; j < columns; j++) {
        float weight = assay__exp2_negative(scores[j] - most);
        scores[j] = weight;
        total += weight;
    }
    if (*sum != 0) {
        float correction = exp2f(*maximum - most);
        total += *sum * correction;
        for (int64_t j = 0; j < width; j++)
            output[j] *= correction;
    }
    *maximum = most;
    *sum = total;
}

void ASSAY__AT(attention_weigh)(int64_t rows, int64_t columns, int64_t stride, float *scores,
                                float *maximum, float *sum, int64_t width, int64_t deep,
                                float *output)
{
    for (int64_t i = 0; i < rows; i++)
        weigh(columns, scores + i * stride, maximum + i, sum + i, width, output + i * deep);
}

void ASSAY__AT(attention_weigh_backward)(int64_t rows, int64_t columns, int64_t stride,
                                         const float *log_sum, int64_t width, int64_t hidden,
                                         const float *output, const float *doutput, float *scores,
                                         float *gradients)
{
    for (int64_t i = 0; i < rows; i++) {
        /* sum_j weight_j dweight_j = output . doutput */
        const float along = dot(width, output + i * hidden, doutput + i * hidden),
                    whole = log_sum[i];
        float *restrict score = scores + i * stride, *restrict gradient = gradients + i * stride;
        ASSAY__LANES
        for (int64_t j = 0; j < columns; j++) {
            float weight = assay__exp2_negative(score[j] - whole);
            score[j] = weight;
            gradient[j] = weight * (gradient[j] - along);
        }
    }
}

/* ---- Sparse attention ---- */

/* y += factor x, both (width) */
ASSAY__ELEMENT void add_scaled(int64_t width, float factor, const float *restrict x,
                               float *restrict y)
{
    ASSAY__LANES
    for (int64_t j = 0; j < width; j++)
        y[j] += factor * x[j];
}

/* scores (count) of the query of `node` in head `index` against the keys of `others` (count) */
ASSAY__ELEMENT void score(const assay__sparse_attention *attention, int64_t node, int64_t index,
                          int64_t count, const int32_t *others, const float *qkv, float *scores)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    float scale = 1 / sqrtf((float)width);
    const float *q = qkv + node * 3 * hidden + index * width;
    for (int64_t e = 0; e < count; e++) {
        const float *k = qkv + others[e] * 3 * hidden + hidden + index * width;
        scores[e] = scale * dot(width, q, k);
        if (attention->bias != NULL)
            scores[e] += attention->bias[(others[e] != node) * attention->heads + index];
    }
}

void ASSAY__AT(attention_sparse_forward)(const assay__sparse_attention *attention, const float *qkv,
                                         float *scratch, float *output, float *log_sum)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    int64_t nodes = attention->nodes;
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = attention->offsets[i];
        int64_t count = attention->offsets[i + 1] - start;
        const int32_t *others = attention->neighbours + start;
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

void ASSAY__AT(attention_sparse_backward)(const assay__sparse_attention *attention,
                                          const float *qkv, const float *output,
                                          const float *log_sum, const float *doutput,
                                          float *scratch, float *dqkv, float *dbias)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    int64_t nodes = attention->nodes;
    float scale = 1 / sqrtf((float)width);
    memset(dqkv, 0, (size_t)(nodes * 3 * hidden) * sizeof *dqkv);
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = attention->offsets[i];
        int64_t count = attention->offsets[i + 1] - start;
        const int32_t *others = attention->neighbours + start;
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
