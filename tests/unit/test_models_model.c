/* The checks on which every model may rely, tested with a class made for it: limits of settings,
 * matching of inputs, values that are not finite, missing functions, incomplete tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/model.h"
#include "models/file/safetensors.h"
#include "models/registry.h"

/* ---- a model that notes what it was given ---- */

typedef struct probe {
    const assay_tensor *inputs;
    size_t count;
    bool training;
    float weights[6], gradients[6];
    assay_model_parameter parameters[2];
} probe;

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    (void)seed;
    (void)error;
    if (settings[0] == 13)
        return ASSAY_E_LIMIT; /* without a word */
    probe *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->parameters[0] =
        (assay_model_parameter){{"w", ASSAY_F32, 2, {2, 2}, self->weights}, self->gradients};
    self->parameters[1] =
        (assay_model_parameter){{"b", ASSAY_F32, 1, {2}, self->weights + 4}, self->gradients + 4};
    *state = self;
    return ASSAY_OK;
}

static void destroy(void *state)
{
    free(state);
}

static const assay_model_parameter *parameters(void *state, size_t *count)
{
    *count = 2;
    return ((probe *)state)->parameters;
}

static assay_status forward(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)error;
    probe *self = state;
    self->inputs = inputs;
    self->count = count;
    *output = inputs[0];
    return ASSAY_OK;
}

static const char *const words[] = {"relu", "gelu", NULL};
static const assay_model_option options[] = {
    {"width", "columns", 2, 1, 100, true, NULL},
    {"rate", "a share", 0.5, 0, 1, false, NULL},
    {"activation", "a choice", 1, 0, 1, true, words},
};
static const assay_model_input inputs_taken[] = {
    {"nodes", "(nodes, width)", ASSAY_F32, 2, false},
    {"edges", "(2, edges)", ASSAY_I64, 2, false},
    {"bias", "(nodes)", ASSAY_F64, 1, true},
};
static const assay_model_class base_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "probe",
    .summary = "notes what it was given",
    .options = options,
    .option_count = 3,
    .inputs = inputs_taken,
    .input_count = 3,
    .create = create,
    .destroy = destroy,
    .parameters = parameters,
    .forward = forward,
};

static assay_model *make(void)
{
    assay_model *model = NULL;
    assay_error error = {0};
    assert_int_equal(assay_model_new(&base_class, NULL, 1, &error, &model), ASSAY_OK);
    return model;
}

static void test_settings(void **state)
{
    (void)state;
    assay_error error = {0};
    assay_model *model = make();
    assert_true(assay_model_settings(model)[1] == 0.5);
    assert_int_equal(assay_model_parameter_count(model), 6);
    assert_ptr_equal(assay_model_class_of(model), &base_class);
    assay_model_set_training(model, true); /* has none: nothing happens */
    assay_model_free(model);
    assay_model_free(NULL);
    const double bad[] = {1.5, 2, NAN};
    assert_int_equal(assay_model_new(&base_class, bad, 1, &error, &model), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "width is 1.5, not a whole number"));
    assert_non_null(strstr(error.message, "rate is 2, and must be from 0 to 1"));
    assert_non_null(strstr(error.message, "activation is nan"));
    error = (assay_error){0};
    assert_int_equal(assay_model_new(&base_class, (double[]){13, 0, 0}, 1, &error, &model),
                     ASSAY_E_LIMIT);
    assert_non_null(strstr(error.message, "model 'probe' failed in create()"));
}

static float nodes[6] = {1, 2, 3, 4, 5, 6};
static int64_t edges[4] = {0, 1, 1, 0};
static double biases[3] = {1, 2, 3};
#define NODES                                                                                      \
    {                                                                                              \
        "nodes", ASSAY_F32, 2, {3, 2}, nodes                                                       \
    }
#define EDGES                                                                                      \
    {                                                                                              \
        "edges", ASSAY_I64, 2, {2, 2}, edges                                                       \
    }

static void test_inputs_in_order(void **state)
{
    (void)state;
    assay_error error = {0};
    assay_model *model = make();
    assay_tensor output;
    assay_tensor given[] = {{"bias", ASSAY_F64, 1, {3}, biases}, EDGES, NODES};
    assert_int_equal(assay_model_forward(model, given, 3, &error, &output), ASSAY_OK);
    assert_ptr_equal(output.data, nodes);
    assay_tensor unnamed[] = {EDGES, {NULL, ASSAY_F32, 2, {3, 2}, nodes}};
    assert_int_equal(assay_model_forward(model, unnamed, 2, &error, &output), ASSAY_OK);
    assert_ptr_equal(output.data, nodes);
    assert_string_equal(output.name, "nodes");
    /* As an example leaves out an optional one. */
    assay_tensor absent[] = {NODES, EDGES, {"bias", ASSAY_F64, 1, {0}, NULL}};
    assert_int_equal(assay_model_forward(model, absent, 3, &error, &output), ASSAY_OK);
    assay_model_free(model);
}

