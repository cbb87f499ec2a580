/* Elementary functions of one float32. They have no branch, no call and no table, so that the
 * compiler can vectorise a loop over them. They are for callers that fuse them into loops of their
 * own (see simd.h); kernels.h has the functions of whole arrays.
 *
 * Method: the argument is reduced after Cody and Waite ("Software Manual for the Elementary
 * Functions", 1980), and a polynomial that is minimax in relative error gives the value.
 * tools/fit-elementary derives every coefficient below. The comment of each function states its
 * error in units in the last place (ulp); tests/unit/test_models_kernel_math.c measures it over the
 * whole range. NaN gives NaN. */
#ifndef ASSAY_MODELS_KERNEL_ELEMENTARY_H
#define ASSAY_MODELS_KERNEL_ELEMENTARY_H

#include <stdint.h>
#include <string.h>

#include "models/kernel/simd.h"

/* Whether the level has fused multiply-adds. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ASSAY__FUSED 1
#else
#define ASSAY__FUSED 0
#endif

ASSAY__ELEMENT float assay__from_bits(int32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

ASSAY__ELEMENT int32_t assay__to_bits(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

ASSAY__ELEMENT float assay__abs1(float x)
{
    return assay__from_bits(assay__to_bits(x) & INT32_MAX);
}

/* Returns `size` with the sign of x; `size` must not be negative. */
ASSAY__ELEMENT float assay__with_sign(float size, float x)
{
    return assay__from_bits(assay__to_bits(size) | (assay__to_bits(x) & INT32_MIN));
}

/* Returns an integer that orders as the float does. Not every compiler vectorises a maximum of
 * floats, because of NaN; a maximum of integers is vectorised. */
ASSAY__ELEMENT int32_t assay__order(float x)
{
    int32_t bits = assay__to_bits(x);
    return bits ^ ((bits >> 31) & INT32_MAX);
}

/* Returns the largest of x (count). A NaN whose sign bit is clear counts as the largest value.
 * Returns -infinity if count is 0. */
ASSAY__ELEMENT float assay__largest(int64_t count, const float *x)
{
    int32_t most = INT32_MIN + 0x7FFFFF; /* the order of -infinity */
    ASSAY__MAX(most)
    for (int64_t i = 0; i < count; i++) {
        int32_t order = assay__order(x[i]);
        most = order > most ? order : most;
    }
    return assay__from_bits(most ^ ((most >> 31) & INT32_MAX));
}

/* Adding this to a number whose size is below 2^22 leaves the nearest integer in the low bits of
 * the sum. */
#define ASSAY__ROUNDER 0x1.8p23F

ASSAY__ELEMENT float assay__power_of_two(int32_t n) /* -126 <= n <= 127 */
{
    return assay__from_bits((int32_t)((uint32_t)(n + 127) << 23));
}

/* Returns exp(r) - 1 for |r| <= ln 2 / 2. The terms are summed in pairs: that takes no more
 * operations than Horner's rule, and fewer of them wait for each other. */
ASSAY__ELEMENT float assay__exp_rest(float r)
{
    float square = r * r;
    float low = 0.166665435F * r + 0.49999997F;
    float high = 0.00836659595F * r + 0.0416672006F;
    high = 0.00138825073F * square + high;
    return (high * square + low) * square + r;
}

/* Splits exp(x) = 2^n (1 + p): returns n, and writes p to `p`. |x| must be at most 200. */
ASSAY__ELEMENT int32_t assay__exp_parts(float x, float *p)
{
    float shifted = x * 0x1.715476p0F + ASSAY__ROUNDER; /* 1 / ln 2 */
    float n = shifted - ASSAY__ROUNDER;
    float r = x - n * 0x1.62e4p-1F; /* the first 15 bits of ln 2: the product is exact */
    r = r - n * 0x1.7f7d1cp-20F;    /* the rest of ln 2 */
    *p = assay__exp_rest(r);
    return assay__to_bits(shifted) - assay__to_bits(ASSAY__ROUNDER);
}

/* Returns value x 2^n. The scaling is done in two steps, so that a result below 2^-126 is rounded
 * once and a result above 2^127 overflows. */
ASSAY__ELEMENT float assay__scale(float value, int32_t n)
{
    int32_t half = n >> 1;
    return value * assay__power_of_two(half) * assay__power_of_two(n - half);
}

/* exp(x): 1.1 ulp */
ASSAY__ELEMENT float assay__exp1(float x)
{
    x = x > 89 ? 89 : x;
    x = x < -105 ? -105 : x;
    float p;
    int32_t n = assay__exp_parts(x, &p);
    return assay__scale(1 + p, n);
}

/* Returns 2^x for -125 <= x <= 127, to 2.2 ulp. Softmax uses it: it is cheaper than exp(x), because
 * the reduction of the argument is exact. */
