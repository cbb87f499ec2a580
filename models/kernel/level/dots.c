/* Products c += a b^T, where the inner dimension runs along the rows of both operands. Each element
 * of the result is a dot product of two rows. A tile of the result has one vector of sums for each
 * of its elements, and the lanes of these vectors are added up at the end. So neither operand is
 * copied or transposed, which would take longer than to multiply where the result has few rows.
 *
 * The sums of the lanes are found for four columns at a time, by exchanging halves as in a
 * transposition. */
#include "models/kernel/level/level.h"

#if ASSAY__MANY_REGISTERS
enum { ROWS = 6 };
#else
enum { ROWS = 3 };
#endif

enum { COLUMNS = 4 };

typedef float four __attribute__((vector_size(16)));
typedef float four_at __attribute__((vector_size(16), aligned(4), may_alias));

/* Adds the upper half of the lanes to the lower half until four are left. */
ASSAY__ELEMENT four four_sums(assay__floats x)
{
#if ASSAY__VECTOR_BYTES == 64
    typedef float half __attribute__((vector_size(32)));
    const half y = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                   __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(y, y, 0, 1, 2, 3) + __builtin_shufflevector(y, y, 4, 5, 6, 7);
#elif ASSAY__VECTOR_BYTES == 32
    return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
#else
    return x;
#endif
}

/* Returns the sums of the lanes of each of the four vectors. */
ASSAY__ELEMENT four sums_of_lanes(const assay__floats x[COLUMNS])
{
    const four a = four_sums(x[0]), b = four_sums(x[1]), c = four_sums(x[2]), d = four_sums(x[3]);
    const four ab =
        __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const four cd =
        __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/* Adds `sums` to the first `count` floats at c. */
ASSAY__ELEMENT void add_some(int64_t count, four sums, float *c)
{
    if (count >= COLUMNS) {
        *(four_at *)c += sums;
        return;
    }
    for (int64_t j = 0; j < count; j++)
        c[j] += sums[j];
}

/* Computes `rows` rows and up to COLUMNS columns of the result. Where there are fewer columns, the
 * last one stands in for those that are missing. `rows` is a constant where this is inlined. */
ASSAY__ELEMENT void tile(const int rows, int64_t columns, int64_t k, const float *a,
                         int64_t a_stride, const float *b, int64_t b_stride, float *c,
                         int64_t c_stride)
{
    assay__floats sums[ROWS][COLUMNS];
    const float *of[COLUMNS];
    ASSAY__UNROLL
    for (int j = 0; j < COLUMNS; j++)
        of[j] = b + (j < columns ? j : columns - 1) * b_stride;
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        ASSAY__UNROLL
        for (int j = 0; j < COLUMNS; j++)
            sums[i][j] = (assay__floats){0};
    }
    const int64_t whole = k / ASSAY__FLOATS * ASSAY__FLOATS;
    for (int64_t l = 0; l < whole; l += ASSAY__FLOATS) {
        assay__floats left[ROWS];
        ASSAY__UNROLL
        for (int i = 0; i < rows; i++)
            left[i] = *(const assay__floats_at *)(a + i * a_stride + l);
        ASSAY__UNROLL
        for (int j = 0; j < COLUMNS; j++) {
            const assay__floats right = *(const assay__floats_at *)(of[j] + l);
            ASSAY__UNROLL
            for (int i = 0; i < rows; i++)
                sums[i][j] += left[i] * right;
        }
    }
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        four total = sums_of_lanes(sums[i]);
        for (int64_t l = whole; l < k; l++)
            total += a[i * a_stride + l] * (four){of[0][l], of[1][l], of[2][l], of[3][l]};
        add_some(columns, total, c + i * c_stride);
    }
}

/* Computes all n columns of some rows. */
#define STRIP(name, rows)                                                                          \
    static __attribute__((noinline)) void name(int64_t n, int64_t k, const float *a,               \
                                               int64_t a_stride, const float *b, int64_t b_stride, \
                                               float *c, int64_t c_stride)                         \
    {                                                                                              \
        for (int64_t j = 0; j < n; j += COLUMNS)                                                   \
            tile(rows, n - j, k, a, a_stride, b + j * b_stride, b_stride, c + j, c_stride);        \
    }
STRIP(whole_strip, ROWS)
STRIP(strip_of_two, 2)
STRIP(strip_of_one, 1)
#undef STRIP

void ASSAY__AT(row_products)(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_stride,
                             const float *b, int64_t b_stride, float *c, int64_t c_stride)
{
    while (m > 0) {
        const int rows = m >= ROWS ? ROWS : m >= 2 ? 2 : 1;
        (rows == ROWS ? whole_strip
         : rows == 2  ? strip_of_two
                      : strip_of_one)(n, k, a, a_stride, b, b_stride, c, c_stride);
        a += rows * a_stride;
        c += rows * c_stride;
        m -= rows;
    }
}