static void expect_problems(const assay_tensor *given, size_t count, const char *const *parts)
{
    assay_error error = {0};
    assay_model *model = make();
    assay_tensor output;
    assert_int_equal(assay_model_forward(model, given, count, &error, &output), ASSAY_E_ARGUMENT);
    for (; *parts != NULL; parts++)
        if (strstr(error.message, *parts) == NULL)
            fail_msg("no '%s' in '%s'", *parts, error.message);
    assay_model_free(model);
}

static void test_inputs_wrong(void **state)
{
    (void)state;
    const assay_tensor none[1] = {0};
    expect_problems(none, 0,
                    (const char *[]){"'nodes' (nodes, width) is missing",
                                     "'edges' (2, edges) is missing", NULL});
    const assay_tensor odd[] = {{"nodes", ASSAY_F64, 1, {6}, nodes},
                                {"edges", ASSAY_I64, 2, {2, -1}, edges},
                                {"weather", ASSAY_F32, 1, {1}, nodes},
                                EDGES};
    expect_problems(odd, 4,
                    (const char *[]){"'nodes' holds float64, not float32",
                                     "'nodes' has shape (6), expected is (nodes, width)",
                                     "'edges' has shape (2, -1)", "there is no input 'weather'",
                                     "'edges' is given twice", NULL});
}

static void test_not_finite(void **state)
{
    (void)state;
    assay_error error = {0};
    assay_model *model = make();
    assay_tensor output;
    const int64_t rows = 5000; /* more than one block of the search */
    float *many = calloc((size_t)rows * 2, sizeof *many);
    assert_non_null(many);
    assay_tensor given[] = {{"nodes", ASSAY_F32, 2, {rows, 2}, many}, EDGES};
    assert_int_equal(assay_model_forward(model, given, 2, &error, &output), ASSAY_OK);
    many[2 * 4321 + 1] = NAN;
    assert_int_equal(assay_model_forward(model, given, 2, &error, &output), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "nodes holds NaN at (4321, 1)"));
    many[7] = -INFINITY;
    assert_int_equal(assay_model_forward(model, given, 2, &error, &output), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "-infinity at (3, 1)"));
    many[7] = 3e38f;
    many[2 * 4321 + 1] = 0;
    const int64_t ends[] = {0, 4095, 4096, 2 * rows - 1}; /* of blocks and of the whole */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        many[ends[i]] = INFINITY;
        assert_int_equal(assay_model_forward(model, given, 2, &error, &output), ASSAY_E_DATA);
        many[ends[i]] = 0;
    }
    double bad[] = {0, 1, INFINITY};
    assay_tensor with_bias[] = {given[0], EDGES, {"bias", ASSAY_F64, 1, {3}, bad}};
    assert_int_equal(assay_model_forward(model, with_bias, 3, &error, &output), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "bias holds infinity at (2)"));
    free(many);
    assay_model_free(model);
}

static void test_unsupported(void **state)
{
    (void)state;
    assay_error error = {0};
    assay_model *model = make();
    assay_tensor given[] = {NODES, EDGES}, output, made[3];
    assay_model_memory memory;
    double loss;
    const assay_status results[] = {
        assay_model_forecast(model, given, 2, 3, &error, &output),
        assay_model_gradient(model, given, 2, &given[0], &error, &loss),
        assay_model_update(model, 0.1, &error),
        assay_model_fit(model, given, 2, &error),
        assay_model_example(model, 1, &error, made, &output),
        assay_model_describe(model, given, 2, NULL, NULL, &error),
        assay_model_memory_now(model, &error, &memory),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        assert_int_equal(results[i], ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "'probe'"));
    assay_model_free(model);
}

static void refuse(const assay_model_class *class_, assay_status status, const char *part)
{
    assay_error error = {0};
    assay_model *model = NULL;
    if (assay_model_new(class_, NULL, 1, &error, &model) != status ||
        strstr(error.message, part) == NULL)
        fail_msg("expected '%s', got '%s'", part, error.message);
}

