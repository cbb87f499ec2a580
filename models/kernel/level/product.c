/* Matrix products c = a b. A tile of the result, some rows by some vectors of columns, is held in
 * registers while the inner dimension runs through. A tile has as many sums as the level has
 * registers for, so that the arithmetic is the limit and not the loads.
 *
 * narrow_product() reads both operands where they stand. product() first copies the values that the
 * tiles read again and again (Goto and van de Geijn 2008, "Anatomy of high-performance matrix
 * multiplication"): a panel of `b`, DEPTH rows by the columns of one tile, which then stays in a
 * near cache. While it multiplies, it prefetches the next panel. Copying `a` as well, in groups of
 * rows where `a` is transposed, was slower, because the panels are then copied once for each group.
 * The kernels of OpenBLAS serve any size; our panel is chosen for our sizes, a few hundred rows. */
#include <string.h>

#include "models/kernel/level/level.h"

#if defined(__AVX512F__)
enum { ROWS = 8, VECTORS = 3 };
#elif defined(__AVX__)
enum { ROWS = 6, VECTORS = 2 };
#elif ASSAY__MANY_REGISTERS
enum { ROWS = 6, VECTORS = 4 };
#else
enum { ROWS = 3, VECTORS = 4 };
#endif

/* Rows of memory that are prefetched while the processor multiplies. */
typedef struct ahead {
    const float *data;
    int64_t rows, stride, width;
} ahead;

enum { LINE = 16 }; /* floats in a cache line */

/* Prefetches the next `rows` rows, and moves `next` past them. */
static void fetch(ahead *next, int64_t rows)
{
    for (; rows > 0 && next->rows > 0; rows--, next->rows--, next->data += next->stride)
        for (int64_t j = 0; j < next->width; j += LINE)
            __builtin_prefetch(next->data + j, 0, 2);
}

/* The vectors of a tile that has fewer than ROWS rows: its rows leave registers for more vectors. A
 * tile needs some ten sums, because each multiply-add waits four cycles for the one before it. */
enum { WIDER = VECTORS > 3 ? VECTORS : 3, WIDEST = 8 };
#define VECTORS_OF(rows) ((rows) == ROWS ? VECTORS : (rows) > 2 ? WIDER : WIDEST / (rows))

typedef struct product {
    int64_t k;
    const float *a;
    int64_t a_row, a_column;
    const float *b;
    int64_t b_stride;
    const float *bias; /* may be NULL; not together with add */
    bool add;
    float *c;
    int64_t c_stride;
    ahead next;
    int64_t next_each; /* how many rows of `next` to prefetch after each strip */
} product;

/* Stands before the loop over the inner dimension. With 16 registers, four steps a pass make the
 * products of the graph transformer 3 % faster (AMD family 26). With AVX-512 they make products
 * slower. */
#if !defined(__AVX__) || defined(__AVX512F__)
#define FOUR_STEPS
#elif defined(__clang__)
#define FOUR_STEPS ASSAY__PRAGMA(clang loop unroll_count(4))
#else
#define FOUR_STEPS ASSAY__PRAGMA(GCC unroll 4)
#endif

/* Computes c (rows, vectors x FLOATS) from the first `rows` rows of `a` and the columns of `b` from
 * `at` on. `rows` and `vectors` are constants where this is inlined. */
