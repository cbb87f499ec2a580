/* The MVAR: forecasts compared with plain loops, fits with LAPACK's SVD least squares on explicitly
 * written equations, gradients with differences; and inputs that are refused. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "models/kernel/kernels.h"
#include "models/sequence/mvar.h"
#include "tests/reference/reference.h"

static assay__mvar *make(int64_t dim, int64_t order, uint64_t seed)
{
    assay__mvar *model = NULL;
    assay__mvar_shape shape = {dim, order};
    assert_int_equal(assay__mvar_new(&shape, seed, NULL, &model), ASSAY_OK);
    return model;
}

/* (batch, time, dim): a random walk that forgets, about `mean`. */
static double *make_series(int64_t batch, int64_t time, int64_t dim, double mean, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    double *series = calloc((size_t)(batch * time * dim), sizeof *series);
    assert_non_null(series);
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t t = 0; t < time; t++) {
            for (int64_t i = 0; i < dim; i++) {
                int64_t at = (b * time + t) * dim + i;
                double past = t == 0 ? 0 : series[at - dim] - mean;
                double neighbour = t == 0 ? 0 : series[(b * time + t - 1) * dim + (i + 1) % dim];
                neighbour -= t == 0 ? 0 : mean;
                series[at] = mean + 0.6 * past + 0.2 * neighbour + assay__random_normal(&random);
            }
        }
    }
    return series;
}

static double largest_difference(size_t count, const double *a, const double *b)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* The same least squares by SVD (dgelsd, which NumPy's lstsq calls too); ridge as extra rows.
 * solution: A_0, A_1 ... in the model's layout. */
static void fit_reference(const assay__mvar *model, int64_t batch, int64_t time,
                          const double *series, double ridge, double *solution)
{
    int64_t dim = model->shape.dim, order = model->shape.order, u = dim * order + 1;
    int64_t count = batch * (time - order), rows = count + (ridge > 0 ? u - 1 : 0), row = 0;
    double *left = calloc((size_t)(rows * u), sizeof *left);
    double *right = calloc((size_t)(rows * dim), sizeof *right);
    double *singular = calloc((size_t)u, sizeof *singular);
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t t = order; t < time; t++, row++) {
            const double *now = series + (b * time + t) * dim;
            left[row * u] = 1;
            for (int64_t k = 0; k < u - 1; k++)
                left[row * u + 1 + k] = now[-(k / dim + 1) * dim + k % dim];
            memcpy(right + row * dim, now, (size_t)dim * sizeof *right);
        }
    }
    for (int64_t k = 0; k < u - 1 && ridge > 0; k++)
        left[(count + k) * u + 1 + k] = sqrt(ridge);
    lapack_int rank = 0;
    assert_int_equal(LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)rows, (lapack_int)u,
                                    (lapack_int)dim, left, (lapack_int)u, right, (lapack_int)dim,
                                    singular, -1, &rank),
                     0);
    assert_int_equal(rank, u);
    for (int64_t c = 0; c < dim; c++) {
        solution[c] = right[c];
        for (int64_t k = 0; k < u - 1; k++)
            solution[dim + (k / dim * dim + c) * dim + k % dim] = right[(k + 1) * dim + c];
    }
    free(left);
    free(right);
    free(singular);
}

static void test_products_of_windows(void **state)
{
    (void)state;
    static const int64_t cases[][3] = {
        {1, 1, 2}, {7, 3, 9}, {300, 5, 20}, {129, 16, 32}, {40, 17, 51}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t count = cases[c][0], dim = cases[c][1], width = cases[c][2];
        int64_t length = (count - 1) * dim + width;
        double *series = make_series(1, length, 1, 0, c);
        double *fast = calloc((size_t)(dim * width), sizeof *fast);
        double *plain = calloc((size_t)(dim * width), sizeof *plain);
        assay__gram_accumulate(count, dim, width, series, fast);
        reference_gram_accumulate(count, dim, width, series, plain);
        assert_true(largest_difference((size_t)(dim * width), fast, plain) < 1e-11);
        free(series);
        free(fast);
        free(plain);
    }
}

