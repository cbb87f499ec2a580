/* Shared by the tests of models/field: made-up numbers, the largest difference relative to the
 * largest value, central differences along random directions, and a check of all functions of a
 * class. Include after cmocka.h. */
#ifndef TESTS_UNIT_FIELD_CHECK_H
#define TESTS_UNIT_FIELD_CHECK_H

#include <math.h>
#include <stdlib.h>

#include "assay/model.h"
#include "base/random.h"
#include "models/kernel/parameters.h"
#include "tests/emulator.h"

static inline float *uniform_floats(size_t count, float bound, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    float *values = calloc(count, sizeof *values);
    for (size_t i = 0; values != NULL && i < count; i++)
        values[i] = bound * (float)(2 * assay__random_uniform(&random) - 1);
    return values;
}

static inline double *doubles_of(const float *values, size_t count)
{
    double *wide = calloc(count, sizeof *wide);
    for (size_t i = 0; wide != NULL && i < count; i++)
        wide[i] = (double)values[i];
    return wide;
}

/* max |ours - truth| / max |truth|; NaN counts as infinite. */
static inline double largest_error(const float *ours, const double *truth, size_t count)
{
    double error = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
        double here = fabs((double)ours[i] - truth[i]);
        error = here <= error ? error : here;
        scale = fmax(scale, fabs(truth[i]));
    }
    return isnan(error) ? INFINITY : error / fmax(scale, 1e-30);
}

/* Each tensor's largest_error, and of these the largest; truth in the order of the parameters. */
static inline double largest_gradient_error(const assay__parameters *parameters,
                                            const double *truth)
{
    double worst = 0;
    size_t offset = 0;
    for (size_t i = 0; i < parameters->count; i++) {
        size_t count = (size_t)assay_tensor_count(&parameters->list[i].value);
        worst = fmax(worst, largest_error(parameters->list[i].gradient, truth + offset, count));
        offset += count;
    }
    return worst;
}

typedef double (*loss_function)(void *context, const double *values);

/* The derivative along a random direction by central differences, against gradient . direction,
 * relative to |gradient| |direction|. */
static inline double direction_error(loss_function loss, void *context, double *values,
                                     const double *gradient, size_t count, double step,
                                     uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    double *direction = calloc(count, sizeof *direction);
    double expected = 0, size = 0, length = 0;
    for (size_t i = 0; i < count; i++) {
        direction[i] = assay__random_normal(&random);
        expected += direction[i] * gradient[i];
        size += gradient[i] * gradient[i];
        length += direction[i] * direction[i];
        values[i] += step * direction[i];
    }
    double above = loss(context, values);
    for (size_t i = 0; i < count; i++)
        values[i] -= 2 * step * direction[i];
    double below = loss(context, values);
    for (size_t i = 0; i < count; i++)
        values[i] += step * direction[i];
    free(direction);
    return fabs((above - below) / (2 * step) - expected) / sqrt(size * length);
}

/* The loss of the class's own example before the last of so many steps. */
static inline double train(const assay_model_class *class_, const double *settings, int steps,
                           double rate)
{
    assay_error error = {0};
    void *state = NULL;
    assay_tensor input, target;
    double loss = INFINITY;
    assert_int_equal(class_->create(settings, 11, &error, &state), ASSAY_OK);
    assert_int_equal(class_->example(state, 12, &error, &input, &target), ASSAY_OK);
    for (int step = 0; step < steps; step++) {
        assert_int_equal(class_->gradient(state, &input, 1, &target, &error, &loss), ASSAY_OK);
        assert_int_equal(class_->update(state, rate, &error), ASSAY_OK);
    }
    class_->destroy(state);
    return loss;
}

/* An assay_term_sink: the formula's arithmetic by kind of operation, into int64_t[64]. */
static inline void add_flops(void *context, const assay_term *operation)
{
    int64_t *sums = context;
    sums[operation->kind] += operation->count * operation->m * operation->n *
                             (operation->kind == ASSAY_TERM_MATMUL   ? 2 * operation->k
                              : operation->kind == ASSAY_TERM_SPLINE ? operation->k
                                                                     : 1);
}

#endif