ASSAY__ELEMENT void tile(const int rows, const int vectors, const product *p, int64_t at)
{
    enum { HALF = 4 }; /* rows for each pointer into a, so that few registers hold row distances */
    assay__floats sums[ROWS][WIDEST];
    const float *a[2] = {p->a, p->a + HALF * p->a_row}, *b = p->b + at;
    const int64_t a_row = p->a_row, a_column = p->a_column, b_stride = p->b_stride;
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++) {
            sums[i][v] = (assay__floats){0};
            if (p->bias != NULL)
                sums[i][v] = *(const assay__floats_at *)(p->bias + at + v * ASSAY__FLOATS);
            else if (p->add)
                __builtin_prefetch(p->c + i * p->c_stride + at + v * ASSAY__FLOATS, 1, 3);
        }
    }
    FOUR_STEPS
    for (int64_t j = p->k; j > 0; j--) {
        assay__floats row[WIDEST];
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++)
            row[v] = *(const assay__floats_at *)(b + v * ASSAY__FLOATS);
        ASSAY__UNROLL
        for (int i = 0; i < rows; i++) {
            const assay__floats factor = a[i / HALF][i % HALF * a_row] - (assay__floats){0};
            ASSAY__UNROLL
            for (int v = 0; v < vectors; v++)
                sums[i][v] += factor * row[v];
        }
        a[0] += a_column;
        a[1] += a_column;
        ASSAY__OPAQUE(a[1]);
        b += b_stride;
    }
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++) {
            assay__floats_at *to =
                (assay__floats_at *)(p->c + i * p->c_stride + at + v * ASSAY__FLOATS);
            if (p->add)
                sums[i][v] += *to;
            *to = sums[i][v];
        }
    }
}

/* The columns past the last whole vector. */
static void remainder_of(int rows, const product *p, int64_t at, int64_t n)
{
    for (int i = 0; i < rows; i++) {
        for (int64_t j = at; j < n; j++) {
            float sum = p->add ? p->c[i * p->c_stride + j] : 0;
            sum += p->bias != NULL ? p->bias[j] : 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += p->a[i * p->a_row + l * p->a_column] * p->b[l * p->b_stride + j];
            p->c[i * p->c_stride + j] = sum;
        }
    }
}

/* Computes all n columns of some rows. `rows` is a constant where this is inlined. */
ASSAY__ELEMENT void strip(const int rows, const product *p, int64_t n)
{
    const int most = VECTORS_OF(rows);
    int64_t at = 0;
    for (; at + most * ASSAY__FLOATS <= n; at += most * ASSAY__FLOATS)
        tile(rows, most, p, at);
    for (; most > 4 && n - at >= 4 * ASSAY__FLOATS; at += 4 * ASSAY__FLOATS)
        tile(rows, 4, p, at);
    for (; most > 2 && n - at >= 2 * ASSAY__FLOATS; at += 2 * ASSAY__FLOATS)
        tile(rows, 2, p, at);
    for (; n - at >= ASSAY__FLOATS; at += ASSAY__FLOATS)
        tile(rows, 1, p, at);
    if (at < n)
        remainder_of(rows, p, at, n);
}

/* Each number of rows has a function of its own: inlined into one function, the loops together
 * would need more registers than there are. */
#define STRIP(name, rows)                                                                          \
    static __attribute__((noinline)) void name(const product *p, int64_t n)                        \
    {                                                                                              \
        strip(rows, p, n);                                                                         \
    }
enum { FEWER = ROWS > 4 ? 4 : 2 };
STRIP(whole_strip, ROWS)
STRIP(lower_strip, FEWER)
STRIP(strip_of_three, 3)
STRIP(strip_of_two, 2)
STRIP(strip_of_one, 1)
#undef STRIP

/* Computes m rows and n columns, one strip of rows after the other. */
static void strips(int64_t m, int64_t n, product p)
{
    while (m > 0) {
        /* eight rows are taken as four and four rather than as six and two */
        const bool halves = 2 * FEWER > ROWS && m == 2 * FEWER;
        const int rows = m >= ROWS && !halves ? ROWS : m >= FEWER ? FEWER : m >= 3 ? 3 : (int)m;
        (rows == ROWS    ? whole_strip
         : rows == FEWER ? lower_strip
         : rows == 3     ? strip_of_three
         : rows == 2     ? strip_of_two
                         : strip_of_one)(&p, n);
        fetch(&p.next, p.next_each);
        p.a += rows * p.a_row;
        p.c += rows * p.c_stride;
        m -= rows;
    }
}

