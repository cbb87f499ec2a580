/* The graph transformer: gradients by finite differences, counts, memory, and inputs that its class
 * refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/graph/transformer.h"
#include "tests/unit/graph_fixture.h"

static const assay__graph_transformer_shape small = {
    .input = 3, .hidden = 8, .layers = 2, .heads = 2, .ffn = 12, .output = 2};

/* sum(output * direction) of a pass; linear in what comes back, so its gradient is `direction`. */
static double objective(assay__graph_transformer *model, const float *features,
                        const float *direction, size_t count, assay__graph_transformer_pass pass)
{
    const float *output = NULL;
    assay_error error;
    assert_int_equal(assay__graph_transformer_forward(model, features, pass, &error, &output),
                     ASSAY_OK);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)output[i] * (double)direction[i];
    return sum;
}

/* What the passes of a gradient check share. */
typedef struct problem {
    assay__graph_transformer_shape shape;
    batch b;
    float *features, *direction;
    size_t count; /* of outputs */
} problem;

/* A fresh model: its first pass draws the same dropout as that of any other with this seed. */
static assay__graph_transformer *fresh(const problem *p)
{
    assay__graph_transformer *model = NULL;
    assay_error error;
    assert_int_equal(assay__graph_transformer_new(&p->shape, 5, &error, &model), ASSAY_OK);
    assert_int_equal(assay__graph_transformer_set_graph(model, p->b.nodes, p->b.edges, p->b.list,
                                                        p->b.graphs, &error),
                     ASSAY_OK);
    return model;
}

/* The objective with the parameters moved by step x along. */
static double objective_at(const problem *p, double step, const float *along)
{
    assay__graph_transformer *model = fresh(p);
    assay__parameters *parameters = assay__graph_transformer_parameters(model);
    for (size_t i = 0; i < parameters->total; i++)
        parameters->values[i] += (float)step * along[i];
    double value = objective(model, p->features, p->direction, p->count,
                             (assay__graph_transformer_pass){.dropout = true});
    assay__graph_transformer_free(model);
    return value;
}

/* Derivatives along random directions in the space of all parameters, by central differences,
 * against the gradient. */
static void check_gradient(const assay__graph_transformer_shape *shape)
{
    problem p = {.shape = *shape, .b = random_batch(13, 8, 20, 3)};
    p.count = (size_t)((shape->pooled ? 2 : p.b.nodes) * shape->output);
    p.features = normal_floats((size_t)(p.b.nodes * shape->input), 11);
    p.direction = normal_floats(p.count, 12);
    assay__graph_transformer *model = fresh(&p);
    assay__parameters *parameters = assay__graph_transformer_parameters(model);
    assay_error error;
    objective(model, p.features, p.direction, p.count,
              (assay__graph_transformer_pass){.keep = true, .dropout = true});
    assert_int_equal(assay__graph_transformer_backward(model, p.direction, &error), ASSAY_OK);
    for (uint64_t trial = 0; trial < 4; trial++) {
        const double step = 3e-4; /* rounding and the kinks of relu against curvature */
        float *along = normal_floats(parameters->total, 20 + trial);
        double expected = 0, length = 0;
        for (size_t i = 0; i < parameters->total; i++) {
            expected += (double)along[i] * (double)parameters->gradients[i];
            length += (double)parameters->gradients[i] * (double)parameters->gradients[i];
        }
        double measured =
            (objective_at(&p, step, along) - objective_at(&p, -step, along)) / (2 * step);
        if (!(fabs(measured - expected) < 0.015 * sqrt(length))) {
            fail_msg("direction %d: %.6f by differences, %.6f by backward, of %.3f", (int)trial,
                     measured, expected, sqrt(length));
        }
        free(along);
    }
    free(p.direction);
    free(p.features);
    release(&p.b);
    assay__graph_transformer_free(model);
}

static void test_gradients(void **unused)
{
    (void)unused;
    assay__graph_transformer_shape shapes[7];
    for (size_t i = 0; i < 7; i++) {
        shapes[i] = small;
        shapes[i].gelu = true; /* smooth, so that differences converge */
    }
    shapes[1].message = ASSAY__GCN;
    shapes[2].message = ASSAY__GATED_GCN;
    shapes[3].sparse = true;
    shapes[3].pooled = true;
    shapes[4].bias_distance = 2;
    shapes[5].laplacian = 3;
    shapes[5].walk = 2;
    shapes[6].dropout = 0.3F;
    for (size_t i = 0; i < 7; i++)
        check_gradient(&shapes[i]);
}

/* Two models of one seed do the same, pass by pass. That backward repeats a pass's mask is checked
 * with the gradients above. */
