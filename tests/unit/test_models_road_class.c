/* next_road through its class: inputs that it refuses, its description, and a check that padding
 * does not matter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/model.h"

enum { ROADS = 30, B = 3, T = 4, K = 3, INPUTS = 4 };

typedef struct data {
    int64_t trajectories[B * T], destinations[B], candidates[B * T * K];
    float features[B * T * K * 6], target[B * T * K];
    assay_tensor inputs[INPUTS], goal;
} data;

static void fill(data *d)
{
    static const int64_t lengths[B] = {4, 2, 1};
    for (int64_t i = 0; i < B * T; i++) {
        bool driven = i % T < lengths[i / T];
        d->trajectories[i] = driven ? (7 * i + 3) % ROADS : -1;
        for (int64_t k = 0; k < K; k++) { /* 1 to 3 of them */
            bool there = driven && k <= i % K;
            d->candidates[i * K + k] = there ? (11 * i + 5 * k) % ROADS : -1;
            d->target[i * K + k] = there && k == i % K;
            for (int64_t f = 0; f < 6; f++)
                d->features[(i * K + k) * 6 + f] = (float)sin((double)(i + 3 * k + 5 * f));
        }
    }
    for (int64_t b = 0; b < B; b++)
        d->destinations[b] = 9 * b + 1;
    d->inputs[0] = (assay_tensor){"trajectories", ASSAY_I64, 2, {B, T}, d->trajectories};
    d->inputs[1] = (assay_tensor){"destinations", ASSAY_I64, 1, {B}, d->destinations};
    d->inputs[2] = (assay_tensor){"candidates", ASSAY_I64, 3, {B, T, K}, d->candidates};
    d->inputs[3] = (assay_tensor){"features", ASSAY_F32, 4, {B, T, K, 6}, d->features};
    d->goal = (assay_tensor){"target", ASSAY_F32, 3, {B, T, K}, d->target};
}

static assay_model *new_model(void)
{
    const assay_model_class *class_ = NULL;
    assay_model *model = NULL;
    double settings[16];
    assert_int_equal(assay_model_find("next_road", NULL, &class_), ASSAY_OK);
    assert_in_range(class_->option_count, 2, 16);
    for (size_t i = 0; i < class_->option_count; i++) {
        settings[i] = class_->options[i].initial;
        if (strcmp(class_->options[i].name, "num-nodes") == 0)
            settings[i] = ROADS;
    }
    assert_int_equal(assay_model_new(class_, settings, 1, NULL, &model), ASSAY_OK);
    return model;
}

static void test_probabilities_and_loss(void **state)
{
    (void)state;
    data d;
    assay_tensor y;
    assay_error error = {0};
    double loss, expected = 0;
    int decisions = 0;
    assay_model *model = new_model();
    fill(&d);
    assert_int_equal(assay_model_forward(model, d.inputs, INPUTS, &error, &y), ASSAY_OK);
    assert_int_equal(y.rank, 3);
    const float *p = y.data;
    for (int64_t i = 0; i < B * T; i++) {
        double sum = 0;
        for (int64_t k = 0; k < K; k++) {
            bool there = d.candidates[i * K + k] >= 0;
            assert_true(there ? p[i * K + k] > 0 : p[i * K + k] == 0);
            sum += (double)p[i * K + k];
            if (d.target[i * K + k] != 0) {
                expected -= log((double)p[i * K + k]);
                decisions++;
            }
        }
        assert_true(d.trajectories[i] >= 0 ? fabs(sum - 1) < 1e-6 : sum == 0);
    }
    assert_int_equal(assay_model_gradient(model, d.inputs, INPUTS, &d.goal, &error, &loss),
                     ASSAY_OK);
    assert_true(fabs(loss - expected / decisions) < 1e-5 * loss);
    assay_model_free(model);
}