ASSAY__ELEMENT float assay__exp2_normal(float x)
{
    const float rounder = ASSAY__ROUNDER + 127; /* leaves the exponent of 2^n in the low bits */
    float shifted = x + rounder;
    float r = x - (shifted - rounder);
    float q = 0.00132647273F;
    q = q * r + 0.00967151299F;
    q = q * r + 0.0555073358F;
    q = q * r + 0.240222424F;
    q = q * r + 0.693147004F;
    float power = assay__from_bits((int32_t)((uint32_t)assay__to_bits(shifted) << 23));
    return (q * r + 1) * power;
}

/* Returns 2^x for x <= 0, and 0 where the result would be below 2^-125. */
ASSAY__ELEMENT float assay__exp2_negative(float x)
{
    float power = assay__exp2_normal(x < -125 ? -125 : x);
    return x < -125 ? 0 : power;
}

/* Returns exp(x), but never less than 2^-60 nor more than 2^60, so that products of two results are
 * finite. `bound` is assay__exp_bound(). The error is 3.6 ulp for |x| <= 2, and up to |x| + 2 ulp
 * beyond that. It is for logistic functions, which flatten the error where |x| is large. NaN gives
 * NaN. */
ASSAY__ELEMENT float assay__exp_bounded(float x, float bound)
{
    float exponent = x * 0x1.715476p0F; /* 1 / ln 2 */
    exponent = exponent > bound ? bound : exponent;
    return assay__exp2_normal(exponent < -bound ? -bound : exponent);
}

/* The bound of assay__exp_bounded(). gcc must not know its value: it would compute the results at
 * the bounds in advance, and select them by many more operations than a minimum and a maximum take.
 */
ASSAY__ELEMENT float assay__exp_bound(void)
{
    float bound = 60;
    __asm__("" : "+m"(bound));
    return bound;
}

/* 1 / (1 + exp(-x)) as the gate of a recurrent unit, which is multiplied by values near 1. The
 * error is 2 x 2^-24 at most. Far below 0 assay__sigmoid1() has more correct digits, and
 * costs more. `bound` is assay__exp_bound(). */
ASSAY__ELEMENT float assay__gate1(float x, float bound)
{
    return 1 / (1 + assay__exp_bounded(-x, bound));
}

/* Returns log(1 + x) for 0 <= x < 2^126, to 1.7 ulp. 1 + x = 2^n (1 + f), and f is computed without
 * the rounding error of the sum, so the result keeps its relative accuracy near 0. */
ASSAY__ELEMENT float assay__log_beyond_one(float x)
{
    const int32_t half_root = 0x3F3504F3; /* the bits of sqrt(1/2) */
    int32_t n = (assay__to_bits(1 + x) - half_root) >> 23;
    float power = assay__power_of_two(-n);
    float f = x * power + (power - 1);
    float q = 0.0873672366F;
    q = q * f - 0.143096223F;
    q = q * f + 0.149182633F;
    q = q * f - 0.165702626F;
    q = q * f + 0.199620247F;
    q = q * f - 0.250017643F;
    q = q * f + 0.333339512F;
    q = q * f - 0.499999911F;
    float rest = q * f * f + (float)n * 0x1.7f7d1cp-20F; /* the low part of ln 2 */
    return (float)n * 0x1.62e4p-1F + (rest + f);
}

/* tanh(x): 2.4 ulp. It is computed as e / (e + 2) with e = exp(2 |x|) - 1, which keeps its relative
 * accuracy near 0. The more |x| grows, the less the result depends on e, so with fused
 * multiply-adds one part of ln 2 is enough. */
ASSAY__ELEMENT float assay__tanh1(float x)
{
    float size = assay__abs1(x);
    float twice = 2 * (size > 10 ? 10 : size);
    const float rounder = ASSAY__ROUNDER + 127; /* leaves the exponent of 2^n in the low bits */
    float shifted = twice * 0x1.715476p0F + rounder; /* 1 / ln 2 */
    float n = shifted - rounder;
#if ASSAY__FUSED
    float r = twice - n * 0x1.62e43p-1F;
#else
    float r = twice - n * 0x1.62e4p-1F; /* the first 15 bits: the product is exact */
    r = r - n * 0x1.7f7d1cp-20F;
#endif
    float power = assay__from_bits((int32_t)((uint32_t)assay__to_bits(shifted) << 23));
    float e = power * assay__exp_rest(r) + (power - 1);
    return assay__with_sign(e / (e + 2), x);
}