static void test_classes(void **state)
{
    (void)state;
    assay_model_class bad;
    refuse(NULL, ASSAY_E_FORMAT, "no class");
#define REFUSE(status, part, ...) (bad = base_class, __VA_ARGS__, refuse(&bad, status, part))
    REFUSE(ASSAY_E_VERSION, "version 2", bad.abi = 2);
    REFUSE(ASSAY_E_VERSION, "struct_size", bad.struct_size = 8);
    struct {
        assay_model_class known;
        const char *wish;
    } newer = {base_class, "of a later version"};
    newer.known.struct_size = sizeof newer;
    refuse(&newer.known, ASSAY_E_VERSION, "struct_size");
    newer.wish = NULL;
    newer.known.name = NULL; /* looked at next */
    refuse(&newer.known, ASSAY_E_FORMAT, "valid name");
    REFUSE(ASSAY_E_FORMAT, "valid name", bad.name = NULL);
    REFUSE(ASSAY_E_FORMAT, "valid name", bad.name = "Big");
    REFUSE(ASSAY_E_FORMAT, "valid name", bad.name = "a/b");
    REFUSE(ASSAY_E_FORMAT, "no function 'create'", bad.create = NULL);
    REFUSE(ASSAY_E_FORMAT, "no function 'destroy'", bad.destroy = NULL);
    REFUSE(ASSAY_E_FORMAT, "no function 'parameters'", bad.parameters = NULL);
    REFUSE(ASSAY_E_FORMAT, "no function 'forward'", bad.forward = NULL);
    REFUSE(ASSAY_E_FORMAT, "table of options", bad.options = NULL);
    REFUSE(ASSAY_E_FORMAT, "table of options", bad.option_count = SIZE_MAX);
    REFUSE(ASSAY_E_FORMAT, "table of inputs", bad.inputs = NULL);
    REFUSE(ASSAY_E_FORMAT, "table of inputs", bad.input_count = 0);
    assay_model_option changed[3];
    bad = base_class;
    bad.options = changed;
#define REFUSE_OPTION(part, ...)                                                                   \
    (memcpy(changed, options, sizeof options), __VA_ARGS__, refuse(&bad, ASSAY_E_FORMAT, part))
    REFUSE_OPTION("option 2 has no valid name", changed[1].name = "--rate");
    REFUSE_OPTION("'rate' has no help", changed[1].help = NULL);
    REFUSE_OPTION("default outside", changed[1].initial = 2);
    REFUSE_OPTION("default outside", changed[1].maximum = INFINITY);
    REFUSE_OPTION("default outside", changed[1].initial = NAN);
    REFUSE_OPTION("whole numbers", changed[0].initial = 1.5);
    REFUSE_OPTION("is a choice", changed[2].maximum = 2);
    REFUSE_OPTION("occurs twice", changed[2].name = "rate");
    assay_model_input taken[3];
    bad = base_class;
    bad.inputs = taken;
#define REFUSE_INPUT(part, ...)                                                                    \
    (memcpy(taken, inputs_taken, sizeof taken), __VA_ARGS__, refuse(&bad, ASSAY_E_FORMAT, part))
    REFUSE_INPUT("input 1 has no valid name", taken[0].name = NULL);
    REFUSE_INPUT("no known type", taken[0].element = (assay_element)9);
    REFUSE_INPUT("too many axes", taken[2].rank = 5);
    REFUSE_INPUT("occurs twice", taken[2].name = "nodes");
}

static void test_registry(void **state)
{
    (void)state;
    size_t count = 0;
    const assay_model_class *const *classes = assay_model_classes(&count);
    for (size_t i = 0; i < count; i++) {
        const assay_model_class *found = NULL;
        assay_error error = {0};
        assert_int_equal(assay__class_check(classes[i], "built in", &error), ASSAY_OK);
        assert_true(i == 0 || strcmp(classes[i - 1]->name, classes[i]->name) < 0);
        assert_int_equal(assay_model_find(classes[i]->name, &error, &found), ASSAY_OK);
        assert_ptr_equal(found, classes[i]);
    }
    const assay_model_class *found = NULL;
    assay_error error = {0};
    assert_int_equal(assay_model_find("mpl", &error, &found), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "did you mean 'mlp'"));
    assert_int_equal(assay_model_find("something else", &error, &found), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "mlp"));
    assert_int_equal(assay_model_find("", &error, &found), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_model_find("./no.so", &error, &found), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_model_find("/etc/passwd", &error, &found), ASSAY_E_FORMAT);
}

/* A scratch file; the test's own process id keeps parallel runs apart. */
static const char *scratch(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/assay-model-%d.safetensors", (int)getpid());
    return path;
}

static void count_problem(void *context, const char *problem)
{
    assert_true(strlen(problem) > 0);
    ++*(size_t *)context;
}