void ASSAY__AT(narrow_product)(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
                               int64_t a_column, const float *b, int64_t b_stride,
                               const float *bias, bool add, float *c, int64_t c_stride)
{
    strips(m, n,
           (product){.k = k,
                     .a = a,
                     .a_row = a_row,
                     .a_column = a_column,
                     .b = b,
                     .b_stride = b_stride,
                     .bias = bias,
                     .add = add,
                     .c = c,
                     .c_stride = c_stride});
}

/* ---- With copies ---- */

enum { PANEL = VECTORS * ASSAY__FLOATS, DEPTH = 256 };

/* Returns the columns of the next panel where `left` columns are left. Two panels of two vectors
 * are better than one of three and one of one, because a tile of one vector loads more than it
 * multiplies. */
static int64_t panel_columns(int64_t left)
{
    if (VECTORS > 2 && left > PANEL && left <= PANEL + ASSAY__FLOATS)
        return PANEL - ASSAY__FLOATS;
    return left < PANEL ? left : PANEL;
}

/* Copies `vectors` vectors of each row; `vectors` is a constant where this is inlined. gcc copies a
 * row whose length it does not know by `rep movsq`, and that takes longer than the multiplication
 * by the row. */
ASSAY__ELEMENT void copy_rows(const int vectors, int64_t depth, const float *b, int64_t row,
                              float *panel)
{
    for (int64_t l = 0; l < depth; l++, panel += PANEL, b += row) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++)
            *(assay__floats_at *)(panel + v * ASSAY__FLOATS) =
                *(const assay__floats_at *)(b + v * ASSAY__FLOATS);
    }
}

/* panel (depth, PANEL) = b (depth, columns), with element (l, j) of b at b[l * row + j * column].
 * If the columns do not fill whole vectors, the rest of the panel is 0. */
static void copy_panel(int64_t depth, int64_t columns, const float *b, int64_t row, int64_t column,
                       float *panel)
{
    const int64_t vectors = columns / ASSAY__FLOATS, whole = vectors * ASSAY__FLOATS;
    if (columns > whole)
        memset(panel, 0, (size_t)(depth * PANEL) * sizeof *panel);
    if (row == 1 && column != 1) {
        ASSAY__AT(transpose)(columns, depth, b, column, panel, PANEL);
        return;
    }
    if (vectors == VECTORS)
        copy_rows(VECTORS, depth, b, row, panel);
    else if (vectors == 3)
        copy_rows(3, depth, b, row, panel);
    else if (vectors == 2)
        copy_rows(2, depth, b, row, panel);
    else if (vectors == 1)
        copy_rows(1, depth, b, row, panel);
    for (int64_t l = 0; l < depth && whole < columns; l++)
        for (int64_t j = whole; j < columns; j++)
            panel[l * PANEL + j] = b[l * row + j];
}

/* Computes m rows of a panel whose columns do not fill whole vectors. The strips write to a buffer
 * that is wide enough, from which the result is copied. */
static void odd_strips(int64_t m, int64_t n, product p)
{
    float whole[ROWS * PANEL];
    for (int64_t i = 0; i < m; i += ROWS) {
        const int64_t rows = m - i < ROWS ? m - i : ROWS;
        product part = p;
        part.a += i * p.a_row;
        part.bias = NULL;
        part.add = false;
        part.c = whole;
        part.c_stride = PANEL;
        strips(rows, (n + ASSAY__FLOATS - 1) / ASSAY__FLOATS * ASSAY__FLOATS, part);
        for (int64_t r = 0; r < rows; r++) {
            float *to = p.c + (i + r) * p.c_stride;
            for (int64_t j = 0; j < n; j++)
                to[j] = whole[r * PANEL + j] + (p.bias != NULL ? p.bias[j] : p.add ? to[j] : 0);
        }
    }
}

