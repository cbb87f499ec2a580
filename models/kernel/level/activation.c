/* One vectorised loop for each activation, over the functions of elementary.h. The slopes of tanh
 * and the sigmoid are computed from the function's value, as PyTorch computes them: that needs no
 * further exponential, and it is good to half an ulp of 1, which is the accuracy that the product
 * with dy sees. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "models/kernel/elementary.h"
#include "models/kernel/level/activation_tables.h"
#include "models/kernel/level/level.h"

/* ---- y = f(x) ---- */

static void identity(int64_t count, const float *x, float *y)
{
    memmove(y, x, (size_t)count * sizeof *y);
}

ASSAY__ELEMENT float relu1(float x)
{
    return x <= 0 ? 0 : x; /* NaN stays */
}

/* y = f(x). `f` is a constant where this is inlined, so that it is inlined too. With vectors of 32
 * and 64 bytes, lines that will be written are prefetched: where the arrays are larger than a near
 * cache, a store would otherwise wait for its line. The loop over 16 bytes is limited by its
 * instructions. */
ASSAY__ELEMENT void map(float (*f)(float), int64_t count, const float *x, float *y)
{
    enum { LINE = 16, LINES = 4 * LINE, AHEAD = 512, PREFETCHES = ASSAY__VECTOR_BYTES >= 32 };
    int64_t done = 0;
    for (; PREFETCHES && done + AHEAD + LINES <= count; done += LINES) {
        for (int64_t line = done + AHEAD; line < done + AHEAD + LINES; line += LINE)
            __builtin_prefetch(y + line, 1);
        ASSAY__LANES
        for (int64_t i = done; i < done + LINES; i++)
            y[i] = f(x[i]);
    }
    ASSAY__LANES
    for (int64_t i = done; i < count; i++)
        y[i] = f(x[i]);
}

static void relu(int64_t count, const float *x, float *y)
{
    map(relu1, count, x, y);
}

#if defined(__AVX512F__)
/* With AVX-512, one instruction looks up 16 values in two registers of 16 values each. So gelu is
 * max(x, 0) minus one of 32 polynomials of |x|, and tanh is one of 32 polynomials
 * (activation_tables.h), in half of the operations of assay__gelu1() and assay__tanh1() and without
 * a division. The vectors of a block are independent of each other, because each polynomial is a
 * chain of operations that wait for each other. */
enum { TOGETHER = 4, TABLE_BLOCK = TOGETHER * ASSAY__FLOATS };

typedef struct table {
    __m512 each, width; /* segments per unit, and the width of a segment */
    __m512 coefficients[ASSAY__POWERS][2];
} table;

ASSAY__ELEMENT table load_table(float width, const float values[ASSAY__POWERS][ASSAY__SEGMENTS])
{
    table made = {.each = _mm512_set1_ps(1 / width), .width = _mm512_set1_ps(width)};
    ASSAY__UNROLL
    for (int i = 0; i < 2 * ASSAY__POWERS; i++)
        made.coefficients[i / 2][i % 2] = _mm512_load_ps(values[i / 2] + i % 2 * ASSAY__FLOATS);
    return made;
}

/* values = the function at t, for a block */
ASSAY__ELEMENT void look_up(const table *of, const __m512 t[TOGETHER], __m512 values[TOGETHER])
{
    const __m512 rounder = _mm512_set1_ps(ASSAY__ROUNDER); /* leaves the segment in the low bits */
    __m512 rest[TOGETHER];
    __m512i segment[TOGETHER];
    ASSAY__UNROLL
    for (int v = 0; v < TOGETHER; v++) {
        const __m512 shifted = _mm512_fmadd_ps(t[v], of->each, rounder);
        segment[v] = _mm512_castps_si512(shifted);
        rest[v] = _mm512_fnmadd_ps(_mm512_sub_ps(shifted, rounder), of->width, t[v]);
        values[v] = _mm512_permutex2var_ps(of->coefficients[ASSAY__POWERS - 1][0], segment[v],
                                           of->coefficients[ASSAY__POWERS - 1][1]);
    }
    ASSAY__UNROLL
    for (int power = ASSAY__POWERS - 2; power >= 0; power--) {
        ASSAY__UNROLL
        for (int v = 0; v < TOGETHER; v++) {
            const __m512 next = _mm512_permutex2var_ps(of->coefficients[power][0], segment[v],
                                                       of->coefficients[power][1]);
            values[v] = _mm512_fmadd_ps(values[v], rest[v], next);
        }
    }
}

