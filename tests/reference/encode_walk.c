/* Return probabilities of random walks by dense products. */
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

assay_status reference_encode_walk(const assay__graph *graph, int64_t steps, double *y)
{
    size_t n = (size_t)graph->nodes;
    double *powers[2] = {calloc(n * n, sizeof(double)), calloc(n * n, sizeof(double))};
    assay_status status = powers[0] == NULL || powers[1] == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < n; i++)
        powers[0][i * n + i] = 1;
    for (int64_t k = 0; status == ASSAY_OK && k < steps; k++) {
        double *now = powers[k % 2], *next = powers[1 - k % 2];
        memset(next, 0, n * n * sizeof *next);
        for (size_t i = 0; i < n; i++) { /* next = (D^-1 A) now */
            int64_t start = graph->out.offsets[i], end = graph->out.offsets[i + 1];
            for (int64_t e = start; e < end; e++) {
                size_t other = (size_t)graph->out.neighbours[e];
                for (size_t j = 0; j < n; j++)
                    next[i * n + j] += now[other * n + j] / (double)(end - start);
            }
            y[i * (size_t)steps + (size_t)k] = next[i * n + i];
        }
    }
    free(powers[0]);
    free(powers[1]);
    return status;
}
