/* On uniform knots the basis functions are shifted copies of one another, so where x lies in its
 * interval decides about all of them. Let s be the distance of x from the first knot in intervals,
 * t its whole part and u the rest. Then B_c(x) is 0 except for c = t - order ... t, and these
 * order + 1 values are polynomials in u, the pieces. The recursion of Cox and de Boor yields them:
 * from the pieces of order d - 1,
 *
 *     piece_r = ((u + d - r) piece_{r-1} + (r + 1 - u) piece_r) / d,   c = t - d + r.
 *
 * It adds up numbers that are not negative, so nothing cancels. The derivative is a difference of
 * pieces of order - 1, divided by the length of an interval.
 *
 * A whole vector of values is worked on at a time, and the pieces of each lane belong to other
 * rows. To select every row from all pieces would take order + 1 operations a row and more. Instead
 * the rows are taken in groups of a power of two, at least order + 1. The pieces of a lane are
 * first moved to their place within a group, by one bit of that place after the other, as in a
 * barrel shifter. Then they lie in one group and the next, so a row selects from two.
 *
 * The pieces of some vectors are computed before their rows are. In one loop, the rows would wait
 * for the long chain of operations that leads to the pieces. */
#include "models/kernel/level/level.h"

typedef int32_t ints __attribute__((vector_size(ASSAY__VECTOR_BYTES)));

enum {
    MOST_ORDER = 5,
    MOST_GROUP = 8,
    AHEAD = 8, /* vectors whose pieces are computed at a time */
};

typedef struct pieces {
    ints first; /* the row of the first piece; see locate() */
    assay__floats of[MOST_ORDER + 1];
} pieces;

/* Returns the binary logarithm of the number of rows in a group. */
ASSAY__ELEMENT int group_bits(int order)
{
    return order == 1 ? 1 : order <= 3 ? 2 : 3;
}

/* Returns the row of the first piece of each x, and computes the distance of x from the knot below
 * it. The rows are counted from one group before the first function, so that they are not negative
 * where any function differs from 0. Elsewhere, and for NaN, the row is -1. The distance is
 * computed from x and not from s: both constants are exact, so one fused multiply-add rounds once,
 * at the size of the distance. */
ASSAY__ELEMENT ints locate(int order, int64_t grid, assay__floats x, assay__floats *distance)
{
    const float rate = 0.5F * (float)grid, first = rate + (float)order;
    const assay__floats s = rate * x + first;
    const ints inside = (s >= 0) & (s < (float)(grid + 2 * order));
    const ints interval = __builtin_convertvector((assay__floats)((ints)s & inside), ints);
    *distance = rate * x + (first - __builtin_convertvector(interval, assay__floats));
    return (interval + ((1 << group_bits(order)) - order)) | ~inside;
}

/* Computes the pieces of `order` times `scale`, in place of those of lower orders. */
ASSAY__ELEMENT void values_of(int order, float scale, assay__floats u, assay__floats *of)
{
    for (int d = 2; d <= order; d++)
        scale /= (float)d;
    of[0] = (assay__floats){0} + scale;
    ASSAY__UNROLL
    for (int d = 1; d <= order; d++) {
        of[d] = u * of[d - 1];
        ASSAY__UNROLL
        for (int r = d - 1; r > 0; r--)
            of[r] = (u + (float)(d - r)) * of[r - 1] + ((float)(r + 1) - u) * of[r];
        of[0] *= 1 - u;
    }
}

/* Computes the derivatives of the pieces by x, from the pieces of order - 1 times `rate`. */
ASSAY__ELEMENT void slopes_of(int order, float rate, assay__floats u, assay__floats *of)
{
    values_of(order - 1, rate, u, of);
    of[order] = of[order - 1];
    ASSAY__UNROLL
    for (int r = order - 1; r > 0; r--)
        of[r] = of[r - 1] - of[r];
    of[0] = -of[0];
}

/* Computes the pieces, or their derivatives, of so many vectors of x. */
ASSAY__ELEMENT void pieces_of(int order, bool slopes, int64_t grid, int64_t vectors, const float *x,
                              pieces *to)
{
    for (int64_t v = 0; v < vectors; v++, x += ASSAY__FLOATS) {
        assay__floats u;
        to[v].first = locate(order, grid, *(const assay__floats_at *)x, &u);
        if (slopes)
            slopes_of(order, 0.5F * (float)grid, u, to[v].of);
        else
            values_of(order, 1, u, to[v].of);
    }
}

/* Moves the pieces of each lane up to their place within a group. */
ASSAY__ELEMENT void move(int order, const pieces *from, ints moved[MOST_ORDER + MOST_GROUP])
{
    ASSAY__UNROLL
    for (int r = 0; r < MOST_ORDER + MOST_GROUP; r++)
        moved[r] = r <= order ? (ints)from->of[r] : (ints){0};
    ASSAY__UNROLL
    for (int bit = 0; bit < group_bits(order); bit++) {
        const int by = 1 << bit;
        const ints chosen = (from->first & by) != 0;
        ASSAY__UNROLL
        for (int r = order + 2 * by - 1; r >= 0; r--)
            moved[r] = (chosen & (r < by ? (ints){0} : moved[r - by])) | (~chosen & moved[r]);
    }
}