/* Prefetches the lines of the block that will be written some blocks later. */
ASSAY__ELEMENT void fetch_ahead(int64_t done, int64_t count, const float *y)
{
    enum { AHEAD = 512, LINE = 16 };
    for (int line = 0; line < TABLE_BLOCK && done + AHEAD + TABLE_BLOCK <= count; line += LINE)
        __builtin_prefetch(y + done + AHEAD + line, 1);
}

/* Returns whether all |x| of a block are within the table. Bits without a sign order as the values
 * do, and NaN is larger than all numbers. */
ASSAY__ELEMENT bool gelu_in_table(const float *x)
{
    const __m512i size = _mm512_set1_epi32(INT32_MAX);
    __m512i most = _mm512_setzero_si512();
    ASSAY__UNROLL
    for (int v = 0; v < TOGETHER; v++) {
        const __m512i bits = _mm512_loadu_si512(x + v * ASSAY__FLOATS);
        most = _mm512_max_epi32(most, _mm512_and_si512(bits, size));
    }
    const __m512i end = _mm512_set1_epi32(assay__to_bits(ASSAY__GELU_END));
    return _mm512_cmpgt_epi32_mask(most, end) == 0;
}

/* A block with an argument beyond the table, or with a NaN, is computed by assay__gelu1(). */
static void gelu(int64_t count, const float *x, float *y)
{
    const table below = load_table(ASSAY__GELU_WIDTH, assay__gelu_table);
    int64_t done = 0;
    for (; done + TABLE_BLOCK <= count; done += TABLE_BLOCK) {
        fetch_ahead(done, count, y);
        if (!gelu_in_table(x + done)) {
            map(assay__gelu1, TABLE_BLOCK, x + done, y + done);
            continue;
        }
        __m512 t[TOGETHER], values[TOGETHER];
        ASSAY__UNROLL
        for (int v = 0; v < TOGETHER; v++)
            t[v] = _mm512_abs_ps(_mm512_loadu_ps(x + done + v * ASSAY__FLOATS));
        look_up(&below, t, values);
        ASSAY__UNROLL
        for (int v = 0; v < TOGETHER; v++) {
            const __m512 above =
                _mm512_max_ps(_mm512_loadu_ps(x + done + v * ASSAY__FLOATS), _mm512_setzero_ps());
            _mm512_storeu_ps(y + done + v * ASSAY__FLOATS, _mm512_sub_ps(above, values[v]));
        }
    }
    map(assay__gelu1, count - done, x + done, y + done);
}

/* The minimum returns its second operand if one is a NaN, so a NaN stays. */
static void hyperbolic_tangent(int64_t count, const float *x, float *y)
{
    const table of = load_table(ASSAY__TANH_WIDTH, assay__tanh_table);
    const __m512 end = _mm512_set1_ps(ASSAY__TANH_END), sign = _mm512_set1_ps(-0.0F);
    int64_t done = 0;
    for (; done + TABLE_BLOCK <= count; done += TABLE_BLOCK) {
        fetch_ahead(done, count, y);
        __m512 t[TOGETHER], values[TOGETHER];
        ASSAY__UNROLL
        for (int v = 0; v < TOGETHER; v++)
            t[v] = _mm512_min_ps(end, _mm512_abs_ps(_mm512_loadu_ps(x + done + v * ASSAY__FLOATS)));
        look_up(&of, t, values);
        ASSAY__UNROLL
        for (int v = 0; v < TOGETHER; v++) {
            const __m512 signs = _mm512_and_ps(sign, _mm512_loadu_ps(x + done + v * ASSAY__FLOATS));
            _mm512_storeu_ps(y + done + v * ASSAY__FLOATS, _mm512_or_ps(signs, values[v]));
        }
    }
    map(assay__tanh1, count - done, x + done, y + done);
}
#else
static void gelu(int64_t count, const float *x, float *y)
{
    map(assay__gelu1, count, x, y);
}

static void hyperbolic_tangent(int64_t count, const float *x, float *y)
{
    map(assay__tanh1, count, x, y);
}
#endif

static void sigmoid(int64_t count, const float *x, float *y)
{
    map(assay__sigmoid1, count, x, y);
}

ASSAY__ELEMENT float silu1(float x)
{
    float other;
    return x * assay__sigmoid_pair(x, &other); /* NaN by the product */
}