/* Returns 1 / (1 + exp(-x)) to 2.2 ulp, and writes 1 minus that to `other`. With z = exp(-x) they
 * are 1 / (1 + z) and z / (1 + z). Numerator and denominator are multiplied by 2^-64, so that z
 * does not overflow before the result is below the smallest subnormal number. From x = 43 on the
 * result is 1 in float32, and `other` keeps its value there.
 *
 * The limits are applied to the bits of x, because a comparison of integers takes one operation:
 * as signed integers, positive floats order as they are, and as unsigned ones, negative floats
 * order by their size. A NaN becomes one of the limits. */
ASSAY__ELEMENT float assay__sigmoid_pair(float x, float *other)
{
    const int32_t bits = assay__to_bits(x), most = assay__to_bits(43);
    const uint32_t above = (uint32_t)(bits < most ? bits : most);
    const uint32_t least = (uint32_t)assay__to_bits(-105);
    x = assay__from_bits((int32_t)(above < least ? above : least));
    /* As in assay__exp_parts() for -x, where n + 63 in the low bits is the exponent of 2^(n-64). */
    const float rounder = ASSAY__ROUNDER + 63;
    float shifted = x * -0x1.715476p0F + rounder;
    float n = shifted - rounder;
    float r = -x - n * 0x1.62e4p-1F;
    r = r - n * 0x1.7f7d1cp-20F;
    float power = assay__from_bits((int32_t)((uint32_t)assay__to_bits(shifted) << 23));
    float z = assay__exp_rest(r) * power + power;
    float share = 1 / (0x1p-64F + z);
    *other = z * share;
    return 0x1p-64F * share;
}

/* 1 / (1 + exp(-x)): 2.2 ulp */
ASSAY__ELEMENT float assay__sigmoid1(float x)
{
    float other, s = assay__sigmoid_pair(x, &other);
    return x == x ? s : x;
}

/* Splits the square of x into `square` and a rest, which is returned. With fused multiply-adds
 * `square` is x x rounded to float32; without them it is the square of the first 12 bits of x. */
ASSAY__ELEMENT float assay__square_rest(float x, float *square)
{
#if ASSAY__FUSED
    *square = x * x;
    return __builtin_fmaf(x, x, -*square);
#else
    float head = assay__from_bits(assay__to_bits(x) & ~0xFFF); /* 12 bits: exact when squared */
    *square = head * head;
    return (x - head) * (x + head);
#endif
}

/* Returns |x|, but at most ASSAY__BELL_END; from there on the density of the standard normal
 * distribution is 0 in float32. A NaN stays. */
#define ASSAY__BELL_END 13.268F

ASSAY__ELEMENT float assay__bell_argument(float x)
{
    float size = assay__abs1(x);
    return size > ASSAY__BELL_END ? ASSAY__BELL_END : size;
}

/* Splits the density of the standard normal distribution at 0 <= t <= ASSAY__BELL_END into a factor
 * between 0.28 and 0.57, which is returned, and a power of two, which is 0 where the density is
 * below 2^-127.5. The square of t is kept exact in two parts, because an absolute error of the
 * exponent is a relative error of the result. */
ASSAY__ELEMENT float assay__density_parts(float t, float *power)
{
    float square, rest = assay__square_rest(t, &square);
    /* exp(-t^2 / 2) = 2^n exp(-r / 2) with r = t^2 + n 2 ln 2. The low bits of `shifted` hold the
     * biased exponent of 2^n. For n = -127 the biased exponent is 0, which gives the power 0. */
    const float rounder = ASSAY__ROUNDER + 127;
    float shifted = square * -0x1.715476p-1F + rounder;
    float n = shifted - rounder;
    /* 2 ln 2 is rounded to float32. To first order that multiplies the result by a power of
     * exp(t^2), for which assay__mills_ratio() corrects. */
#if ASSAY__FUSED
    float r = n * 0x1.62e43p0F + square;
    r = r + rest;
#else
    float r = square + n * 0x1.62e4p0F; /* the first 15 bits: the product is exact */
    r = r + (n * 0x1.8p-19F + rest);
#endif
    float c = 8.6215814e-06F;
    c = c * r - 0.000104533559F;
    c = c * r + 0.00103896577F;
    c = c * r - 0.00831111148F;
    c = c * r + 0.0498677716F;
    c = c * r - 0.199471146F;
    c = c * r + 0.398942280F; /* 1 / sqrt(2 pi) */
    *power = assay__from_bits((int32_t)((uint32_t)assay__to_bits(shifted) << 23));
    return c;
}

/* Splits Mills' ratio, (1 - Phi(t)) / density(t), into the numerator that is returned and a
 * denominator, for 0 <= t <= ASSAY__BELL_END. Phi is the standard normal distribution function. All
 * coefficients are positive, so no digits cancel. Both polynomials begin with a coefficient of 1,
 * which saves a multiplication in each. */
