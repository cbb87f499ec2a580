/* The maps are matrix products (matmul.h). Three cases have faster code: one row or one output is a
 * product of a matrix by a vector, backward of one output is a single pass over x, and the gradient
 * of weights with few inputs is computed transposed, so that its rows are long. With a bias, the
 * product starts from the bias; that saves one pass over y compared with a product and an addition
 * after it. */
#include "models/kernel/linear.h"

#include "models/kernel/kernels.h"
#include "models/kernel/matmul.h"
#include "models/kernel/threads.h"

/* Few inputs, and how many of the outputs are taken at a time. */
enum { FEW = 4, OUTPUTS = 128 };

void assay__linear_forward(int64_t rows, int64_t in, int64_t out, const float *x,
                           const float *weight, const float *bias, float *y)
{
    const assay__matrix left = {x, in, false}, right = {weight, in, true};
    const float beta = bias != NULL ? 1 : 0;
    if (rows == 1 || out == 1) {
        for (int64_t i = 0; bias != NULL && i < rows * out; i++)
            y[i] = bias[rows == 1 ? i : 0];
        if (rows == 1)
            assay__matvec(out, in, weight, in, x, beta, y);
        else
            assay__matvec(rows, in, x, in, weight, beta, y);
    } else if (bias != NULL) {
        assay__matmul_bias(rows, out, in, left, right, bias, y, out);
    } else {
        assay__matmul(rows, out, in, 1, left, right, 0, y, out);
    }
}

/* dweight (out, in) += dy (rows, out)^T x (rows, in), for few inputs */
static void few_inputs(int64_t rows, int64_t in, int64_t out, const float *dy, const float *x,
                       float *dweight)
{
    float turned[FEW * OUTPUTS];
    for (int64_t o = 0; o < out; o += OUTPUTS) {
        const int64_t count = out - o < OUTPUTS ? out - o : OUTPUTS;
        assay__narrow_product(in, count, rows, x, 1, in, dy + o, out, NULL, false, turned, count);
        for (int64_t j = 0; j < count; j++)
            for (int64_t i = 0; i < in; i++)
                dweight[(o + j) * in + i] += turned[i * count + j];
    }
}

/* sum (columns) += the rows of x (rows, columns) */
typedef struct column_sums {
    int64_t rows, columns;
    const float *x;
    float *sum;
} column_sums;

static void sum_columns(void *context, int64_t first, int64_t count)
{
    const column_sums *p = context;
    assay__column_sum(p->rows, count, p->x + first, p->columns, p->sum + first);
}

void assay__column_sums(int64_t rows, int64_t columns, const float *x, float *sum)
{
    enum { GRAIN = 16, LEAST = 65536 }; /* a cache line; values that take some microseconds */
    column_sums sums = {rows, columns, x, sum};
    assay__parallel_ranges(columns, GRAIN, LEAST / (rows + 1) + 1, sum_columns, &sums);
}

void assay__linear_backward(int64_t rows, int64_t in, int64_t out, const float *dy, const float *x,
                            const float *weight, float *dx, float *dweight, float *dbias)
{
    if (dbias != NULL)
        assay__column_sums(rows, out, dy, dbias);
    if (out == 1) {
        assay__linear_backward_of_one(rows, in, dy, x, weight, dx, dweight);
        return;
    }
    if (dx != NULL) {
        assay__matmul(rows, in, out, 1, (assay__matrix){dy, out, false},
                      (assay__matrix){weight, in, false}, 0, dx, in);
    }
    if (in <= FEW && out >= 16) {
        few_inputs(rows, in, out, dy, x, dweight);
        return;
    }
    assay__matmul(out, in, rows, 1, (assay__matrix){dy, out, true}, (assay__matrix){x, in, false},
                  1, dweight, in);
}