static void test_weights(void **state)
{
    (void)state;
    assay_error error = {0};
    assay_model *model = make();
    size_t count = 0, problems = 0;
    const assay_model_parameter *list = assay_model_parameters(model, &count);
    float *w = list[0].value.data;
    for (int i = 0; i < 6; i++)
        w[i] = (float)i;
    assert_int_equal(assay_model_save_weights(model, scratch(), &error), ASSAY_OK);
    memset(w, 0, 6 * sizeof *w);
    assert_int_equal(assay_model_load_weights(model, scratch(), &error), ASSAY_OK);
    assert_true(w[0] == 0 && w[3] == 3 && w[5] == 5);
    double settings[] = {7, 0.25, 0};
    assert_int_equal(assay_model_infer(&base_class, scratch(), &error, settings), ASSAY_OK);
    assert_true(settings[0] == 2 && settings[1] == 0.5 && settings[2] == 1); /* as stored */

    /* What cannot be loaded whole is not loaded in part. */
    float good[] = {9, 9, 9, 9}, bad[] = {9, NAN}, more[40] = {0};
    assay_tensor tensors[] = {{"w", ASSAY_F32, 2, {2, 2}, good}, {"b", ASSAY_F32, 1, {2}, bad}};
    assert_int_equal(assay__safetensors_write(scratch(), tensors, 2, NULL, 0, &error), ASSAY_OK);
    assert_int_equal(assay_model_load_weights(model, scratch(), &error), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "tensor 'b' holds NaN at (1)"));
    assert_true(w[3] == 3);

    /* More problems than a message holds. */
    static char names[40][80];
    assay_tensor wrong[40];
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "a.tensor.with.a.long.name.%02d", i);
        wrong[i] = (assay_tensor){names[i], ASSAY_F32, 1, {1}, more};
    }
    assert_int_equal(assay__safetensors_write(scratch(), wrong, 40, NULL, 0, &error), ASSAY_OK);
    assert_int_equal(assay_model_check_weights(model, scratch(), count_problem, &problems, &error),
                     ASSAY_E_FORMAT);
    assert_int_equal(problems, 42);
    assert_non_null(strstr(error.message, "'w' (2, 2) is missing; 'b' (2) is missing; "));
    assert_non_null(strstr(error.message, " more"));

    /* Settings that were stored for this model, but are not within its limits. */
    const assay__safetensors_pair pairs[] = {{"assay.model", "probe"}, {"assay.width", "1e9"}};
    assert_int_equal(assay__safetensors_write(scratch(), tensors, 2, pairs, 2, &error), ASSAY_OK);
    assert_int_equal(assay_model_infer(&base_class, scratch(), &error, settings), ASSAY_E_FORMAT);
    const assay__safetensors_pair other[] = {{"assay.model", "lstm"}};
    assert_int_equal(assay__safetensors_write(scratch(), tensors, 2, other, 1, &error), ASSAY_OK);
    assert_int_equal(assay_model_infer(&base_class, scratch(), &error, settings), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "of model 'lstm', not 'probe'"));

    /* Names that JSON cannot hold: the message says so, and the file stays as it was. */
    tensors[1].name = "b\xff";
    assert_int_equal(assay__safetensors_write(scratch(), tensors, 2, NULL, 0, &error),
                     ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "the name of tensor 2 ('b?') is not valid UTF-8"));
    const assay__safetensors_pair broken[] = {{"key", "\xc3"}};
    assert_int_equal(assay__safetensors_write(scratch(), tensors, 1, broken, 1, &error),
                     ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "'key' of its metadata ('?') is not valid UTF-8"));
    assert_int_equal(assay_model_infer(&base_class, scratch(), &error, settings), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "of model 'lstm'"));
    unlink(scratch());
    assay_model_free(model);
}

/* Every built-in model can be made, and what it says about itself holds together. */
static void test_built_in(void **state)
{
    (void)state;
    size_t count = 0;
    const assay_model_class *const *classes = assay_model_classes(&count);
    for (size_t i = 0; i < count; i++) {
        assay_error error = {0};
        assay_model *model = NULL;
        if (assay_model_new(classes[i], NULL, 3, &error, &model) != ASSAY_OK)
            fail_msg("%s: %s", classes[i]->name, error.message);
        size_t tensors = 0;
        const assay_model_parameter *list = assay_model_parameters(model, &tensors);
        uint64_t bytes = 0;
        for (size_t j = 0; j < tensors; j++) {
            assert_true(list[j].value.name != NULL && list[j].value.data != NULL);
            bytes += (uint64_t)assay_tensor_count(&list[j].value) *
                     (list[j].value.element == ASSAY_F32 ? 4 : 8);
        }
        assay_model_memory memory;
        if (classes[i]->memory != NULL) {
            assert_int_equal(assay_model_memory_now(model, &error, &memory), ASSAY_OK);
            assert_int_equal(memory.parameters, bytes);
        }
        assay_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),     cmocka_unit_test(test_inputs_in_order),
        cmocka_unit_test(test_inputs_wrong), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_unsupported),  cmocka_unit_test(test_classes),
        cmocka_unit_test(test_weights),      cmocka_unit_test(test_registry),
        cmocka_unit_test(test_built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
