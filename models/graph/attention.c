/* Full attention by blocks (Dao et al. 2022, "FlashAttention", on a CPU): the scores of QUERIES
 * rows against KEYS columns are one matrix product into scratch that stays in the second cache
 * level, become weights there, and are consumed by the next product. With more than one block of
 * keys the running maximum and sum of a row are corrected as blocks arrive (Milakov and Gimelshein
 * 2018, "Online normalizer calculation for softmax"). */
#include "graph/attention.h"

#include <math.h>
#include <string.h>

#include "kernel/elementary.h"
#include "kernel/matmul.h"
#include "kernel/simd.h"

/* Two blocks of scores (backward holds weights and their gradients) in 1 MiB or less. */
enum { QUERIES = 128, KEYS = 1024 };

/* One head of one graph; arrays start at its first node. */
typedef struct head {
    int64_t index, nodes, width; /* width: of the head */
    int64_t hidden;              /* row stride of outputs; of qkv thrice that */
    float scale;
    const float *q, *k, *v;   /* (nodes, width), row stride 3 hidden */
    const uint8_t *distances; /* (nodes, nodes); NULL: no bias */
    const float *bias;        /* (buckets, heads) at this head's column */
    int64_t heads;            /* row stride of the bias */
} head;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

size_t assay__attention_scratch(const assay__attention *attention)
{
    if (attention->attended != NULL) {
        int64_t most = 0; /* neighbours of one node */
        for (int64_t i = 0; i < attention->graph->nodes; i++) {
            int64_t degree = attention->attended->offsets[i + 1] - attention->attended->offsets[i];
            most = degree > most ? degree : most;
        }
        return 2 * (size_t)most;
    }
    return 2 * (size_t)(QUERIES * least(KEYS, attention->graph->largest) + QUERIES);
}

static head head_of(const assay__attention *attention, int64_t graph, int64_t index,
                    int64_t pair_offset, const float *qkv)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    int64_t first = attention->graph->graph_offsets[graph];
    const float *q = qkv + first * 3 * hidden + index * width;
    bool biased = attention->buckets > 0;
    return (head){.index = index,
                  .nodes = attention->graph->graph_offsets[graph + 1] - first,
                  .width = width,
                  .hidden = hidden,
                  .scale = 1 / sqrtf((float)width),
                  .q = q,
                  .k = q + hidden,
                  .v = q + 2 * hidden,
                  .distances = biased ? attention->distances + pair_offset : NULL,
                  .bias = biased ? attention->bias + index : NULL,
                  .heads = attention->heads};
}

/* scores (rows, columns) of queries from `row` on and keys from `column` on */
static void score(const head *h, int64_t row, int64_t rows, int64_t column, int64_t columns,
                  float *scores)
{
    int64_t stride = 3 * h->hidden;
    assay__matmul(rows, columns, h->width, h->scale,
                  (assay__matrix){.data = h->q + row * stride, .stride = stride},
                  (assay__matrix){h->k + column * stride, stride, .transposed = true}, 0, scores,
                  columns);
    if (h->bias == NULL) {
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *distance = h->distances + (row + i) * h->nodes + column;
        for (int64_t j = 0; j < columns; j++) {
            scores[i * columns + j] += h->bias[distance[j] * h->heads];
        }
    }
}

/* One row of scores becomes exp(score - maximum); what was summed so far, and the part of the
 * output it stands for, are scaled to the new maximum. */
ASSAY__SIMD
static void weigh(int64_t columns, float *restrict scores, float *maximum, float *sum,
                  int64_t width, float *restrict output)
{
    float most = *maximum;
    ASSAY__MAX(most)
    for (int64_t j = 0; j < columns; j++) {
        most = scores[j] > most ? scores[j] : most;
    }
    float total = 0;
    ASSAY__SUM(total)
    for (int64_t j = 0; j < columns; j++) {
        float weight = assay__exp1(scores[j] - most);
        scores[j] = weight;
        total += weight;
    }
    if (*sum != 0) {
        float correction = expf(*maximum - most);
        total += *sum * correction;
        for (int64_t j = 0; j < width; j++) {
            output[j] *= correction;
        }
    }
    *maximum = most;
    *sum = total;
}

ASSAY__SIMD
static void finish(int64_t rows, const float *maximum, const float *sum, int64_t width,
                   int64_t stride, float *output, float *log_sum)
{
    for (int64_t i = 0; i < rows; i++) {
        float inverse = 1 / sum[i];
        for (int64_t j = 0; j < width; j++) {
            output[i * stride + j] *= inverse;
        }
        log_sum[i] = maximum[i] + logf(sum[i]);
    }
}

/* output (nodes, hidden) at this head's columns; log_sum (nodes) */
static void forward_head(const head *h, float *scratch, float *output, float *log_sum)
{
    float *maximum = scratch, *sum = scratch + QUERIES, *scores = scratch + 2 * QUERIES;
    int64_t stride = 3 * h->hidden;
    for (int64_t row = 0; row < h->nodes; row += QUERIES) {
        int64_t rows = least(QUERIES, h->nodes - row);
        float *out = output + row * h->hidden;
        for (int64_t i = 0; i < rows; i++) {
            maximum[i] = -INFINITY;
            sum[i] = 0;
        }
        for (int64_t column = 0; column < h->nodes; column += KEYS) {
            int64_t columns = least(KEYS, h->nodes - column);
            score(h, row, rows, column, columns, scores);
            for (int64_t i = 0; i < rows; i++) {
                weigh(columns, scores + i * columns, &maximum[i], &sum[i], h->width,
                      out + i * h->hidden);
            }
            assay__matmul(rows, h->width, columns, 1,
                          (assay__matrix){.data = scores, .stride = columns},
                          (assay__matrix){.data = h->v + column * stride, .stride = stride},
                          column == 0 ? 0 : 1, out, h->hidden);
        }
        finish(rows, maximum, sum, h->width, h->hidden, out, log_sum + row);
    }
}