static void silu(int64_t count, const float *x, float *y)
{
    map(silu1, count, x, y);
}

/* ---- y = f(x), slope = f'(x) ---- */

static void identity_slope(int64_t count, const float *x, float *y, float *slope)
{
    identity(count, x, y);
    for (int64_t i = 0; i < count; i++)
        slope[i] = 1;
}

static void relu_slope(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float v = x[i];
        y[i] = v <= 0 ? 0 : v;
        slope[i] = v <= 0 ? 0.0F : 1.0F;
    }
}

static void gelu_slope(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__gelu_with_slope1(x[i], &slope[i]);
}

static void tanh_slope(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float t = assay__tanh1(x[i]);
        y[i] = t;
        slope[i] = 1 - t * t;
    }
}

static void sigmoid_slope(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float other, s = assay__sigmoid_pair(x[i], &other);
        s = x[i] == x[i] ? s : x[i];
        y[i] = s;
        slope[i] = s * other;
    }
}

static void silu_slope(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float v = x[i], other;
        float s = assay__sigmoid_pair(v, &other);
        y[i] = v * s;
        slope[i] = s + v * s * other;
    }
}

/* ---- The sine ---- */

/* Returns whether every |x| is within the range of the fast reduction. Without their signs, floats
 * compare as their bits do, and NaN is larger than all numbers. */
static bool sine_range(int64_t count, const float *x)
{
    int32_t most = 0;
    ASSAY__MAX(most)
    for (int64_t i = 0; i < count; i++) {
        int32_t size = assay__to_bits(x[i]) & INT32_MAX;
        most = size > most ? size : most;
    }
    return most <= assay__to_bits(ASSAY__SINE_RANGE);
}

static void fast_sine(int64_t count, const float *x, float *y)
{
    map(assay__sine1, count, x, y);
}

static void fast_sine_slope(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float s, c;
        assay__sin_cos1(x[i], &s, &c);
        y[i] = s;
        slope[i] = c;
    }
}

/* Arguments beyond the range of the fast reduction are rare, so libm computes every block that has
 * one. Blocks are short, so that one such argument does not slow down a whole layer. `slope` may be
 * NULL. */
enum { BLOCK = 1024 };

static void sine_slope(int64_t count, const float *x, float *y, float *slope)
{
    for (int64_t start = 0; start < count; start += BLOCK) {
        int64_t length = count - start < BLOCK ? count - start : BLOCK;
        bool fast = sine_range(length, x + start);
        if (fast && slope != NULL)
            fast_sine_slope(length, x + start, y + start, slope + start);
        else if (fast)
            fast_sine(length, x + start, y + start);
        for (int64_t i = start; !fast && i < start + length; i++) {
            float argument = x[i];
            y[i] = sinf(argument);
            if (slope != NULL)
                slope[i] = cosf(argument);
        }
    }
}

static void sine(int64_t count, const float *x, float *y)
{
    sine_slope(count, x, y, NULL);
}

/* ---- By kind ---- */

void ASSAY__AT(activate)(assay__activation kind, int64_t count, const float *x, float *y)
{
    static void (*const functions[])(int64_t, const float *, float *) = {
        [ASSAY__IDENTITY] = identity, [ASSAY__RELU] = relu,
        [ASSAY__GELU] = gelu,         [ASSAY__TANH] = hyperbolic_tangent,
        [ASSAY__SIGMOID] = sigmoid,   [ASSAY__SINE] = sine,
        [ASSAY__SILU] = silu};
    functions[kind](count, x, y);
}

void ASSAY__AT(activate_with_slope)(assay__activation kind, int64_t count, const float *x, float *y,
                                    float *slope)
{
    static void (*const functions[])(int64_t, const float *, float *, float *) = {
        [ASSAY__IDENTITY] = identity_slope, [ASSAY__RELU] = relu_slope,
        [ASSAY__GELU] = gelu_slope,         [ASSAY__TANH] = tanh_slope,
        [ASSAY__SIGMOID] = sigmoid_slope,   [ASSAY__SINE] = sine_slope,
        [ASSAY__SILU] = silu_slope};
    functions[kind](count, x, y, slope);
}

void ASSAY__AT(relu_backward)(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        dx[i] = x[i] <= 0 ? 0 : dy[i];
}

void ASSAY__AT(gelu_backward)(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float slope;
        (void)assay__gelu_with_slope1(x[i], &slope);
        dx[i] = dy[i] * slope;
    }
}
