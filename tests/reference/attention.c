/* Attention as its formula reads: every weight of every head, in double. */
#include <math.h>
#include <stdlib.h>

#include "tests/reference/reference.h"

/* The bucket of the bias for query i and key j, or -1 if i does not look at j. */
static int64_t bucket_of(const assay__attention *attention, int64_t i, int64_t j)
{
    const assay__graph *graph = attention->graph;
    if (attention->attended != NULL) {
        for (int64_t e = attention->attended->offsets[i]; e < attention->attended->offsets[i + 1];
             e++)
            if (attention->attended->neighbours[e] == j)
                return i != j;
        return -1;
    }
    int64_t pairs = 0;
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g], end = graph->graph_offsets[g + 1];
        if (i < end && j < end) {
            if (i < first || j < first)
                return -1;
            return attention->buckets == 0
                       ? 0
                       : attention->distances[pairs + (i - first) * (end - first) + j - first];
        }
        pairs += (end - first) * (end - first);
    }
    return -1;
}

/* row (nodes): the weights of query i in head `index` */
static void weigh(const assay__attention *attention, const float *qkv, int64_t index, int64_t i,
                  double *row)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    double total = 0, most = -INFINITY;
    for (int64_t j = 0; j < attention->graph->nodes; j++) {
        int64_t bucket = bucket_of(attention, i, j);
        row[j] = -INFINITY;
        if (bucket < 0)
            continue;
        row[j] = attention->buckets == 0 ? 0 : attention->bias[bucket * attention->heads + index];
        for (int64_t c = 0; c < width; c++) {
            row[j] += (double)qkv[i * 3 * hidden + index * width + c] *
                      (double)qkv[j * 3 * hidden + hidden + index * width + c] /
                      sqrt((double)width);
        }
        most = fmax(most, row[j]);
    }
    for (int64_t j = 0; j < attention->graph->nodes; j++) {
        row[j] = exp(row[j] - most);
        total += row[j];
    }
    for (int64_t j = 0; j < attention->graph->nodes; j++)
        row[j] /= total;
}

assay_status reference_attention(const assay__attention *attention, const float *qkv,
                                 double *output, double *weights)
{
    int64_t nodes = attention->graph->nodes, width = attention->head_width;
    int64_t hidden = width * attention->heads;
    double *row = calloc((size_t)nodes, sizeof *row);
    if (row == NULL)
        return ASSAY_E_MEMORY;
    for (int64_t a = 0; a < attention->heads; a++) {
        for (int64_t i = 0; i < nodes; i++) {
            weigh(attention, qkv, a, i, row);
            for (int64_t c = 0; c < width; c++) {
                double sum = 0;
                for (int64_t j = 0; j < nodes; j++)
                    sum += row[j] * (double)qkv[j * 3 * hidden + 2 * hidden + a * width + c];
                output[i * hidden + a * width + c] = sum;
            }
            for (int64_t j = 0; weights != NULL && j < nodes; j++)
                weights[(a * nodes + i) * nodes + j] = row[j];
        }
    }
    free(row);
    return ASSAY_OK;
}