void assay__attention_forward(const assay__attention *attention, const float *qkv, float *scratch,
                              float *output, float *log_sum)
{
    if (attention->attended != NULL) {
        assay__attention_sparse_forward(attention, qkv, scratch, output, log_sum);
        return;
    }
    const assay__graph *graph = attention->graph;
    int64_t pairs = 0;
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g];
        for (int64_t a = 0; a < attention->heads; a++) {
            head h = head_of(attention, g, a, pairs, qkv);
            forward_head(&h, scratch, output + first * h.hidden + a * h.width,
                         log_sum + a * graph->nodes + first);
        }
        int64_t nodes = graph->graph_offsets[g + 1] - first;
        pairs += nodes * nodes;
    }
}

/* ---- Backward ---- */

typedef struct head_gradient {
    const float *output, *doutput; /* (nodes, width), row stride hidden */
    const float *log_sum;          /* (nodes) */
    float *dq, *dk, *dv;           /* (nodes, width), row stride 3 hidden */
    float *dbias;                  /* as the bias; NULL: none */
} head_gradient;

/* A row of scores becomes weights, and a row of the weights' gradients those of the scores. */
ASSAY__SIMD
static void weigh_backward(int64_t columns, float log_sum, int64_t width,
                           const float *restrict output, const float *restrict doutput,
                           float *restrict scores, float *restrict gradients)
{
    float along = 0; /* sum_j weight_j dweight_j = output . doutput */
    ASSAY__SUM(along)
    for (int64_t j = 0; j < width; j++) {
        along += output[j] * doutput[j];
    }
    ASSAY__LANES
    for (int64_t j = 0; j < columns; j++) {
        float weight = assay__exp1(scores[j] - log_sum);
        scores[j] = weight;
        gradients[j] = weight * (gradients[j] - along);
    }
}

static void add_bias_gradient(const head *h, int64_t row, int64_t rows, int64_t column,
                              int64_t columns, const float *gradients, float *dbias)
{
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *distance = h->distances + (row + i) * h->nodes + column;
        for (int64_t j = 0; j < columns; j++) {
            dbias[distance[j] * h->heads] += gradients[i * columns + j];
        }
    }
}

static void backward_block(const head *h, const head_gradient *d, int64_t row, int64_t rows,
                           int64_t column, int64_t columns, float *weights, float *gradients)
{
    int64_t stride = 3 * h->hidden;
    assay__matrix scores = {.data = weights, .stride = columns};
    assay__matrix dscores = {.data = gradients, .stride = columns};
    assay__matrix q = {.data = h->q + row * stride, .stride = stride};
    assay__matrix k = {.data = h->k + column * stride, .stride = stride};
    assay__matrix v = {.data = h->v + column * stride, .stride = stride, .transposed = true};
    assay__matrix doutput = {.data = d->doutput + row * h->hidden, .stride = h->hidden};

    score(h, row, rows, column, columns, weights);
    assay__matmul(rows, columns, h->width, 1, doutput, v, 0, gradients, columns);
    for (int64_t i = 0; i < rows; i++) {
        weigh_backward(columns, d->log_sum[row + i], h->width, d->output + (row + i) * h->hidden,
                       doutput.data + i * h->hidden, weights + i * columns,
                       gradients + i * columns);
    }
    if (d->dbias != NULL) {
        add_bias_gradient(h, row, rows, column, columns, gradients, d->dbias);
    }
    assay__matmul(rows, h->width, columns, h->scale, dscores, k, column == 0 ? 0 : 1,
                  d->dq + row * stride, stride);
    scores.transposed = dscores.transposed = true;
    assay__matmul(columns, h->width, rows, 1, scores, doutput, row == 0 ? 0 : 1,
                  d->dv + column * stride, stride);
    assay__matmul(columns, h->width, rows, h->scale, dscores, q, row == 0 ? 0 : 1,
                  d->dk + column * stride, stride);
}

static void backward_head(const head *h, const head_gradient *d, float *scratch)
{
    float *weights = scratch, *gradients = scratch + QUERIES * least(KEYS, h->nodes);
    for (int64_t row = 0; row < h->nodes; row += QUERIES) {
        for (int64_t column = 0; column < h->nodes; column += KEYS) {
            backward_block(h, d, row, least(QUERIES, h->nodes - row), column,
                           least(KEYS, h->nodes - column), weights, gradients);
        }
    }
}

void assay__attention_backward(const assay__attention *attention, const float *qkv,
                               const float *output, const float *log_sum, const float *doutput,
                               float *scratch, float *dqkv, float *dbias)
{
    if (attention->attended != NULL) {
        assay__attention_sparse_backward(attention, qkv, output, log_sum, doutput, scratch, dqkv,
                                         dbias);
        return;
    }
    const assay__graph *graph = attention->graph;
    int64_t pairs = 0;
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g];
        for (int64_t a = 0; a < attention->heads; a++) {
            head h = head_of(attention, g, a, pairs, qkv);
            int64_t start = first * h.hidden + a * h.width;
            float *dq = dqkv + first * 3 * h.hidden + a * h.width;
            head_gradient d = {.output = output + start,
                               .doutput = doutput + start,
                               .log_sum = log_sum + a * graph->nodes + first,
                               .dq = dq,
                               .dk = dq + h.hidden,
                               .dv = dq + 2 * h.hidden,
                               .dbias = h.bias == NULL ? NULL : dbias + a};
            backward_head(&h, &d, scratch);
        }
        int64_t nodes = graph->graph_offsets[g + 1] - first;
        pairs += nodes * nodes;
    }
}
