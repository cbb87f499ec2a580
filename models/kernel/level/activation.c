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
#include "models/kernel/level/gelu_table.h"
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
 * max(x, 0) minus one of 32 polynomials of |x| (gelu_table.h), in half of the operations of
 * assay__gelu1() and without a division. A block with an argument beyond the table, or with a NaN,
 * is computed by assay__gelu1(). The vectors of a block are independent of each other, because each
 * polynomial is a chain of operations that wait for each other. */
enum { GELU_VECTORS = 4, GELU_BLOCK = GELU_VECTORS * ASSAY__FLOATS };

/* Returns whether all |x| of a block are within the table. Bits without a sign order as the values
 * do, and NaN is larger than all numbers. */
ASSAY__ELEMENT bool gelu_in_table(const float *x)
{
    const __m512i size = _mm512_set1_epi32(INT32_MAX);
    __m512i most = _mm512_setzero_si512();
    ASSAY__UNROLL
    for (int v = 0; v < GELU_VECTORS; v++) {
        const __m512i bits = _mm512_loadu_si512(x + v * ASSAY__FLOATS);
        most = _mm512_max_epi32(most, _mm512_and_si512(bits, size));
    }
    const __m512i end = _mm512_set1_epi32(assay__to_bits(ASSAY__GELU_END));
    return _mm512_cmpgt_epi32_mask(most, end) == 0;
}

ASSAY__ELEMENT void gelu_by_table(const __m512 table[ASSAY__GELU_POWERS][2], const float *x,
                                  float *y)
{
    const __m512 each = _mm512_set1_ps(1 / ASSAY__GELU_WIDTH);
    const __m512 width = _mm512_set1_ps(ASSAY__GELU_WIDTH);
    const __m512 rounder = _mm512_set1_ps(ASSAY__ROUNDER); /* leaves the segment in the low bits */
    __m512 rest[GELU_VECTORS], sum[GELU_VECTORS];
    __m512i segment[GELU_VECTORS];
    ASSAY__UNROLL
    for (int v = 0; v < GELU_VECTORS; v++) {
        const __m512 t = _mm512_abs_ps(_mm512_loadu_ps(x + v * ASSAY__FLOATS));
        const __m512 shifted = _mm512_fmadd_ps(t, each, rounder);
        segment[v] = _mm512_castps_si512(shifted);
        rest[v] = _mm512_fnmadd_ps(_mm512_sub_ps(shifted, rounder), width, t);
        sum[v] = _mm512_setzero_ps();
    }
    ASSAY__UNROLL
    for (int power = ASSAY__GELU_POWERS - 1; power >= 0; power--) {
        ASSAY__UNROLL
        for (int v = 0; v < GELU_VECTORS; v++) {
            const __m512 next =
                _mm512_permutex2var_ps(table[power][0], segment[v], table[power][1]);
            sum[v] =
                power == ASSAY__GELU_POWERS - 1 ? next : _mm512_fmadd_ps(sum[v], rest[v], next);
        }
    }
    ASSAY__UNROLL
    for (int v = 0; v < GELU_VECTORS; v++) {
        const __m512 above =
            _mm512_max_ps(_mm512_loadu_ps(x + v * ASSAY__FLOATS), _mm512_setzero_ps());
        _mm512_storeu_ps(y + v * ASSAY__FLOATS, _mm512_sub_ps(above, sum[v]));
    }
}

static void gelu(int64_t count, const float *x, float *y)
{
    enum { AHEAD = 512, LINE = 16 };
    __m512 table[ASSAY__GELU_POWERS][2];
    ASSAY__UNROLL
    for (int i = 0; i < 2 * ASSAY__GELU_POWERS; i++)
        table[i / 2][i % 2] = _mm512_load_ps(assay__gelu_table[i / 2] + i % 2 * ASSAY__FLOATS);
    int64_t done = 0;
    for (; done + GELU_BLOCK <= count; done += GELU_BLOCK) {
        const int64_t ahead = done + AHEAD;
        for (int line = 0; line < GELU_BLOCK && ahead + GELU_BLOCK <= count; line += LINE)
            __builtin_prefetch(y + ahead + line, 1);
        if (gelu_in_table(x + done))
            gelu_by_table(table, x + done, y + done);
        else
            map(assay__gelu1, GELU_BLOCK, x + done, y + done);
    }
    map(assay__gelu1, count - done, x + done, y + done);
}
#else
static void gelu(int64_t count, const float *x, float *y)
{
    map(assay__gelu1, count, x, y);
}
#endif

static void hyperbolic_tangent(int64_t count, const float *x, float *y)
{
    map(assay__tanh1, count, x, y);
}

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