/* Returns the rows of memory of the panel at (l, j) of b (k, n). If j is n, it is the first panel
 * of the next DEPTH rows. There are no rows past the last panel. */
static ahead panel_at(int64_t n, int64_t k, int64_t l, int64_t j, const float *b, int64_t b_row,
                      int64_t b_column)
{
    if (j == n) {
        j = 0;
        l += DEPTH;
    }
    if (l >= k)
        return (ahead){NULL, 0, 0, 0};
    const int64_t depth = k - l < DEPTH ? k - l : DEPTH, columns = panel_columns(n - j);
    const float *start = b + l * b_row + j * b_column;
    return b_row == 1 && b_column != 1 ? (ahead){start, columns, b_column, depth}
                                       : (ahead){start, depth, b_row, columns};
}

void ASSAY__AT(product)(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
                        int64_t a_column, const float *b, int64_t b_row, int64_t b_column,
                        const float *bias, bool add, float *c, int64_t c_stride)
{
    /* Rows of b as short as NEAR are as good as a copy of some columns, and so is a b as small as
     * SMALL, which stays in a near cache. */
    enum { NEAR = 128, SMALL = 16384 };
    float panel[DEPTH * PANEL] __attribute__((aligned(64)));
    const bool near =
        b_column == 1 && n % ASSAY__FLOATS == 0 && (b_row <= NEAR || k * b_row <= SMALL);
    /* One call then takes a strip of rows through all columns, and fewer calls are made. With tiles
     * of three vectors this pays only for many columns, because the last tile of a strip may be
     * one vector wide. */
    const bool through = near && (VECTORS == 2 || n > 4 * PANEL);
    for (int64_t l = 0; l < k; l += DEPTH) {
        const int64_t depth = k - l < DEPTH ? k - l : DEPTH;
        for (int64_t j = 0, columns; j < n; j += columns) {
            columns = through ? n : panel_columns(n - j);
            const product p = {.k = depth,
                               .a = a + l * a_column,
                               .a_row = a_row,
                               .a_column = a_column,
                               .b = near ? b + l * b_row + j : panel,
                               .b_stride = near ? b_row : PANEL,
                               .bias = l == 0 && bias != NULL ? bias + j : NULL,
                               .add = add || l > 0,
                               .c = c + j,
                               .c_stride = c_stride,
                               .next = near ? (ahead){0}
                                            : panel_at(n, k, l, j + columns, b, b_row, b_column),
                               .next_each = 1 + (b_row == 1 ? PANEL : DEPTH) / (m / ROWS + 1)};
            if (!near)
                copy_panel(depth, columns, b + l * b_row + j * b_column, b_row, b_column, panel);
            if (columns % ASSAY__FLOATS == 0)
                strips(m, columns, p);
            else
                odd_strips(m, columns, p);
        }
    }
}

/* The limits were found by timing both products, interleaved, at the sizes of the models. If `a` is
 * transposed, it is read across its rows in memory. With the small tiles of 16 registers it is read
 * so often that rows far apart touch too many cache lines and pages. With any number of registers,
 * rows 4 KiB apart are too far, because they share one set of the cache. */
bool ASSAY__AT(product_pays)(int64_t m, int64_t n, bool a_transposed, int64_t a_stride,
                             bool b_transposed)
{
#if defined(__AVX__)
    enum { FAR = 1024, FAR_IF_OFTEN = ASSAY__MANY_REGISTERS ? FAR : 128, FEW = 32 };
    const bool often = n > 4 * PANEL; /* `a` is read once for each panel */
    const bool a_pays = !a_transposed || a_stride < (often ? FAR_IF_OFTEN : FAR);
    return a_pays && n >= ASSAY__FLOATS && m >= (b_transposed ? ROWS : FEW);
#else
    (void)m, (void)n, (void)a_transposed, (void)a_stride, (void)b_transposed;
    return false; /* not measured here, so OpenBLAS is used */
#endif
}