ASSAY__ELEMENT float assay__mills_ratio(float t, float *denominator)
{
    float p = t + 9.52208996F;
    p = p * t + 41.8010483F;
    p = p * t + 97.7206573F;
    p = p * t + 108.166725F;
    float q = t + 9.52225494F;
    q = q * t + 42.7946892F;
    q = q * t + 107.353523F;
    q = q * t + 146.830948F;
    q = q * t + 86.3045578F;
    *denominator = q;
    return p;
}

/* Returns x Phi(x) = max(x, 0) - |x| (1 - Phi(|x|)), and writes its derivative, Phi(x) + x
 * density(x), to `slope`. The error in the lower tail is 6.9 ulp, and 5.8 ulp with fused
 * multiply-adds. At -infinity both are 0, and at NaN both are NaN. */
ASSAY__ELEMENT float assay__gelu_with_slope1(float x, float *slope)
{
    float t = assay__bell_argument(x), power, q;
    float factor = assay__density_parts(t, &power), p = assay__mills_ratio(t, &q);
    float tail = factor * p / q; /* without the power of two, as `factor` */
    float low = (tail - t * factor) * power;
    *slope = x < 0 ? low : 1 - low;
    return (x < 0 ? 0 : x) - t * power * tail;
}

ASSAY__ELEMENT float assay__gelu1(float x)
{
    float slope;
    return assay__gelu_with_slope1(x, &slope);
}

/* Returns x - n pi / 2 for |x| <= ASSAY__SINE_RANGE, where n is the integer nearest to 2 x / pi.
 * Near a multiple of pi so many bits cancel that the products of n with the parts of pi / 2 have
 * to be exact. Fused multiply-adds make them exact for three parts of float32; the first difference
 * is a multiple of the last place of the first part, so it is exact too. Without fused
 * multiply-adds the reduction is computed in double. */
#define ASSAY__SINE_RANGE 8192.0F

ASSAY__ELEMENT float assay__reduce(float x, float n)
{
#if ASSAY__FUSED
    float r = __builtin_fmaf(-n, 0x1.921fb6p0F, x);
    r = __builtin_fmaf(-n, -0x1.777a5cp-25F, r);
    return __builtin_fmaf(-n, -0x1.ee59dap-50F, r);
#else
    double reduced =
        (double)x - (double)n * 0x1.921fb544p0; /* the first 33 bits of pi / 2: exact */
    return (float)(reduced - (double)n * 0x1.0b4611a626331p-34); /* the rest of pi / 2 */
#endif
}

/* sin(x), |x| <= ASSAY__SINE_RANGE: 2.1 ulp. The nearest multiple of pi is subtracted, so that one
 * longer polynomial gives the sine. That takes half of the operations of assay__sin_cos1(). */
ASSAY__ELEMENT float assay__sine1(float x)
{
    const float rounder = 2 * ASSAY__ROUNDER;   /* leaves even integers */
    float shifted = x * 0.636619772F + rounder; /* 2 / pi */
    float r = assay__reduce(x, shifted - rounder);
    float square = r * r;
    float s = 2.60576098e-06F;
    s = s * square - 0.00019809595F;
    s = s * square + 0.00833306648F;
    s = s * square - 0.166666597F;
    s = s * (square * r) + r;
    int32_t sign = (int32_t)((uint32_t)assay__to_bits(shifted) << 31); /* of odd multiples */
    return assay__from_bits(assay__to_bits(s) ^ sign);
}

/* sin(x) and cos(x), |x| <= ASSAY__SINE_RANGE: 1.5 ulp */
ASSAY__ELEMENT void assay__sin_cos1(float x, float *sine, float *cosine)
{
    float shifted = x * 0.636619772F + ASSAY__ROUNDER; /* 2 / pi */
    float r = assay__reduce(x, shifted - ASSAY__ROUNDER);
    float square = r * r;
    float s = -0.000195151166F;
    s = s * square + 0.00833215937F;
    s = s * square - 0.166666552F;
    s = s * square * r + r;
    float c = 2.44329658e-05F;
    c = c * square - 0.00138873141F;
    c = c * square + 0.0416666456F;
    c = c * square * square + (1 - 0.5F * square);
    int32_t quadrant = assay__to_bits(shifted);
    int32_t swap = -(quadrant & 1); /* all ones in quadrants 1 and 3 */
    int32_t sine_bits = (assay__to_bits(c) & swap) | (assay__to_bits(s) & ~swap);
    int32_t cosine_bits = (assay__to_bits(s) & swap) | (assay__to_bits(c) & ~swap);
    int32_t sine_sign = (int32_t)((uint32_t)(quadrant & 2) << 30);
    int32_t cosine_sign = (int32_t)((uint32_t)((quadrant + 1) & 2) << 30);
    *sine = assay__from_bits(sine_bits ^ sine_sign);
    *cosine = assay__from_bits(cosine_bits ^ cosine_sign);
}

#endif
