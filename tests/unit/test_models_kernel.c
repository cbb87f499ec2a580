/* The array kernels compared with references in double, finite differences and closed forms, for
 * shapes that leave remainders in every vector width. */
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

#include "base/random.h"
#include "models/kernel/dropout.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/matmul.h"
#include "models/kernel/memory.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/parameters.h"
#include "tests/reference/reference.h"

static assay__random generator;

static float *random_floats(int64_t count)
{
    float *values = malloc((size_t)(count + 1) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)assay__random_normal(&generator);
    return values;
}

/* Off by no more than tolerance x the largest, or x 1. */
static void assert_close(int64_t count, const float *values, const float *truth, double tolerance)
{
    double most = 1, error = 0;
    for (int64_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)truth[i]));
        error = fmax(error, fabs((double)values[i] - (double)truth[i]));
        assert_true(values[i] == values[i]);
    }
    if (error > tolerance * most)
        fail_msg("off by %g of %g", error, most);
}

static void check_matmul(int64_t m, int64_t n, int64_t k, bool a_turned, bool b_turned, float beta)
{
    int64_t a_stride = (a_turned ? m : k) + 1, b_stride = (b_turned ? k : n) + 2, stride = n + 3;
    float *a = random_floats(a_stride * (a_turned ? k : m));
    float *b = random_floats(b_stride * (b_turned ? n : k));
    float *c = random_floats(stride * m), *truth = random_floats(stride * m);
    memcpy(truth, c, (size_t)(stride * m) * sizeof *c);
    assay__matrix left = {a, a_stride, a_turned}, right = {b, b_stride, b_turned};
    assay__matmul(m, n, k, 0.5F, left, right, beta, c, stride);
    reference_matmul(m, n, k, 0.5F, left, right, beta, truth, stride);
    assert_close(stride * m, c, truth, 1e-6); /* what lies between rows included */
    free(a);
    free(b);
    free(c);
    free(truth);
}

static void test_matmul(void **state)
{
    (void)state;
    const int64_t shapes[][3] = {{1, 1, 1},     {3, 5, 7},  {17, 33, 20}, {1, 64, 20},
                                 {32, 256, 64}, {64, 1, 9}, {2, 3, 0},    {0, 4, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int turned = 0; turned < 4; turned++) {
            check_matmul(shapes[i][0], shapes[i][1], shapes[i][2], turned & 1, turned & 2, 0);
            check_matmul(shapes[i][0], shapes[i][1], shapes[i][2], turned & 1, turned & 2, 1.5F);
        }
    }
}

/* beta 0 means that c is not read, whatever stands there. */
static void test_beta_zero_erases(void **state)
{
    (void)state;
    float a[6] = {1, 2, 3, 4, 5, 6}, x[3] = {1, 1, 1}, y[2] = {NAN, NAN};
    assay__matvec(2, 3, a, 3, x, 0, y);
    assert_true(y[0] == 6 && y[1] == 15);
    assay__matvec(2, 3, a, 3, x, 2, y);
    assert_true(y[0] == 18 && y[1] == 45);
    y[0] = y[1] = NAN;
    assay__matvec(2, 0, a, 3, x, 0, y);
    assert_true(y[0] == 0 && y[1] == 0);
    for (int64_t m = 1; m < 70; m += 3) {
        for (int64_t k = 1; k < 70; k += 7) {
            float *matrix = random_floats(m * (k + 1)), *vector = random_floats(k);
            float *result = random_floats(m), *truth = random_floats(m);
            memcpy(truth, result, (size_t)m * sizeof *truth);
            assay__matvec(m, k, matrix, k + 1, vector, 1, result);
            reference_matmul(m, 1, k, 1, (assay__matrix){matrix, k + 1, false},
                             (assay__matrix){vector, 1, false}, 1, truth, 1);
            assert_close(m, result, truth, 1e-6);
            free(matrix);
            free(vector);
            free(result);
            free(truth);
        }
    }
}

