/* The LSTM: every path compared with the reference in double, gradients with differences of that
 * reference, streams with whole sequences; and a step after set-up allocates nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "models/sequence/lstm_state.h"
#include "tests/reference/reference.h"
#include "tests/sanitizers.h"

static assay__lstm *make(int64_t input, int64_t hidden, int64_t layers, int64_t output,
                         double dropout, int64_t truncate)
{
    assay__lstm *model = NULL;
    assay__lstm_shape shape = {input, hidden, layers, output, dropout, truncate};
    assert_int_equal(assay__lstm_new(&shape, 3, NULL, &model), ASSAY_OK);
    return model;
}

static float *make_values(int64_t count, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    float *values = calloc((size_t)count, sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)assay__random_normal(&random);
    return values;
}

static void assert_close(int64_t count, const float *got, const double *expected, double tolerance)
{
    double most = 0, scale = 0;
    for (int64_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)got[i] - expected[i]));
        scale = fmax(scale, fabs(expected[i]));
    }
    assert_true(most <= tolerance * scale);
}

/* batch, time, input, hidden, layers, output */
static const int64_t shapes[][6] = {
    {1, 1, 3, 4, 1, 2},      {1, 1, 20, 64, 2, 20},
    {1, 30, 20, 64, 1, 20},  {2, 9, 5, 17, 3, 4},
    {8, 4, 1, 1, 1, 1},      {9, 1, 7, 16, 2, 3},
    {32, 20, 20, 64, 1, 20}, {33, 6, 2, 31, 2, 19},
    {5, 2, 40, 33, 2, 40},   {9, 3, 7, 200, 2, 3} /* weights larger than a cache: products */,
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void test_forward(void **state)
{
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        int64_t batch = shapes[s][0], time = shapes[s][1], input = shapes[s][2];
        int64_t output = shapes[s][5];
        assay__lstm *model = make(input, shapes[s][3], shapes[s][4], output, 0, 0);
        float *x = make_values(batch * time * input, (uint64_t)s);
        double *expected = calloc((size_t)(batch * output), sizeof *expected);
        const float *y = NULL;
        assert_int_equal(reference_lstm(model, batch, time, x, 1, expected), ASSAY_OK);
        for (int training = 0; training < 2; training++) { /* two paths */
            assay__lstm_set_training(model, training);
            assert_int_equal(assay__lstm_forward(model, batch, time, x, &y), ASSAY_OK);
            assert_close(batch * output, y, expected, 2e-6);
        }
        free(x);
        free(expected);
        assay__lstm_free(model);
    }
}