static void test_dropout(void **unused)
{
    (void)unused;
    batch b = random_batch(30, 10, 80, 3);
    assay__graph_transformer_shape shape = small;
    shape.dropout = 0.5F;
    assay_error error;
    float *features = normal_floats((size_t)(b.nodes * shape.input), 11);
    float *direction = normal_floats((size_t)(b.nodes * shape.output), 12);
    double results[2][3];
    for (int i = 0; i < 2; i++) {
        assay__graph_transformer *model = NULL;
        size_t count = (size_t)(b.nodes * shape.output);
        assert_int_equal(assay__graph_transformer_new(&shape, 5, &error, &model), ASSAY_OK);
        assert_int_equal(
            assay__graph_transformer_set_graph(model, b.nodes, b.edges, b.list, b.graphs, &error),
            ASSAY_OK);
        assay__graph_transformer_pass training = {.keep = true, .dropout = true};
        results[i][0] = objective(model, features, direction, count, training);
        results[i][1] = objective(model, features, direction, count, training);
        results[i][2] = objective(model, features, direction, count,
                                  (assay__graph_transformer_pass){.keep = true});
        assay__graph_transformer_free(model);
    }
    assert_memory_equal(results[0], results[1], sizeof results[0]); /* the seed decides */
    assert_true(results[0][0] != results[0][1]);                    /* a fresh mask each pass */
    assert_true(results[0][0] != results[0][2]);                    /* none in evaluation */
    free(features);
    free(direction);
    release(&b);
}

typedef struct tally {
    int64_t matmul_flops, gathered;
} tally;

static void count_operation(void *context, const assay_term *operation)
{
    tally *sum = context;
    if (operation->kind == ASSAY_TERM_MATMUL)
        sum->matmul_flops += 2 * operation->count * operation->m * operation->k * operation->n;
    else if (operation->kind == ASSAY_TERM_GATHER_ADD)
        sum->gathered += operation->count * operation->m * operation->n;
}

/* The published size: 3 968 001 parameters and 5.48 GFLOP of matrix products. */
static void test_reference_size(void **unused)
{
    (void)unused;
    assay_model *model = NULL;
    assay_error error;
    assay_tensor inputs[3], target;
    assert_int_equal(assay_model_new(&assay__graph_transformer_class, NULL, 1, &error, &model),
                     ASSAY_OK);
    assert_int_equal(assay_model_parameter_count(model), 3968001);
    assert_int_equal(assay_model_example(model, 1, &error, inputs, &target), ASSAY_OK);
    tally sum = {0};
    assert_int_equal(assay_model_describe(model, inputs, 3, count_operation, &sum, &error),
                     ASSAY_OK);
    const int64_t n = 500, h = 256;
    assert_int_equal(sum.matmul_flops,
                     2 * n * 48 * h + 6 * (2 * n * h * (2 * h + 4 * h + 2 * 512) + 4 * n * n * h) +
                         2 * n * h);
    assert_int_equal(sum.gathered, INT64_C(6) * 2500 * 256);
    assay_model_free(model);
}

/* Parameters and their gradients take 4 bytes each, and a pass repeated takes nothing more. */
static void test_memory(void **unused)
{
    (void)unused;
    batch b = random_batch(30, 10, 80, 3);
    assay__graph_transformer *model = NULL;
    assay_error error;
    assert_int_equal(assay__graph_transformer_new(&small, 5, &error, &model), ASSAY_OK);
    assert_int_equal(
        assay__graph_transformer_set_graph(model, b.nodes, b.edges, b.list, b.graphs, &error),
        ASSAY_OK);
    float *features = normal_floats((size_t)(b.nodes * small.input), 11);
    const float *output;
    assay_model_memory first, again;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            assay__graph_transformer_forward(
                model, features, (assay__graph_transformer_pass){.keep = true}, &error, &output),
            ASSAY_OK);
        assert_int_equal(assay__graph_transformer_backward(model, output, &error), ASSAY_OK);
        assay__graph_transformer_memory(model, i == 0 ? &first : &again);
    }
    assert_memory_equal(&first, &again, sizeof first);
    size_t total = assay__graph_transformer_parameters(model)->total;
    assert_int_equal(first.parameters, 4 * total);
    assert_int_equal(first.gradients, 4 * total);
    free(features);
    release(&b);
    assay__graph_transformer_free(model);
}

/* Training holds a few values per node and layer, and never the scores of a head. */
static void test_scores_are_not_held(void **unused)
{
    (void)unused;
    enum { NODES = 1500, HEADS = 8 };
    const assay__graph_transformer_shape shape = {
        .input = 2, .hidden = 16, .layers = 1, .heads = HEADS, .ffn = 16, .output = 1};
    assay__graph_transformer *model = NULL;
    assay_error error;
    double loss;
    float *features = normal_floats(2 * NODES, 1), *target = normal_floats(NODES, 2);
    assert_int_equal(assay__graph_transformer_new(&shape, 5, &error, &model), ASSAY_OK);
    assert_int_equal(
        assay__graph_transformer_set_graph(model, NODES, 0, (int64_t[]){0}, NULL, &error),
        ASSAY_OK);
    assert_int_equal(
        assay__graph_transformer_gradient(model, features, target, false, &error, &loss), ASSAY_OK);
    assay_model_memory held;
    assay__graph_transformer_memory(model, &held);
    assert_true(held.activations + held.workspace < 4 * NODES * NODES); /* not even one head's */
    free(features);
    free(target);
    assay__graph_transformer_free(model);
}

