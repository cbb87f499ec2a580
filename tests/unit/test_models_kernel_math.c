/* The elementary functions of models/kernel compared with libm in double, over all of float32:
 * every thousandth bit pattern, and densely near 0 and where reductions cancel. The bounds are the
 * largest measured errors, with and without fused multiply-adds, rounded up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/kernel/elementary.h"
#include "models/kernel/kernels.h"
#include "tests/reference/reference.h"

enum { CHUNK = 1 << 12, STRIDE = 1009 };

/* |value - truth| in units of the last place of truth; subnormals have one size of unit. */
static double ulp(float value, double truth)
{
    float rounded = (float)truth;
    if (isnan(truth) || isinf(rounded)) {
        bool same = isnan(truth) ? isnan(value) : value == rounded;
        return same ? 0 : INFINITY;
    }
    int exponent;
    frexp(truth, &exponent);
    double unit = ldexp(1, exponent - 24 < -149 || truth == 0 ? -149 : exponent - 24);
    return fabs((double)value - truth) / unit;
}

typedef double (*function)(double);
typedef void (*kernel)(int64_t count, const float *x, float *y);

typedef struct worst {
    double error;
    float at;
} worst;

static void sweep_chunk(const float *x, int64_t count, kernel run, function truth, worst *most)
{
    float y[CHUNK];
    run(count, x, y);
    for (int64_t i = 0; i < count; i++) {
        double error = ulp(y[i], truth((double)x[i]));
        if (error > most->error)
            *most = (worst){error, x[i]};
    }
}

/* Bit patterns of floats up to `limit` in size, both signs, infinities and NaN if limit is. */
static worst sweep(kernel run, function truth, float limit)
{
    worst most = {0, 0};
    float x[CHUNK];
    int64_t filled = 0;
    for (uint64_t pattern = 0; pattern <= UINT32_MAX; pattern += STRIDE) {
        float value = assay__from_bits((int32_t)(uint32_t)pattern);
        if (fabsf(value) <= limit || (isnan(value) && isinf(limit)))
            x[filled++] = value;
        if (filled == CHUNK) {
            sweep_chunk(x, filled, run, truth, &most);
            filled = 0;
        }
    }
    sweep_chunk(x, filled, run, truth, &most);
    float edges[] = {0.0F, -0.0F, limit, -limit, 1, -1, 88.72F, 88.73F, -103.97F, -103.98F, -87.4F};
    sweep_chunk(edges, (int64_t)(sizeof edges / sizeof *edges), run, truth, &most);
    return most;
}

static void check(const char *name, worst most, double bound)
{
    print_message("%s: %.2f ulp at %a\n", name, most.error, (double)most.at);
    assert_true(most.error <= bound);
}

static void cut(int64_t count, const float *x, float from, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] < from ? 0 : y[i];
}

static void run_gelu(int64_t count, const float *x, float *y)
{
    assay__activate(ASSAY__GELU, count, x, y);
    cut(count, x, -12, y);
}
static void run_silu(int64_t count, const float *x, float *y)
{
    assay__activate(ASSAY__SILU, count, x, y);
    cut(count, x, -87, y);
}
static void run_tanh(int64_t count, const float *x, float *y)
{
    assay__activate(ASSAY__TANH, count, x, y);
}
static void run_sigmoid(int64_t count, const float *x, float *y)
{
    assay__activate(ASSAY__SIGMOID, count, x, y);
}
static void run_sine(int64_t count, const float *x, float *y)
{
    assay__activate(ASSAY__SINE, count, x, y);
}
static void run_sine_of_pair(int64_t count, const float *x, float *y)
{
    float cosine[CHUNK];
    assay__activate_with_slope(ASSAY__SINE, count, x, y, cosine);
}
static void run_cosine_of_pair(int64_t count, const float *x, float *y)
{
    float sine[CHUNK];
    assay__activate_with_slope(ASSAY__SINE, count, x, sine, y);
}
static void run_exp(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__exp1(x[i]);
}

static void run_exp2_normal(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__exp2_normal(x[i]);
}

static void run_exp2_negative(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] > 0 ? 1 : assay__exp2_negative(x[i]);
}

/* log_beyond_one() is for 0 <= x < 2^126, exp_bounded() for results within 2^-60 and 2^60. */
static void run_log_beyond_one(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__log_beyond_one(fabsf(x[i]));
}
static void run_exp_bounded(int64_t count, const float *x, float *y)
{
    const float bound = assay__exp_bound();
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__exp_bounded(x[i], bound);
}