/* Returns a row of a group. `here` are the lanes whose first piece lies in this group, and `below`
 * those where it lies in the group before. */
ASSAY__ELEMENT assay__floats row_of(int order, int row, ints here, ints below, const ints *moved)
{
    const int group = 1 << group_bits(order);
    return (assay__floats)((here & moved[row]) |
                           (below & (row < order ? moved[row + group] : (ints){0})));
}

ASSAY__ELEMENT void basis_rows(int order, int64_t functions, const pieces *from, float *basis,
                               int64_t stride)
{
    const int bits = group_bits(order);
    const ints at = from->first >> bits;
    ints moved[MOST_ORDER + MOST_GROUP], below = at == 0;
    move(order, from, moved);
    for (int64_t c = 0; c < functions; c += 1 << bits) {
        const ints here = at == (int32_t)(c >> bits) + 1;
        ASSAY__UNROLL
        for (int row = 0; row < 1 << bits; row++) {
            if (c + row < functions) {
                *(assay__floats_at *)(basis + (c + row) * stride) =
                    row_of(order, row, here, below, moved);
            }
        }
        below = here;
    }
}

/* Returns the sum over the functions of dbasis times the derivative. */
ASSAY__ELEMENT assay__floats sum_of_rows(int order, int64_t functions, const pieces *from,
                                         const float *dbasis, int64_t stride)
{
    const int bits = group_bits(order);
    const ints at = from->first >> bits;
    ints moved[MOST_ORDER + MOST_GROUP], below = at == 0;
    assay__floats even = {0}, odd = {0};
    move(order, from, moved);
    for (int64_t c = 0; c < functions; c += 1 << bits) {
        const ints here = at == (int32_t)(c >> bits) + 1;
        ASSAY__UNROLL
        for (int row = 0; row < 1 << bits; row++) {
            if (c + row >= functions)
                continue;
            const assay__floats d = *(const assay__floats_at *)(dbasis + (c + row) * stride);
            if (row % 2 == 0)
                even += d * row_of(order, row, here, below, moved);
            else
                odd += d * row_of(order, row, here, below, moved);
        }
        below = here;
    }
    return even + odd;
}

#define OF_ORDER(order)                                                                            \
    static void basis_##order(int64_t grid, int64_t vectors, const float *restrict x,              \
                              float *restrict basis, int64_t stride)                               \
    {                                                                                              \
        pieces some[AHEAD];                                                                        \
        pieces_of(order, false, grid, vectors, x, some);                                           \
        for (int64_t v = 0; v < vectors; v++)                                                      \
            basis_rows(order, grid + order, some + v, basis + v * ASSAY__FLOATS, stride);          \
    }                                                                                              \
    static void backward_##order(int64_t grid, int64_t vectors, const float *restrict x,           \
                                 const float *restrict dbasis, int64_t stride, float *restrict dx) \
    {                                                                                              \
        pieces some[AHEAD];                                                                        \
        pieces_of(order, true, grid, vectors, x, some);                                            \
        for (int64_t v = 0; v < vectors; v++)                                                      \
            *(assay__floats_at *)(dx + v * ASSAY__FLOATS) +=                                       \
                sum_of_rows(order, grid + order, some + v, dbasis + v * ASSAY__FLOATS, stride);    \
    }

OF_ORDER(1)
OF_ORDER(2)
OF_ORDER(3)
OF_ORDER(4)
OF_ORDER(5)

void ASSAY__AT(spline_basis)(int64_t order, int64_t grid, int64_t count, const float *x,
                             float *basis, int64_t stride)
{
    static void (*const of_order[])(int64_t, int64_t, const float *, float *,
                                    int64_t) = {basis_1, basis_2, basis_3, basis_4, basis_5};
    for (int64_t i = 0; i < count; i += AHEAD * ASSAY__FLOATS) {
        const int64_t left = (count - i) / ASSAY__FLOATS;
        of_order[order - 1](grid, left < AHEAD ? left : AHEAD, x + i, basis + i, stride);
    }
}

void ASSAY__AT(spline_backward)(int64_t order, int64_t grid, int64_t count, const float *x,
                                const float *dbasis, int64_t stride, float *dx)
{
    static void (*const of_order[])(int64_t, int64_t, const float *, const float *, int64_t,
                                    float *) = {backward_1, backward_2, backward_3, backward_4,
                                                backward_5};
    for (int64_t i = 0; i < count; i += AHEAD * ASSAY__FLOATS) {
        const int64_t left = (count - i) / ASSAY__FLOATS;
        of_order[order - 1](grid, left < AHEAD ? left : AHEAD, x + i, dbasis + i, stride, dx + i);
    }
}