static void test_forecast(void **state)
{
    (void)state;
    static const int64_t cases[][5] = {/* batch, time, dim, order, steps */
                                       {1, 5, 20, 5, 100},
                                       {3, 9, 4, 2, 7},
                                       {1, 1, 1, 1, 1},
                                       {17, 6, 5, 6, 3},
                                       {2, 8, 3, 3, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t batch = cases[c][0], time = cases[c][1], dim = cases[c][2], steps = cases[c][4];
        assay__mvar *model = make(dim, cases[c][3], c);
        double *series = make_series(batch, time, dim, 1, c);
        size_t count = (size_t)(batch * steps * dim);
        double *fast = calloc(count, sizeof *fast), *plain = calloc(count, sizeof *plain);
        assay__mvar_forecast(model, batch, time, series, steps, fast);
        reference_mvar_forecast(model, batch, time, series, steps, plain);
        assert_true(largest_difference(count, fast, plain) < 1e-13);
        free(series);
        free(fast);
        free(plain);
        assay__mvar_free(model);
    }
}

static void check_fit(int64_t batch, int64_t time, int64_t dim, int64_t order, double mean,
                      double ridge)
{
    assay__mvar *model = make(dim, order, 1);
    double *series = make_series(batch, time, dim, mean, 7);
    double *expected = calloc(model->total, sizeof *expected);
    fit_reference(model, batch, time, series, ridge, expected);
    for (int method = ASSAY__MVAR_NORMAL; method <= ASSAY__MVAR_QR; method++) {
        assert_int_equal(
            assay__mvar_fit(model, batch, time, series, ridge, (assay__mvar_method)method, NULL),
            ASSAY_OK);
        assert_true(largest_difference((size_t)(dim * dim * order), model->lags, expected + dim) <
                    1e-10);
        assert_true(largest_difference((size_t)dim, model->intercept, expected) <
                    1e-10 * fmax(1, fabs(mean)));
    }
    free(series);
    free(expected);
    assay__mvar_free(model);
}

static void test_fit(void **state)
{
    (void)state;
    check_fit(1, 1000, 20, 5, 0, 0);
    check_fit(1, 60, 3, 2, 5, 0);
    check_fit(4, 50, 5, 3, -2, 0); /* lags must not cross from one trajectory into the next */
    check_fit(40, 3, 2, 2, 0, 0);
    check_fit(31, 60, 3, 2, 0.5,
              0); /* more equations than QR takes at a time, cut in a trajectory */
    check_fit(1, 300, 1, 1, 0, 0);
    check_fit(1, 500, 4, 2, 1000, 0); /* without centring the condition would be 1e12 */
    check_fit(2, 80, 6, 2, 1, 3.5);
    check_fit(1, 20, 6, 4, 0, 0.25); /* fewer equations than unknowns */
}

/* Two features that differ by a thousandth, which needs refinement, or a millionth, QR. */
static void test_fit_of_near_copies(void **state)
{
    (void)state;
    static const double ratios[] = {1e-3, 1e-6};
    for (size_t r = 0; r < 2; r++) {
        int64_t time = 400, dim = 3, order = 2;
        assay__mvar *model = make(dim, order, 1);
        double *series = make_series(1, time, dim, 0, 11);
        double *expected = calloc(model->total, sizeof *expected);
        for (int64_t t = 0; t < time; t++)
            series[t * dim + 1] = series[t * dim] + ratios[r] * series[t * dim + 1];
        fit_reference(model, 1, time, series, 0, expected);
        assert_int_equal(assay__mvar_fit(model, 1, time, series, 0, ASSAY__MVAR_NORMAL, NULL),
                         ASSAY_OK);
        /* Coefficients are as large as 1 / ratio, and known to epsilon over it. */
        assert_true(largest_difference(model->total, model->intercept, expected) * ratios[r] <
                    1e-14 / ratios[r]);
        free(series);
        free(expected);
        assay__mvar_free(model);
    }
}

static void test_fit_finds_the_model_that_made_the_data(void **state)
{
    (void)state;
    assay__mvar *truth = make(4, 3, 5), *model = make(4, 3, 6);
    double *series = make_series(1, 100, 4, 0, 3);
    /* Noise would hide the coefficients: many short noiseless trajectories from random starts. */
    for (int64_t b = 0; b < 25; b++)
        assay__mvar_forecast(truth, 1, 3, series + b * 16, 1, series + b * 16 + 12);
    assert_int_equal(assay__mvar_fit(model, 25, 4, series, 0, ASSAY__MVAR_NORMAL, NULL), ASSAY_OK);
    assert_true(largest_difference(truth->total, model->intercept, truth->intercept) < 1e-11);
    free(series);
    assay__mvar_free(truth);
    assay__mvar_free(model);
}

static void expect_refusal(assay__mvar *model, int64_t time, const double *series, const char *word)
{
    double before = model->intercept[0];
    for (int method = ASSAY__MVAR_NORMAL; method <= ASSAY__MVAR_QR; method++) {
        assay_error error = {0};
        assert_int_equal(
            assay__mvar_fit(model, 1, time, series, 0, (assay__mvar_method)method, &error),
            ASSAY_E_DATA);
        assert_non_null(strstr(error.message, word));
        assert_true(model->intercept[0] == before);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    assay__mvar *model = make(3, 2, 1);
    double *series = make_series(1, 200, 3, 0.1, 2);
    expect_refusal(model, 8, series, "equations");
    expect_refusal(model, 1, series, "equations");
    for (int64_t t = 0; t < 200; t++)
        series[t * 3 + 1] = 2 * series[t * 3] - 1;
    expect_refusal(model, 200, series, "linearly dependent");
    assert_int_equal(assay__mvar_fit(model, 1, 200, series, 1e-3, ASSAY__MVAR_NORMAL, NULL),
                     ASSAY_OK);
    for (int64_t t = 0; t < 200; t++)
        series[t * 3 + 1] = 0.1;
    expect_refusal(model, 200, series, "linearly dependent");
    for (int64_t t = 0; t < 200; t++) /* noise in the last bit of a constant is no feature */
        series[t * 3 + 1] = nextafter(1e8, t * t % 7 < 3 ? INFINITY : 0);
    expect_refusal(model, 200, series, "linearly dependent");
    series[100] = NAN;
    expect_refusal(model, 200, series, "not finite");
    series[100] = INFINITY;
    expect_refusal(model, 200, series, "not finite");
    free(series);
    assay__mvar_free(model);
}

static void test_gradient(void **state)
{
    (void)state;
    assay__mvar *model = make(3, 2, 4);
    double *series = make_series(5, 6, 3, 1, 8), *target = make_series(5, 1, 3, 0, 9);
    double loss, above, below;
    assert_int_equal(assay__mvar_gradient(model, 5, 6, series, target, &loss), ASSAY_OK);
    double *gradient = calloc(model->total, sizeof *gradient);
    memcpy(gradient, model->gradient, model->total * sizeof *gradient);
    for (size_t i = 0; i < model->total; i++) {
        double value = model->intercept[i], step = 1e-4;
        model->intercept[i] = value + step;
        assert_int_equal(assay__mvar_gradient(model, 5, 6, series, target, &above), ASSAY_OK);
        model->intercept[i] = value - step;
        assert_int_equal(assay__mvar_gradient(model, 5, 6, series, target, &below), ASSAY_OK);
        model->intercept[i] = value;
        /* The loss is a parabola: central differences are exact but for rounding. */
        assert_true(fabs((above - below) / (2 * step) - gradient[i]) < 1e-10);
    }
    free(series);
    free(target);
    free(gradient);
    assay__mvar_free(model);
}

static void test_spectral_radius(void **state)
{
    (void)state;
    double radius;
    assay__mvar *model = make(1, 2, 1);
    /* z^2 = 1.2 z - 0.7: complex roots of modulus sqrt(0.7) */
    model->lags[0] = 1.2;
    model->lags[1] = -0.7;
    assert_int_equal(assay__mvar_spectral_radius(model, NULL, &radius), ASSAY_OK);
    assert_true(fabs(radius - sqrt(0.7)) < 1e-12);
    /* z^2 = 0.5 z + 0.84: roots 1.2 and -0.7 */
    model->lags[0] = 0.5;
    model->lags[1] = 0.84;
    assert_int_equal(assay__mvar_spectral_radius(model, NULL, &radius), ASSAY_OK);
    assert_true(fabs(radius - 1.2) < 1e-12);
    model->lags[0] = NAN;
    assert_int_not_equal(assay__mvar_spectral_radius(model, NULL, &radius), ASSAY_OK);
    assay__mvar_free(model);
    /* The rotation by 90 degrees mixed with growth: A = 0.9 [0 -1; 1 0], eigenvalues +-0.9 i. The
     * transposed matrix has the same, a wrongly placed block has not. */
    model = make(2, 3, 1);
    memset(model->lags, 0, 12 * sizeof *model->lags);
    model->lags[4 + 1] = -0.9;
    model->lags[4 + 2] = 0.9;
    assert_int_equal(assay__mvar_spectral_radius(model, NULL, &radius), ASSAY_OK);
    assert_true(fabs(radius - sqrt(0.9)) < 1e-12);
    assay__mvar_free(model);
}

/* Gelfand: |C^k|^(1/k) tends to the radius; by squaring, k = 2^24. */
static double radius_by_powers(const assay__mvar *model)
{
    int64_t dim = model->shape.dim, size = dim * model->shape.order;
    double *power = calloc((size_t)(size * size), sizeof *power), logarithm = 0;
    double *square = calloc((size_t)(size * size), sizeof *square);
    for (int64_t i = 0; i < size; i++) {
        for (int64_t j = 0; j < size; j++) {
            power[i * size + j] =
                i < dim ? model->lags[(j / dim * dim + i) * dim + j % dim] : (double)(i - dim == j);
        }
    }
    for (int k = 0; k <= 24; k++) {
        double norm = cblas_dnrm2((int)(size * size), power, 1);
        cblas_dscal((int)(size * size), 1 / norm, power, 1);
        logarithm += log(norm) / exp2(k);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)size, (int)size, (int)size, 1,
                    power, (int)size, power, (int)size, 0, square, (int)size);
        memcpy(power, square, (size_t)(size * size) * sizeof *power);
    }
    free(power);
    free(square);
    return exp(logarithm);
}