/* What stands in dweight and dbias is added to; dx and a missing bias are optional. */
static void check_linear(int64_t rows, int64_t in, int64_t out, bool biased)
{
    float *x = random_floats(rows * in), *w = random_floats(out * in), *b = random_floats(out);
    float *y = random_floats(rows * out), *dy = random_floats(rows * out);
    float *dx = random_floats(rows * in), *dw = random_floats(out * in), *db = random_floats(out);
    float *truth = calloc((size_t)(rows * (in + out) + out * in + out + 1), sizeof *truth);
    assert_non_null(truth);
    float *y_truth = truth, *dx_truth = y_truth + rows * out, *dw_truth = dx_truth + rows * in;
    float *db_truth = dw_truth + out * in;
    memcpy(dw_truth, dw, (size_t)(out * in) * sizeof *dw);
    memcpy(db_truth, db, (size_t)out * sizeof *db);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < out; j++) {
            double sum = biased ? (double)b[j] : 0;
            for (int64_t l = 0; l < in; l++) {
                sum += (double)x[i * in + l] * (double)w[j * in + l];
                dx_truth[i * in + l] += dy[i * out + j] * w[j * in + l];
                dw_truth[j * in + l] += dy[i * out + j] * x[i * in + l];
            }
            y_truth[i * out + j] = (float)sum;
            db_truth[j] += dy[i * out + j];
        }
    }
    assay__linear_forward(rows, in, out, x, w, biased ? b : NULL, y);
    assert_close(rows * out, y, y_truth, 1e-6);
    float *dw_again = random_floats(out * in);
    memcpy(dw_again, dw, (size_t)(out * in) * sizeof *dw);
    assay__linear_backward(rows, in, out, dy, x, w, dx, dw, biased ? db : NULL);
    assay__linear_backward(rows, in, out, dy, x, w, NULL, dw_again, NULL);
    assert_close(rows * in, dx, dx_truth, 1e-5);
    assert_close(out * in, dw, dw_truth, 1e-5);
    assert_close(out * in, dw_again, dw_truth, 1e-5);
    if (biased)
        assert_close(out, db, db_truth, 1e-5);
    float *all[] = {x, w, b, y, dy, dx, dw, db, dw_again, truth};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void test_linear(void **state)
{
    (void)state;
    check_linear(1, 1, 1, true);
    check_linear(1, 20, 256, true);
    check_linear(7, 13, 5, false);
    check_linear(33, 48, 65, true);
    check_linear(200, 3, 1, true);
    check_linear(57, 1, 40, true);
    check_linear(64, 4, 300, false);
}

static double norm_loss(int64_t columns, const double *x, const float *scale, const float *shift,
                        const float *weight, double *y)
{
    double mean = 0, variance = 0, loss = 0;
    for (int64_t j = 0; j < columns; j++)
        mean += x[j] / (double)columns;
    for (int64_t j = 0; j < columns; j++)
        variance += (x[j] - mean) * (x[j] - mean) / (double)columns;
    for (int64_t j = 0; j < columns; j++) {
        y[j] = (x[j] - mean) / sqrt(variance + 1e-5) * (double)scale[j] + (double)shift[j];
        loss += (double)weight[j] * y[j];
    }
    return loss;
}

/* Forward against the formula in double, dx against its central differences, dscale and dshift
 * against their closed forms, over two rows so that they add up. */
static void check_layer_norm(int64_t columns, float offset)
{
    enum { ROWS = 2 };
    int64_t count = ROWS * columns;
    float *x = random_floats(count), *r = random_floats(count), *sum = random_floats(count);
    float *y = random_floats(count), *dy = random_floats(count), *dx = random_floats(count);
    float *scale = random_floats(columns), *shift = random_floats(columns);
    float *dscale = calloc((size_t)columns, sizeof *dscale), *dshift = random_floats(columns);
    double *row = malloc((size_t)columns * sizeof *row),
           *truth = malloc((size_t)count * sizeof *row);
    float mean[ROWS], rstd[ROWS];
    assert_true(dscale != NULL && row != NULL && truth != NULL);
    for (int64_t i = 0; i < count; i++)
        x[i] += offset;
    memset(dshift, 0, (size_t)columns * sizeof *dshift);
    assay__layer_norm_residual(ROWS, columns, 1e-5F, x, r, scale, shift, sum, y, mean, rstd);
    assay__layer_norm_backward(ROWS, columns, dy, sum, scale, mean, rstd, dx, dscale, dshift);
    for (int64_t i = 0; i < ROWS; i++) {
        const float *weight = dy + i * columns;
        for (int64_t j = 0; j < columns; j++) {
            assert_true(sum[i * columns + j] == x[i * columns + j] + r[i * columns + j]);
            row[j] = (double)sum[i * columns + j];
        }
        (void)norm_loss(columns, row, scale, shift, weight, truth + i * columns);
        double tolerance = 2e-6 * (1 + fabs((double)offset));
        for (int64_t j = 0; j < columns; j++)
            assert_true(fabs((double)y[i * columns + j] - truth[i * columns + j]) < 5 * tolerance);
        double scratch[600];
        for (int64_t j = 0; j < columns; j++) {
            double at = row[j];
            row[j] = at + 1e-5;
            double up = norm_loss(columns, row, scale, shift, weight, scratch);
            row[j] = at - 1e-5;
            double down = norm_loss(columns, row, scale, shift, weight, scratch);
            row[j] = at;
            double slope = (up - down) / 2e-5;
            assert_true(fabs((double)dx[i * columns + j] - slope) <
                        20 * tolerance * (1 + fabs(slope)));
        }
    }
    for (int64_t j = 0; j < columns; j++) {
        double along = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            double normal = ((double)sum[i * columns + j] - (double)mean[i]) * (double)rstd[i];
            along += normal * (double)dy[i * columns + j];
        }
        assert_true(fabs((double)dscale[j] - along) < 1e-5);
        assert_true(fabs((double)(dshift[j] - dy[j] - dy[columns + j])) < 1e-5);
    }
    /* without a residual the same, and in place */
    assay__layer_norm_forward(ROWS, columns, 1e-5F, sum, scale, shift, sum, mean, rstd);
    assert_memory_equal(sum, y, (size_t)count * sizeof *y);
    void *all[] = {x, r, sum, y, dy, dx, scale, shift, dscale, dshift, row, truth};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void test_layer_norm(void **state)
{
    (void)state;
    check_layer_norm(5, 0);
    check_layer_norm(64, 0);
    check_layer_norm(263, 0);
    check_layer_norm(512, 100); /* a mean far larger than the spread */
}

