/* On uniform knots all basis functions are shifted copies of one function: B_c(x) = M(s - c). Here
 * s is the distance of x from the first knot in intervals, and M is the cardinal B-spline on
 * [0, order + 1]. About its centre M is an even function, and it is a sum of truncated powers
 * (Schoenberg 1946),
 *
 *     M(v) = 1 / k! sum_{j < h} (-1)^j binomial(k + 1, j) (h - j - |v - h|)_+^k,   h = (k + 1) / 2,
 *
 * with at most three terms up to order 5. All of it is arithmetic without branches, so a whole
 * vector of values is evaluated at a time. Finding the interval of each value and placing its
 * order + 1 nonzero functions there would be less arithmetic, but it would handle one value at a
 * time, and the matrix product that follows reads all functions anyway. Summed from the outer end,
 * the terms hardly cancel: no term is more than four times the result. */
#include "models/kernel/level/level.h"

/* (-1)^j binomial(k + 1, j) / k! */
static const float terms[6][3] = {
    {1, 0, 0},
    {1, 0, 0},
    {1.0F / 2, -3.0F / 2, 0},
    {1.0F / 6, -4.0F / 6, 0},
    {1.0F / 24, -5.0F / 24, 10.0F / 24},
    {1.0F / 120, -6.0F / 120, 15.0F / 120},
};

/* t_+^exponent, exponent at least 1 */
ASSAY__ELEMENT float truncated_power(float t, int exponent)
{
    t = t > 0 ? t : 0;
    float power = t;
    for (int i = 1; i < exponent; i++)
        power *= t;
    return power;
}

/* Returns M at `away` from its centre; `order` is a constant where this is inlined. */
ASSAY__ELEMENT float value(int order, float away)
{
    float half = 0.5F * (float)(order + 1);
    away = away < 0 ? -away : away;
    float sum = 0;
    for (int j = 0; 2 * j < order + 1; j++)
        sum += terms[order][j] * truncated_power(half - (float)j - away, order);
    return sum;
}

/* Returns M' at `away` from the centre of M; for order 1, where M has corners, the slope to their
 * right. */
ASSAY__ELEMENT float slope(int order, float away)
{
    if (order == 1) {
        float inside = away < 0 ? 1 : -1;
        return away >= -1 && away < 1 ? inside : 0;
    }
    float half = 0.5F * (float)(order + 1);
    float sign = away < 0 ? (float)order : -(float)order;
    away = away < 0 ? -away : away;
    float sum = 0;
    for (int j = 0; 2 * j < order + 1; j++)
        sum += terms[order][j] * truncated_power(half - (float)j - away, order - 1);
    return sign * sum;
}

/* The distance from the centre is s - c - h = rate x + shift. Both constants are exact, so one
 * fused multiply-add rounds once, at the size of the distance and not at the size of s. */
#define OF_ORDER(order)                                                                            \
    static void basis_##order(int64_t grid, int64_t count, const float *restrict x,                \
                              float *restrict basis, int64_t stride)                               \
    {                                                                                              \
        float rate = 0.5F * (float)grid;                                                           \
        for (int64_t c = 0; c < grid + order; c++) {                                               \
            float shift = 0.5F * (float)(grid + order - 1 - 2 * c);                                \
            ASSAY__LANES                                                                           \
            for (int64_t i = 0; i < count; i++)                                                    \
                basis[c * stride + i] = value(order, rate * x[i] + shift);                         \
        }                                                                                          \
    }                                                                                              \
    static void backward_##order(int64_t grid, int64_t count, const float *restrict x,             \
                                 const float *restrict dbasis, int64_t stride, float *restrict dx) \
    {                                                                                              \
        float rate = 0.5F * (float)grid;                                                           \
        for (int64_t c = 0; c < grid + order; c++) {                                               \
            float shift = 0.5F * (float)(grid + order - 1 - 2 * c);                                \
            ASSAY__LANES                                                                           \
            for (int64_t i = 0; i < count; i++) {                                                  \
                float away = rate * x[i] + shift;                                                  \
                dx[i] += rate * dbasis[c * stride + i] * slope(order, away);                       \
            }                                                                                      \
        }                                                                                          \
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
    of_order[order - 1](grid, count, x, basis, stride);
}

void ASSAY__AT(spline_backward)(int64_t order, int64_t grid, int64_t count, const float *x,
                                const float *dbasis, int64_t stride, float *dx)
{
    static void (*const of_order[])(int64_t, int64_t, const float *, const float *, int64_t,
                                    float *) = {backward_1, backward_2, backward_3, backward_4,
                                                backward_5};
    of_order[order - 1](grid, count, x, dbasis, stride, dx);
}
