/* Products of the shapes attention is made of: one side of the result or the inner length is the
 * width of a head, some dozens, where a library's matrix product spends more on preparing its
 * operands than on multiplying. On x86-64 with AVX-512 a kernel of our own that needs no
 * preparation; elsewhere assay__matmul. */
#ifndef ASSAY_MODELS_GRAPH_NARROW_PRODUCT_H
#define ASSAY_MODELS_GRAPH_NARROW_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

/* Rows and columns of results are padded to these. */
enum { ASSAY__NARROW_ROWS = 8, ASSAY__NARROW_COLUMNS = 16 };

/* A left operand: element (i, j) at data[i * row + j * column], one of row and column being 1. */
typedef struct assay__narrow_operand {
    const float *data;
    int64_t row, column;
} assay__narrow_operand;

/* c (m, n; rows c_stride apart) = a (m, k) b (k, n; rows b_stride apart), or that added to c. m is
 * a multiple of ASSAY__NARROW_ROWS, n of ASSAY__NARROW_COLUMNS. */
void assay__narrow_product(int64_t m, int64_t n, int64_t k, assay__narrow_operand a, const float *b,
                           int64_t b_stride, bool add, float *c, int64_t c_stride);

#endif