static void test_forecast(void **state)
{
    (void)state;
    static const int64_t cases[][5] = {/* batch, time, width, hidden, steps */
                                       {1, 5, 20, 64, 100},
                                       {1, 1, 3, 5, 2},
                                       {3, 4, 17, 16, 9},
                                       {12, 3, 6, 20, 15},
                                       {9, 2, 5, 200, 4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t batch = cases[c][0], time = cases[c][1], width = cases[c][2], steps = cases[c][4];
        assay__lstm *model = make(width, cases[c][3], 2, width, 0, 0);
        float *x = make_values(batch * time * width, c);
        double *expected = calloc((size_t)(batch * steps * width), sizeof *expected);
        const float *y = NULL;
        assert_int_equal(reference_lstm(model, batch, time, x, steps, expected), ASSAY_OK);
        assert_int_equal(assay__lstm_forecast(model, batch, time, x, steps, &y), ASSAY_OK);
        assert_close(batch * steps * width, y, expected, 2e-6);
        free(x);
        free(expected);
        assay__lstm_free(model);
    }
}

static void test_stream_follows_the_sequence(void **state)
{
    (void)state;
    assay__lstm *model = make(6, 37, 2, 5, 0, 0);
    float *x = make_values(12 * 6, 1), y[5];
    double expected[5];
    assert_int_equal(assay__lstm_pack(model), ASSAY_OK);
    float *stream = calloc(assay__lstm_stream_floats(model), sizeof *stream);
    for (int64_t t = 0; t < 12; t++) {
        assay__lstm_step(model, stream, x + t * 6, y);
        assert_int_equal(reference_lstm(model, 1, t + 1, x, 1, expected), ASSAY_OK);
        assert_close(5, y, expected, 2e-6);
    }
    free(stream);
    free(x);
    assay__lstm_free(model);
}

static double reference_loss(const assay__lstm *model, int64_t batch, int64_t time, const float *x,
                             const float *target)
{
    int64_t count = batch * model->shape.output;
    double *y = calloc((size_t)count, sizeof *y), sum = 0;
    assert_int_equal(reference_lstm(model, batch, time, x, 1, y), ASSAY_OK);
    for (int64_t i = 0; i < count; i++)
        sum += (y[i] - (double)target[i]) * (y[i] - (double)target[i]);
    free(y);
    return sum / (double)count;
}

/* Every element of every tensor, by central differences of the reference. */
static void check_gradient(int64_t batch, int64_t time, int64_t input, int64_t hidden,
                           int64_t layers, int64_t output)
{
    assay__lstm *model = make(input, hidden, layers, output, 0, 0);
    float *x = make_values(batch * time * input, 5), *target = make_values(batch * output, 6);
    double loss;
    assert_int_equal(assay__lstm_gradient(model, batch, time, x, target, &loss), ASSAY_OK);
    assert_true(fabs(loss - reference_loss(model, batch, time, x, target)) < 1e-5 * loss);
    for (size_t p = 0; p < model->parameters.count; p++) {
        float *value = assay__parameters_value(&model->parameters, p);
        int64_t count = assay_tensor_count(&model->parameters.list[p].value);
        double *slopes = calloc((size_t)count, sizeof *slopes);
        for (int64_t i = 0; i < count; i++) {
            float kept = value[i], above = kept + 1e-3F, below = kept - 1e-3F;
            value[i] = above;
            slopes[i] = reference_loss(model, batch, time, x, target);
            value[i] = below;
            slopes[i] -= reference_loss(model, batch, time, x, target);
            slopes[i] /= (double)above - (double)below;
            value[i] = kept;
        }
        assert_close(count, assay__parameters_gradient(&model->parameters, p), slopes, 2e-5);
        free(slopes);
    }
    free(x);
    free(target);
    assay__lstm_free(model);
}

/* The first `steps` of each sequence; caller frees. */
static float *prefixes(const float *x, int64_t batch, int64_t time, int64_t width, int64_t steps)
{
    float *to = calloc((size_t)(batch * steps * width), sizeof *to);
    for (int64_t b = 0; b < batch; b++)
        memcpy(to + b * steps * width, x + b * time * width, (size_t)(steps * width) * sizeof *to);
    return to;
}

/* With targets after every step the gradient is the mean of those of all prefixes, each with a
 * target after its last step. */
static void check_all_targets(int64_t batch, int64_t time, int64_t layers)
{
    enum { INPUT = 3, HIDDEN = 5, OUTPUT = 2 };
    assay__lstm *model = make(INPUT, HIDDEN, layers, OUTPUT, 0, 0);
    float *x = make_values(batch * time * INPUT, 5),
          *targets = make_values(batch * time * OUTPUT, 6);
    size_t total = model->parameters.total;
    double *mean = calloc(total, sizeof *mean), mean_loss = 0, loss;
    for (int64_t steps = 1; steps <= time; steps++) {
        float *start = prefixes(x, batch, time, INPUT, steps),
              *last = make_values(batch * OUTPUT, 1);
        for (int64_t b = 0; b < batch; b++)
            memcpy(last + b * OUTPUT, targets + (b * time + steps - 1) * OUTPUT,
                   OUTPUT * sizeof *last);
        assert_int_equal(assay__lstm_gradient(model, batch, steps, start, last, &loss), ASSAY_OK);
        mean_loss += loss / (double)time;
        for (size_t i = 0; i < total; i++)
            mean[i] += (double)model->parameters.gradients[i] / (double)time;
        free(start);
        free(last);
    }
    assert_int_equal(assay__lstm_gradient_all(model, batch, time, x, targets, &loss), ASSAY_OK);
    assert_true(fabs(loss - mean_loss) < 1e-5 * loss);
    assert_close((int64_t)total, model->parameters.gradients, mean, 1e-5);
    free(x);
    free(targets);
    free(mean);
    assay__lstm_free(model);
}

static void test_targets_after_every_step(void **state)
{
    (void)state;
    check_all_targets(3, 6, 1);
    check_all_targets(2, 4, 3);
    check_all_targets(4, 1, 2);
}

static void test_gradient(void **state)
{
    (void)state;
    check_gradient(3, 5, 2, 3, 1, 2);
    check_gradient(2, 4, 3, 5, 3, 1);
    check_gradient(1, 1, 2, 4, 2, 3);
    check_gradient(1, 3, 2, 3, 4, 1);
}

/* Cut after k steps, the gradient is that of the last k steps alone, run from states given to them:
 * made here of a model whose earlier steps a change of weights cannot reach. */
static void test_truncation(void **state)
{
    (void)state;
    enum { TIME = 7, KEPT = 3, BATCH = 2, INPUT = 3, HIDDEN = 4, OUTPUT = 2 };
    assay__lstm *cut = make(INPUT, HIDDEN, 2, OUTPUT, 0, KEPT);
    assay__lstm *frozen = make(INPUT, HIDDEN, 2, OUTPUT, 0, 0);
    float *x = make_values(BATCH * TIME * INPUT, 5), *target = make_values(BATCH * OUTPUT, 6);
    double loss;
    assert_int_equal(assay__lstm_gradient(cut, BATCH, TIME, x, target, &loss), ASSAY_OK);
    for (size_t p = 0; p < cut->parameters.count; p++) {
        float *value = assay__parameters_value(&cut->parameters, p);
        const float *gradient = assay__parameters_gradient(&cut->parameters, p);
        int64_t count = assay_tensor_count(&cut->parameters.list[p].value);
        for (int64_t i = 0; i < count; i += 3) {
            float kept = value[i];
            double sides[2];
            for (int side = 0; side < 2; side++) {
                /* A stream through the frozen model, then the changed one. */
                double sum = 0;
                for (int64_t b = 0; b < BATCH; b++) {
                    float stream[128] = {0}, y[OUTPUT];
                    assert_true(assay__lstm_stream_floats(cut) <= 128);
                    assert_int_equal(assay__lstm_pack(frozen), ASSAY_OK);
                    value[i] = kept + (side == 0 ? 5e-3F : -5e-3F);
                    assert_int_equal(assay__lstm_pack(cut), ASSAY_OK);
                    value[i] = kept;
                    for (int64_t t = 0; t < TIME; t++) {
                        assay__lstm_step(t < TIME - KEPT ? frozen : cut, stream,
                                         x + (b * TIME + t) * INPUT, y);
                    }
                    for (int64_t o = 0; o < OUTPUT; o++) {
                        double difference = (double)y[o] - (double)target[b * OUTPUT + o];
                        sum += difference * difference / (BATCH * OUTPUT);
                    }
                }
                sides[side] = sum;
            }
            double slope = (sides[0] - sides[1]) / 1e-2;
            assert_true(fabs(slope - (double)gradient[i]) < 1e-4);
        }
    }
    free(x);
    free(target);
    assay__lstm_free(cut);
    assay__lstm_free(frozen);
}

/* Along its own gradient the loss falls as the gradient says, with the mask of that pass. */
static void test_gradient_with_dropout(void **state)
{
    (void)state;
    enum { BATCH = 6, TIME = 8, INPUT = 4 };
    for (int64_t truncate = 0; truncate <= 5; truncate += 5) {
        assay__lstm *model = make(INPUT, 24, 3, 2, 0.4, truncate);
        float *x = make_values(BATCH * TIME * INPUT, 5), *target = make_values(BATCH * 2, 6);
        double loss, losses[2], squares = 0;
        assay__lstm_set_training(model, true);
        uint64_t pass = model->how.passes;
        assert_int_equal(assay__lstm_gradient(model, BATCH, TIME, x, target, &loss), ASSAY_OK);
        size_t total = model->parameters.total;
        float *direction = calloc(total, sizeof *direction);
        memcpy(direction, model->parameters.gradients, total * sizeof *direction);
        for (size_t i = 0; i < total; i++)
            squares += (double)direction[i] * (double)direction[i];
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < total; i++)
                model->parameters.values[i] += (side == 0 ? 0.01F : -0.02F) * direction[i];
            model->how.passes = pass;
            assert_int_equal(assay__lstm_gradient(model, BATCH, TIME, x, target, &losses[side]),
                             ASSAY_OK);
        }
        double slope = (losses[0] - losses[1]) / 0.02;
        if (truncate == 0)
            assert_true(fabs(slope - squares) < 2e-3 * squares);
        /* Another pass, another mask; evaluation, none. */
        double other;
        assert_int_equal(assay__lstm_gradient(model, BATCH, TIME, x, target, &other), ASSAY_OK);
        assert_true(fabs(other - losses[1]) > 1e-6);
        free(direction);
        free(x);
        free(target);
        assay__lstm_free(model);
    }
}