static void test_dropout(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20 };
    float *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    assert_true(x != NULL && y != NULL);
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    const float rates[] = {0.1F, 0.5F, 0.9F};
    for (int r = 0; r < 3; r++) {
        double rate = (double)rates[r], dropped = 0, pairs = 0;
        assay__dropout(COUNT, rates[r], 42, x, y);
        for (int i = 0; i < COUNT; i++) {
            assert_true(y[i] == 0 || y[i] == 1 / (1 - rates[r]));
            dropped += y[i] == 0;
            pairs += i > 0 && y[i] == 0 && y[i - 1] == 0;
        }
        /* five standard deviations; neighbours are independent */
        assert_true(fabs(dropped / COUNT - rate) < 5 * sqrt(rate * (1 - rate) / COUNT));
        assert_true(fabs(pairs / COUNT - rate * rate) < 10 * rate / sqrt(COUNT));
    }
    float *again = malloc(COUNT * sizeof *again);
    assert_non_null(again);
    assay__dropout(COUNT, 0.9F, 42, x, again);
    assert_memory_equal(again, y, COUNT * sizeof *y);
    double same = 0;
    for (uint64_t key = 0; key < 3; key++) { /* keys that differ in one bit give other masks */
        assay__dropout(COUNT, 0.5F, key, x, y);
        assay__dropout(COUNT, 0.5F, key ^ (1ULL << 40), x, again);
        for (int i = 0; i < COUNT; i++)
            same += y[i] == again[i];
    }
    assert_true(fabs(same / 3 / COUNT - 0.5) < 0.003);
    assay__dropout(COUNT, 0, 42, x, y);
    assert_memory_equal(x, y, COUNT * sizeof *y);
    assay__dropout(COUNT, 1, 42, x, y);
    assert_true(y[0] == 0 && y[COUNT - 1] == 0);
    free(x);
    free(y);
    free(again);
}

static void test_mse(void **state)
{
    (void)state;
    const float y[] = {1, 2, 3, 4, 5}, target[] = {1, 1, 5, 4, 4};
    float dy[5];
    assert_true(fabs(assay__mse(5, y, target, dy) - 6.0 / 5) < 1e-12);
    const float truth[] = {0, 0.4F, -0.8F, 0, 0.4F};
    assert_close(5, dy, truth, 1e-6);
    assert_true(fabs(assay__mse(5, y, target, NULL) - 6.0 / 5) < 1e-12);
}

/* The recurrence of the paper in double, over steps with changing gradients. */
static void test_adam(void **state)
{
    (void)state;
    enum { COUNT = 19, STEPS = 12 };
    assay__memory *memory = assay__memory_new();
    assert_non_null(memory);
    assay__parameters parameters;
    assay__parameters_init(&parameters);
    (void)assay__parameters_add(&parameters, 1, (int64_t[]){COUNT}, "w");
    assert_int_equal(assay__parameters_allocate(&parameters, memory), ASSAY_OK);
    assay__adam adam = {0};
    double w[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        w[i] = parameters.values[i] = 1;
    for (int step = 1; step <= STEPS; step++) {
        for (int i = 0; i < COUNT; i++) {
            double g = sin(step * (i + 1)) * pow(10, i % 5 - 3);
            parameters.gradients[i] = (float)g;
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.999 * v[i] + 0.001 * g * g;
            double first = m[i] / (1 - pow(0.9, step)), second = v[i] / (1 - pow(0.999, step));
            w[i] -= 0.01 * first / (sqrt(second) + 1e-8);
        }
        assert_int_equal(assay__adam_step(&adam, memory, &parameters, 0.01, NULL), ASSAY_OK);
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs((double)parameters.values[i] - w[i]) < 2e-6);
    assay_model_memory figures;
    assay__memory_figures(memory, &figures);
    assert_int_equal(figures.optimizer, 2 * COUNT * sizeof(float));
    assay__parameters_release(&parameters);
    assay__memory_free(memory);
}

int main(void)
{
    assay__random_init(&generator, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul),  cmocka_unit_test(test_beta_zero_erases),
        cmocka_unit_test(test_linear),  cmocka_unit_test(test_layer_norm),
        cmocka_unit_test(test_dropout), cmocka_unit_test(test_mse),
        cmocka_unit_test(test_adam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