/* Shifted by 1, so that a unit of the last place is that of the gate's largest value. */
static void run_gate(int64_t count, const float *x, float *y)
{
    const float bound = assay__exp_bound();
    for (int64_t i = 0; i < count; i++)
        y[i] = isnan(x[i]) ? x[i] : 0.5F * (1 + assay__gate1(x[i], bound));
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
/* Below -12 gelu nears 2^-126 and below -13.24 it is 0; silu has a factor below 2^-126 from -87 on,
 * which has fewer digits. Both are cut off here as in run_gelu() and run_silu();
 * test_tails_below_normal_numbers() bounds them. */
static double gelu(double x)
{
    return x < -12 ? 0 : reference_activate(ASSAY__GELU, x);
}
static double silu(double x)
{
    return x < -87 ? 0 : reference_activate(ASSAY__SILU, x);
}
static double half_gate(double x)
{
    return 0.5 * (1 + sigmoid(x));
}
static double log_beyond_one(double x)
{
    return log1p(fabs(x));
}
static double exp_bounded(double x)
{
    return exp2(fmin(fmax(x * M_LOG2E, -60), 60));
}
static double exp2_negative(double x)
{
    return x > 0 ? 1 : x < -125 ? 0 : exp2(x);
}

static void test_whole_range(void **state)
{
    (void)state;
    check("exp", sweep(run_exp, exp, INFINITY), 1.1);
    check("exp2", sweep(run_exp2_normal, exp2, 125), 2.2);
    check("exp2_negative", sweep(run_exp2_negative, exp2_negative, INFINITY), 2.2);
    check("log_beyond_one", sweep(run_log_beyond_one, log_beyond_one, 0x1p125F), 1.8);
    check("exp_bounded", sweep(run_exp_bounded, exp_bounded, 2), 3.6);
    check("exp_bounded of any x", sweep(run_exp_bounded, exp_bounded, INFINITY), 45);
    check("gate", sweep(run_gate, half_gate, INFINITY), 2);
    check("tanh", sweep(run_tanh, tanh, INFINITY), 2.4);
    check("sigmoid", sweep(run_sigmoid, sigmoid, INFINITY), 2.2);
    check("silu", sweep(run_silu, silu, INFINITY), 2.5);
    check("gelu", sweep(run_gelu, gelu, INFINITY), 5.8);
    check("sin", sweep(run_sine, sin, INFINITY), 2);
    check("sin of pair", sweep(run_sine_of_pair, sin, INFINITY), 1.6);
    check("cos of pair", sweep(run_cosine_of_pair, cos, INFINITY), 1.6);
}

static void test_tails_below_normal_numbers(void **state)
{
    (void)state;
    for (float x = -130; x < -12; x += 0.01F) {
        float y;
        assay__activate(ASSAY__GELU, 1, &x, &y);
        double truth = reference_activate(ASSAY__GELU, (double)x);
        assert_true(fabs((double)y - truth) <= 0x1p-126 - truth * 0x1p-21);
        assay__activate(ASSAY__SILU, 1, &x, &y);
        truth = reference_activate(ASSAY__SILU, (double)x);
        assert_true(fabs((double)y - truth) <= fabs((double)x) * 0x1p-148 - truth * 0x1p-22);
    }
    float x[] = {-INFINITY, INFINITY, NAN}, y[3];
    assay__activate(ASSAY__GELU, 3, x, y);
    assert_true(y[0] == 0 && y[1] == INFINITY && isnan(y[2])); /* the limits */
    float slope[3], dx[3], dy[] = {1, 1, 1};
    assay__activate_with_slope(ASSAY__GELU, 3, x, y, slope);
    assay__gelu_backward(3, dy, x, dx);
    assert_true(slope[0] == 0 && slope[1] == 1 && isnan(slope[2]));
    assert_true(dx[0] == 0 && dx[1] == 1 && isnan(dx[2]));
    assay__activate(ASSAY__SILU, 3, x, y);
    assert_true(isnan(y[0]) && y[1] == INFINITY && isnan(y[2])); /* as libm: infinity x 0 */
}

/* The floats next to multiples of pi / 2, where almost everything cancels. */
static void test_sine_near_its_zeros(void **state)
{
    (void)state;
    worst alone = {0, 0}, sine = {0, 0}, cosine = {0, 0};
    for (int k = -5215; k <= 5215; k++) {
        float near = (float)(k * M_PI_2);
        float x[] = {nextafterf(near, -INFINITY), near, nextafterf(near, INFINITY)};
        sweep_chunk(x, 3, run_sine, sin, &alone);
        sweep_chunk(x, 3, run_sine_of_pair, sin, &sine);
        sweep_chunk(x, 3, run_cosine_of_pair, cos, &cosine);
    }
    check("sin near zeros", alone, 2.2);
    check("sin of pair near zeros", sine, 2);
    check("cos near zeros", cosine, 2);
}

/* One argument out of range sends its block to libm, the others stay fast; both are right. */
static void test_sine_of_large_arguments(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    float *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    for (int i = 0; i < COUNT; i++)
        x[i] = i == 1500 ? 1e10F : i == 1501 ? INFINITY : 0.01F * (float)i;
    assay__activate(ASSAY__SINE, COUNT, x, y);
    for (int i = 0; i < COUNT; i++)
        assert_true(ulp(y[i], sin((double)x[i])) <= 2);
    float *slope = malloc(COUNT * sizeof *slope);
    assert_non_null(slope);
    assay__activate_with_slope(ASSAY__SINE, COUNT, x, y, slope);
    for (int i = 0; i < COUNT; i++)
        assert_true(ulp(y[i], sin((double)x[i])) <= 2 && ulp(slope[i], cos((double)x[i])) <= 2);
    free(x);
    free(y);
    free(slope);
}

/* Arguments of all sizes beside each other, and NaN: some levels compute blocks of small arguments
 * in another way (level/activation.c). */
static void test_gelu_beside_large_arguments(void **state)
{
    (void)state;
    enum { COUNT = 1500 };
    float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = 4.93F * sinf(0.37F * (float)i);
    for (int i = 0; i < COUNT; i += 200)
        x[i] = i % 400 == 0 ? NAN : 5 - 0.02F * (float)i;
    assay__activate(ASSAY__GELU, COUNT, x, y);
    for (int i = 0; i < COUNT; i++) {
        double truth = reference_activate(ASSAY__GELU, (double)x[i]);
        assert_true(x[i] < -12 ? y[i] <= 0 && y[i] > -1e-30F : ulp(y[i], truth) <= 7);
    }
}

/* In units of the last place of 1, since slopes may cross 0; with them the values, as without. */
static void test_slopes(void **state)
{
    (void)state;
    for (int kind = 0; kind < ASSAY__ACTIVATIONS_COUNT; kind++) {
        double most = 0;
        for (int i = -40000; i <= 40000; i++) {
            float x = (float)i * 1e-3F, y, alone, slope, dx, dy = 1;
            assay__activate_with_slope((assay__activation)kind, 1, &x, &y, &slope);
            assay__activate((assay__activation)kind, 1, &x, &alone);
            assert_true(ulp(y, (double)alone) <= 2);
            double truth = reference_activate_slope((assay__activation)kind, (double)x);
            most = fmax(most, fabs((double)slope - truth) / (double)0x1p-24F);
            if (kind == ASSAY__RELU || kind == ASSAY__GELU) {
                (kind == ASSAY__RELU ? assay__relu_backward : assay__gelu_backward)(1, &dy, &x,
                                                                                    &dx);
                most = fmax(most, fabs((double)dx - truth) / (double)0x1p-24F);
            }
        }
        print_message("slope of %d: %.2f ulp\n", kind, most);
        assert_true(most <= 4);
    }
}

/* The reference slopes are the derivatives of the reference functions. */
static void test_reference_slopes_by_differences(void **state)
{
    (void)state;
    for (int kind = 0; kind < ASSAY__ACTIVATIONS_COUNT; kind++) {
        for (double x = -6.03; x < 6; x += 0.1) {
            double up = reference_activate((assay__activation)kind, x + 1e-5);
            double down = reference_activate((assay__activation)kind, x - 1e-5);
            double slope = reference_activate_slope((assay__activation)kind, x);
            assert_true(fabs((up - down) / 2e-5 - slope) < 1e-8);
        }
    }
}

/* Any length, in place: the vector body, its remainder and nothing beyond. */
static void test_lengths_and_in_place(void **state)
{
    (void)state;
    for (int kind = 0; kind < ASSAY__ACTIVATIONS_COUNT; kind++) {
        for (int64_t count = 0; count <= 40; count++) {
            float x[42], y[42];
            for (int i = 0; i < 42; i++)
                x[i] = y[i] = (float)i * 0.3F - 5;
            assay__activate((assay__activation)kind, count, y, y);
            for (int64_t i = 0; i < 42; i++) {
                double truth = i < count ? reference_activate((assay__activation)kind, (double)x[i])
                                         : (double)x[i];
                assert_true(ulp(y[i], truth) <= 4);
            }
        }
    }
}

static void test_largest(void **state)
{
    (void)state;
    float x[] = {-3, -INFINITY, -0.5F, -2, -0.25F, -7};
    assert_true(assay__largest(0, x) == -INFINITY);
    assert_true(assay__largest(2, x) == -3);
    assert_true(assay__largest(6, x) == -0.25F);
    x[3] = 1e-40F;
    assert_true(assay__largest(6, x) == 1e-40F);
    x[5] = NAN;
    assert_true(isnan(assay__largest(6, x)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_range),
        cmocka_unit_test(test_tails_below_normal_numbers),
        cmocka_unit_test(test_sine_near_its_zeros),
        cmocka_unit_test(test_sine_of_large_arguments),
        cmocka_unit_test(test_gelu_beside_large_arguments),
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_reference_slopes_by_differences),
        cmocka_unit_test(test_lengths_and_in_place),
        cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