static void test_training_lowers_the_loss(void **state)
{
    (void)state;
    assay__lstm *model = make(4, 16, 2, 3, 0, 0);
    float *x = make_values(10 * 5 * 4, 1), *target = make_values(10 * 3, 2);
    double first = 0, loss = 0;
    for (int step = 0; step < 200; step++) {
        assert_int_equal(assay__lstm_gradient(model, 10, 5, x, target, &loss), ASSAY_OK);
        assert_int_equal(assay__lstm_update(model, 0.01, NULL), ASSAY_OK);
        first = step == 0 ? loss : first;
    }
    assert_true(loss < 0.05 * first);
    free(x);
    free(target);
    assay__lstm_free(model);
}

/* ---- Allocations, counted where they are made ---- */

#if ADDRESS_SANITIZER || THREAD_SANITIZER || !defined(__GLIBC__) /* they bring allocators */
static const bool counting = false;
static size_t allocations;
#else
static const bool counting = true;
static size_t allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __libc_memalign(alignment, size);
}
#endif

static void all_passes(assay__lstm *model, const float *x, const float *target)
{
    double loss;
    const float *y;
    for (int training = 0; training < 2; training++) {
        assay__lstm_set_training(model, training);
        assert_int_equal(assay__lstm_gradient(model, 9, 6, x, target, &loss), ASSAY_OK);
        assert_int_equal(assay__lstm_update(model, 1e-3, NULL), ASSAY_OK);
        assert_int_equal(assay__lstm_forward(model, 9, 6, x, &y), ASSAY_OK);
        assert_int_equal(assay__lstm_forward(model, 3, 6, x, &y), ASSAY_OK);
        assert_int_equal(assay__lstm_forecast(model, 9, 6, x, 4, &y), ASSAY_OK);
        assert_int_equal(assay__lstm_forecast(model, 2, 3, x, 4, &y), ASSAY_OK);
    }
}