/* The first trajectory alone, without the others beside it, has the same probabilities. */
static void test_padding_does_not_matter(void **state)
{
    (void)state;
    data d;
    assay_tensor y;
    float kept[T * K];
    assay_model *model = new_model();
    fill(&d);
    assert_int_equal(assay_model_forward(model, d.inputs, INPUTS, NULL, &y), ASSAY_OK);
    memcpy(kept, y.data, sizeof kept);
    for (size_t i = 0; i < INPUTS; i++)
        d.inputs[i].shape[0] = 1;
    assert_int_equal(assay_model_forward(model, d.inputs, INPUTS, NULL, &y), ASSAY_OK);
    for (size_t i = 0; i < T * K; i++)
        assert_true(fabs((double)(kept[i] - ((const float *)y.data)[i])) < 1e-6);
    assay_model_free(model);
}

static void refuse(assay_model *model, data *d, assay_status expected, const char *message)
{
    assay_error error = {0};
    double loss;
    assert_int_equal(assay_model_gradient(model, d->inputs, INPUTS, &d->goal, &error, &loss),
                     expected);
    if (strstr(error.message, message) == NULL)
        fail_msg("says: %s", error.message);
    fill(d);
}

static void test_bad_inputs(void **state)
{
    (void)state;
    data d;
    assay_model *model = new_model();
    fill(&d);
    d.trajectories[1] = ROADS;
    refuse(model, &d, ASSAY_E_DATA, "trajectories: element 1 is 30; roads are 0 to 29");
    d.destinations[2] = -1;
    refuse(model, &d, ASSAY_E_DATA, "destinations: element 2 is -1");
    d.candidates[0] = -2;
    refuse(model, &d, ASSAY_E_DATA, "candidates: element 0 is -2");
    d.trajectories[T + 3] = 5;
    refuse(model, &d, ASSAY_E_DATA, "trajectory 1 goes on after its end");
    d.candidates[(T + 3) * K] = 5;
    refuse(model, &d, ASSAY_E_DATA, "trajectory 1 has candidates after its end");
    d.inputs[1].shape[0] = 2;
    refuse(model, &d, ASSAY_E_ARGUMENT, "differ in batch or time");
    d.inputs[3].shape[3] = 5;
    refuse(model, &d, ASSAY_E_ARGUMENT, "features are (3, 4, 3, 5)");
    memset(d.target, 0, sizeof d.target);
    refuse(model, &d, ASSAY_E_DATA, "the target is 0 for every candidate");
    d.features[7] = NAN;
    refuse(model, &d, ASSAY_E_DATA, "features");
    assay_model_free(model);
}

typedef struct tally {
    int64_t products, softmax_rows, embeddings;
} tally;

static void count(void *context, const assay_term *operation)
{
    tally *t = context;
    if (operation->kind == ASSAY_TERM_MATMUL)
        t->products += operation->count * operation->m * operation->k * operation->n;
    else if (operation->kind == ASSAY_TERM_SOFTMAX)
        t->softmax_rows += operation->m;
    else if (operation->kind == ASSAY_TERM_EMBEDDING)
        t->embeddings += operation->m;
}

static void test_description(void **state)
{
    (void)state;
    data d;
    tally t = {0};
    assay_model *model = new_model();
    fill(&d);
    assert_int_equal(assay_model_describe(model, d.inputs, INPUTS, count, &t, NULL), ASSAY_OK);
    int64_t candidates = 0;
    for (size_t i = 0; i < B * T * K; i++)
        candidates += d.candidates[i] >= 0;
    const int64_t E = 32, H = 64, S = 64;
    assert_int_equal(t.products, B * T * E * 3 * H + B * T * H * 3 * H + B * T * H * S + B * E * S +
                                     candidates * (E + 6 + 1) * S);
    assert_int_equal(t.softmax_rows, 7);
    assert_int_equal(t.embeddings, B * T + B + candidates);
    assert_int_equal(assay_model_parameter_count(model),
                     2 * ROADS * E + 3 * H * (E + H + 2) + S * (H + 2 * E + 6 + 2));
    assay_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities_and_loss),
        cmocka_unit_test(test_padding_does_not_matter),
        cmocka_unit_test(test_bad_inputs),
        cmocka_unit_test(test_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