static void test_spectral_radius_of_large_models(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{20, 5}, {3, 7}, {1, 9}, {12, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        assay__mvar *model = make(shapes[s][0], shapes[s][1], s);
        double radius;
        assert_int_equal(assay__mvar_spectral_radius(model, NULL, &radius), ASSAY_OK);
        assert_true(radius < 1); /* as a new model is promised to be */
        assert_true(fabs(radius - radius_by_powers(model)) < 1e-5 * radius);
        assay__mvar_free(model);
    }
}

static void add_flops(void *context, const assay_term *operation)
{
    if (operation->kind == ASSAY_TERM_MATMUL)
        *(int64_t *)context += 2 * operation->count * operation->m * operation->k * operation->n;
}

static void test_class(void **state)
{
    (void)state;
    const assay_model_class *class_ = &assay__mvar_class;
    double settings[8];
    for (size_t i = 0; i < class_->option_count; i++)
        settings[i] = class_->options[i].initial;
    void *model = NULL;
    assay_tensor input, target, output;
    double loss;
    assert_int_equal(class_->create(settings, 1, NULL, &model), ASSAY_OK);
    assert_int_equal(class_->example(model, 2, NULL, &input, &target), ASSAY_OK);
    size_t count, elements = 0;
    const assay_model_parameter *list = class_->parameters(model, &count);
    for (size_t i = 0; i < count; i++)
        elements += (size_t)assay_tensor_count(&list[i].value);
    int64_t flops = 0;
    assert_int_equal(class_->describe(model, &input, 1, add_flops, &flops, NULL), ASSAY_OK);
    assert_int_equal(elements, 2020); /* the figures of seed A: d = 20, p = 5 */
    assert_int_equal(assay_tensor_count(&list[1].value), 400);
    assert_int_equal(flops, 4000);
    assert_int_equal(class_->fit(model, &input, 1, NULL), ASSAY_OK);
    assert_int_equal(class_->gradient(model, &input, 1, &target, NULL, &loss), ASSAY_OK);
    assert_int_equal(class_->forward(model, &input, 1, NULL, &output), ASSAY_OK);
    assert_int_equal(output.rank, 2);
    assert_int_equal(class_->forecast(model, &input, 1, 7, NULL, &output), ASSAY_OK);
    assert_int_equal(output.shape[1], 7);
    assay_model_memory memory;
    class_->memory(model, &memory);
    assert_int_equal(memory.parameters, 2020 * 8);
    assert_int_equal(memory.gradients, 2020 * 8);

    assay_tensor weights[8];
    for (size_t i = 0; i < count; i++)
        weights[i] = list[i].value;
    double inferred[8] = {0};
    assert_int_equal(class_->infer(weights, count, inferred, NULL), ASSAY_OK);
    assert_true(inferred[0] == 20 && inferred[1] == 5);
    assert_int_equal(class_->infer(weights, 1, inferred, NULL), ASSAY_E_FORMAT);
    assert_int_equal(class_->infer(weights + 1, 5, inferred, NULL), ASSAY_E_FORMAT);
    assay_error error = {0};
    input.shape[1] = 4;
    assert_int_equal(class_->forward(model, &input, 1, &error, &output), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "at least 5 steps"));
    class_->destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_of_windows),
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_fit_of_near_copies),
        cmocka_unit_test(test_fit_finds_the_model_that_made_the_data),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_spectral_radius),
        cmocka_unit_test(test_spectral_radius_of_large_models),
        cmocka_unit_test(test_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