static void test_steady_passes_allocate_nothing(void **state)
{
    (void)state;
    assay__lstm *model = make(5, 12, 3, 5, 0.2, 0);
    float *x = make_values(9 * 6 * 5, 1), *target = make_values(9 * 5, 2);
    all_passes(model, x, target);
    assay_model_memory before, after;
    assay__memory_figures(model->memory, &before);
    size_t count = allocations;
    all_passes(model, x, target);
    count = allocations - count;
    assay__memory_figures(model->memory, &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(count, 0);
    assert_true(!counting || allocations > 0);
    free(x);
    free(target);
    assay__lstm_free(model);
}

/* ---- The class ---- */

static void add_flops(void *context, const assay_term *operation)
{
    if (operation->kind == ASSAY_TERM_MATMUL)
        *(int64_t *)context += 2 * operation->count * operation->m * operation->k * operation->n;
}

static void test_class(void **state)
{
    (void)state;
    const assay_model_class *class_ = &assay__lstm_class;
    double settings[16];
    for (size_t i = 0; i < class_->option_count; i++)
        settings[i] = class_->options[i].initial;
    settings[2] = 2; /* layers */
    void *model = NULL;
    assay_tensor input, target, output;
    double loss;
    assert_int_equal(class_->create(settings, 1, NULL, &model), ASSAY_OK);
    assert_int_equal(class_->example(model, 2, NULL, &input, &target), ASSAY_OK);
    size_t count, elements = 0;
    const assay_model_parameter *list = class_->parameters(model, &count);
    assert_int_equal(count, 10);
    assert_string_equal(list[5].value.name, "lstm.weight_hh_l1");
    assay_tensor weights[10];
    for (size_t i = 0; i < count; i++) {
        elements += (size_t)assay_tensor_count(&list[i].value);
        weights[i] = list[i].value;
        for (int64_t k = 0; k < assay_tensor_count(&list[i].value); k++)
            assert_true(fabsf(((float *)list[i].value.data)[k]) <= 0.125F); /* 1 / sqrt(64) */
    }
    int64_t parameters = 256 * (20 + 64 + 2) + 256 * (64 + 64 + 2) + 20 * 64 + 20, flops = 0;
    assert_int_equal(elements, parameters);
    assert_int_equal(class_->describe(model, &input, 1, add_flops, &flops, NULL), ASSAY_OK);
    assert_int_equal(flops, 2 * 32 * (20 * 256 * (20 + 64 + 64 + 64) + 64 * 20));
    assert_int_equal(class_->gradient(model, &input, 1, &target, NULL, &loss), ASSAY_OK);
    assert_int_equal(class_->update(model, 1e-3, NULL), ASSAY_OK);
    assert_int_equal(class_->forecast(model, &input, 1, 7, NULL, &output), ASSAY_OK);
    assert_true(output.rank == 3 && output.shape[1] == 7);
    assay_model_memory memory;
    class_->memory(model, &memory);
    assert_int_equal(memory.parameters, 4 * parameters);
    assert_int_equal(memory.gradients, 4 * parameters);
    assert_int_equal(memory.optimizer, 8 * parameters);

    double inferred[16] = {0};
    assert_int_equal(class_->infer(weights, count, inferred, NULL), ASSAY_OK);
    assert_true(inferred[0] == 20 && inferred[1] == 64 && inferred[2] == 2 && inferred[3] == 20);
    assert_int_equal(class_->infer(weights + 1, count - 1, inferred, NULL), ASSAY_E_FORMAT);
    assert_int_equal(class_->infer(weights, count - 2, inferred, NULL), ASSAY_E_FORMAT);
    assay_error error = {0};
    input.shape[2] = 19;
    assert_int_equal(class_->forward(model, &input, 1, &error, &output), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "(batch, time, 20)"));
    class_->destroy(model);
}

static void test_forecast_needs_equal_widths(void **state)
{
    (void)state;
    const assay_model_class *class_ = &assay__lstm_class;
    double settings[] = {3, 4, 1, 2, 0, 0, 1, 5};
    void *model = NULL;
    assay_tensor input, target, output;
    assay_error error = {0};
    assert_int_equal(class_->create(settings, 1, NULL, &model), ASSAY_OK);
    assert_int_equal(class_->example(model, 2, NULL, &input, &target), ASSAY_OK);
    assert_int_equal(class_->forecast(model, &input, 1, 7, &error, &output), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "output-dim"));
    class_->destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_stream_follows_the_sequence),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_targets_after_every_step),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_gradient_with_dropout),
        cmocka_unit_test(test_training_lowers_the_loss),
        cmocka_unit_test(test_steady_passes_allocate_nothing),
        cmocka_unit_test(test_class),
        cmocka_unit_test(test_forecast_needs_equal_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