/* Backward without what it needs is refused, not computed from what happens to be there. */
static void test_order_of_calls(void **unused)
{
    (void)unused;
    assay__graph_transformer *model = NULL;
    assay_error error = {0};
    const float features[6] = {0}, *output;
    assert_int_equal(assay__graph_transformer_new(&small, 5, &error, &model), ASSAY_OK);
    assay__graph_transformer_pass pass = {.keep = false};
    assert_int_equal(assay__graph_transformer_forward(model, features, pass, &error, &output),
                     ASSAY_E_STATE);
    assert_int_equal(assay__graph_transformer_set_graph(model, 2, 0, (int64_t[]){0}, NULL, &error),
                     ASSAY_OK);
    assert_int_equal(assay__graph_transformer_forward(model, features, pass, &error, &output),
                     ASSAY_OK);
    assert_int_equal(assay__graph_transformer_backward(model, output, &error), ASSAY_E_STATE);
    assay__graph_transformer_free(model);
    assay__graph_transformer_shape odd = small;
    odd.heads = 3;
    assert_int_equal(assay__graph_transformer_new(&odd, 5, &error, &model), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "num-heads 3"));
}

/* ---- The class ---- */

/* Settings from the names and shapes of weights; what is missing is named. */
static void test_infer(void **unused)
{
    (void)unused;
    const assay_model_class *class_ = &assay__graph_transformer_class;
    enum {
        INPUT_DIM,
        HIDDEN_DIM,
        NUM_LAYERS,
        NUM_HEADS,
        FFN_DIM,
        OUTPUT_DIM,
        MPNN,
        LAP_DIM = 10,
        RW_STEPS,
        BIAS_DISTANCE
    };
    double made[32], inferred[32];
    for (size_t i = 0; i < class_->option_count; i++)
        made[i] = inferred[i] = class_->options[i].initial;
    made[INPUT_DIM] = 5, made[HIDDEN_DIM] = 12, made[NUM_LAYERS] = 11, made[NUM_HEADS] = 3;
    made[FFN_DIM] = 7, made[OUTPUT_DIM] = 2, made[MPNN] = 2, made[BIAS_DISTANCE] = 4;
    made[LAP_DIM] = inferred[LAP_DIM] = 2;
    made[RW_STEPS] = inferred[RW_STEPS] = 1;
    assay_model *model = NULL;
    assay_error error = {0};
    assert_int_equal(assay_model_new(class_, made, 1, &error, &model), ASSAY_OK);
    size_t count = 0;
    const assay_model_parameter *list = assay_model_parameters(model, &count);
    assay_tensor *weights = calloc(count, sizeof *weights);
    for (size_t i = 0; i < count; i++)
        weights[i] = list[i].value;
    assert_int_equal(class_->infer(weights, count, inferred, &error), ASSAY_OK);
    assert_memory_equal(inferred, made, class_->option_count * sizeof *made);
    assert_int_equal(class_->infer(weights + 1, count - 1, inferred, &error), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "encoder.weight"));
    inferred[LAP_DIM] = 100;
    assert_int_equal(class_->infer(weights, count, inferred, &error), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "lap-dim 100"));
    free(weights);
    assay_model_free(model);
}

/* Inputs that do not belong together are refused by name. */
static void test_bad_inputs(void **unused)
{
    (void)unused;
    assay_model *model = NULL;
    assay_error error = {0};
    assay_tensor inputs[3], target, output;
    assert_int_equal(assay_model_new(&assay__graph_transformer_class, NULL, 1, &error, &model),
                     ASSAY_OK);
    assert_int_equal(assay_model_example(model, 1, &error, inputs, &target), ASSAY_OK);
    struct {
        int input;
        int64_t shape[2];
        const char *says;
    } const cases[] = {{0, {500, 47}, "nodes: 47 features, but the model takes 48"},
                       {1, {3, 100}, "edges: shape (3, 100)"},
                       {2, {499, 0}, "graphs: 499 values for 500 nodes"}};
    for (size_t i = 0; i < 3; i++) {
        assay_tensor changed[3] = {inputs[0], inputs[1], inputs[2]};
        memcpy(changed[cases[i].input].shape, cases[i].shape, sizeof cases[i].shape);
        assert_int_equal(assay_model_forward(model, changed, 3, &error, &output), ASSAY_E_ARGUMENT);
        assert_non_null(strstr(error.message, cases[i].says));
    }
    double loss;
    target.shape[0] = 499;
    assert_int_not_equal(assay_model_gradient(model, inputs, 3, &target, &error, &loss), ASSAY_OK);
    assay_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_reference_size),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_scores_are_not_held),
        cmocka_unit_test(test_order_of_calls),
        cmocka_unit_test(test_infer),
        cmocka_unit_test(test_bad_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
