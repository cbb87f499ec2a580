/* Scaling runs of a model class. The class is a toy that writes down the settings with which it was
 * made. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/model_scaling.h"
#include "assay/report.h"

enum { NODES, EDGES, LAYERS, LAP, RWSE, OPTIONS };

static const assay_model_option options[OPTIONS] = {
    [NODES] = {"num-nodes", "", 10, 1, 1000, true, NULL},
    [EDGES] = {"num-edges", "", 40, 0, 100000, true, NULL},
    [LAYERS] = {"num-layers", "", 1, 1, 64, true, NULL},
    [LAP] = {"lap-dim", "", 0, 0, 64, true, NULL},
    [RWSE] = {"rw-steps", "", 0, 0, 64, true, NULL},
};

static struct {
    int alive, made;
    double largest[OPTIONS];
    uint64_t weight_seed, data_seed;
    bool edges_follow;
    double degree;
    uint64_t now_ns; /* moved by the toys: a nanosecond for each node in each layer */
} seen;

typedef struct toy {
    double settings[OPTIONS];
} toy;

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    (void)error;
    toy *self = calloc(1, sizeof *self);
    memcpy(self->settings, settings, sizeof self->settings);
    seen.alive++;
    seen.made++;
    seen.weight_seed = seed;
    for (int i = 0; i < OPTIONS; i++)
        if (settings[i] > seen.largest[i])
            seen.largest[i] = settings[i];
    seen.edges_follow = seen.edges_follow && settings[EDGES] == seen.degree * settings[NODES];
    *state = self;
    return ASSAY_OK;
}

static void destroy(void *state)
{
    seen.alive--;
    free(state);
}

static const assay_model_parameter *parameters(void *state, size_t *count)
{
    (void)state;
    *count = 0;
    return NULL;
}

static const assay_model_input input = {.name = "input", .help = "", .element = ASSAY_F32};

static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    (void)state, (void)error, (void)inputs, (void)target;
    seen.data_seed = seed;
    return ASSAY_OK;
}

static assay_status forward(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)inputs, (void)count, (void)error, (void)output;
    const toy *self = state;
    seen.now_ns += (uint64_t)(self->settings[NODES] * self->settings[LAYERS]);
    return ASSAY_OK;
}

static const assay_model_class toy_class = {.abi = ASSAY_MODEL_ABI,
                                            .struct_size = sizeof(assay_model_class),
                                            .name = "toy",
                                            .summary = "a toy",
                                            .inputs = &input,
                                            .input_count = 1,
                                            .parameters = parameters,
                                            .options = options,
                                            .option_count = OPTIONS,
                                            .create = create,
                                            .destroy = destroy,
                                            .forward = forward,
                                            .example = example};

static assay_model_factory fresh(void)
{
    memset(&seen, 0, sizeof seen);
    seen.edges_follow = true;
    seen.degree = 4;
    assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
    factory.class_ = &toy_class;
    assay_set_seed(&factory, 42);
    return factory;
}

static assay_clock *toy_clock;

static uint64_t toy_now(void *context)
{
    (void)context;
    return seen.now_ns;
}

static int make_clock(void **state)
{
    (void)state;
    return (int)assay_clock_new_injected(toy_now, NULL, &toy_clock);
}

static int drop_clock(void **state)
{
    (void)state;
    assay_clock_free(toy_clock);
    return 0;
}

static assay_scaling_options quick(void)
{
    assay_scaling_options made = ASSAY_SCALING_OPTIONS_INIT;
    made.clock = toy_clock;
    made.budget_seconds = 0.2;
    made.passes = 2;
    return made;
}

static void nodes_take_their_edges_along(void **state)
{
    (void)state;
    assay_model_factory factory = fresh();
    assay_scaling_options how = quick();
    const int64_t sizes[] = {20, 40, 80};
    assay_scaling *scaling = NULL;
    assert_int_equal(assay_run_node_scaling(&factory, sizes, 3, 0, &how, NULL, &scaling), ASSAY_OK);
    assert_int_equal(scaling->count, 3);
    assert_true(scaling->parameter_values[2] == 80);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(scaling->runtime_stats[i].mean_seconds - 1e-9 * (double)sizes[i]) < 1e-15);
    assert_true(seen.edges_follow);
    assert_true(seen.largest[EDGES] == 320);
    assert_int_equal(seen.weight_seed, 42);
    assert_int_equal(seen.data_seed, 42);
    assert_int_equal(seen.made, 6);
    assert_int_equal(seen.alive, 0);
    assay_scaling_free(scaling);

    seen.degree = 2.5;
    assert_int_equal(assay_run_node_scaling(&factory, sizes, 3, 2.5, &how, NULL, &scaling),
                     ASSAY_OK);
    assert_true(seen.edges_follow);
    assay_scaling_free(scaling);
}

static void layers_at_given_nodes(void **state)
{
    (void)state;
    assay_model_factory factory = fresh();
    assay_scaling_options how = quick();
    const int64_t layers[] = {1, 2, 4};
    assay_scaling *scaling = NULL;
    assert_int_equal(assay_run_layer_scaling(&factory, layers, 3, 30, &how, NULL, &scaling),
                     ASSAY_OK);
    assert_true(seen.largest[NODES] == 30);
    assert_true(seen.largest[LAYERS] == 4);
    assay_scaling_free(scaling);
}

static void what_cannot_grow_is_named(void **state)
{
    (void)state;
    assay_model_factory factory = fresh();
    assay_scaling *scaling = NULL;
    assay_error error = {0};
    const double sizes[] = {1, 2, 5000};
    assert_int_equal(
        assay_model_scaling_run(&factory, "num_heads", sizes, 3, NULL, &error, &scaling),
        ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "num-nodes, num-edges, num-layers"));
    assay_scaling_options how = quick();
    assert_int_equal(
        assay_model_scaling_run(&factory, "num_nodes", sizes, 3, &how, &error, &scaling),
        ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "num-nodes is 5000"));
    assert_int_equal(seen.alive, 0);
}

static void an_experiment_sums_up(void **state)
{
    (void)state;
    assay_model_factory factory = fresh();
    assay_scaling_options how = quick();
    assay_scaling_experiment *experiment = NULL;
    assert_int_equal(assay_scaling_experiment_new(&factory, &how, &experiment), ASSAY_OK);
    const int64_t layers[] = {1, 2, 4};
    assert_int_equal(assay_scaling_experiment_run_layer_scaling(experiment, layers, 3, 0, NULL),
                     ASSAY_OK);
    const int64_t nodes[] = {10, 20, 40};
    assert_int_equal(assay_scaling_experiment_run_node_scaling(experiment, nodes, 3, 4, NULL),
                     ASSAY_OK);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(assay_scaling_experiment_print_summary(experiment, stream), ASSAY_OK);
    fclose(stream);
    assert_non_null(strstr(text, "SCALING: toy forward\n"));
    assert_non_null(strstr(text, "num-layers       Mean (ms)         Std         Min"));
    assert_non_null(strstr(text, "num-nodes        Mean (ms)         Std         Min"));
    free(text);
    assay_scaling_experiment_free(experiment);
    assert_int_equal(seen.alive, 0);
}

static void encodings_are_subjects(void **state)
{
    (void)state;
    assay_model_factory factory = fresh();
    assay_scaling_options how = quick();
    assay_record *record = NULL;
    assert_int_equal(assay_run_pe_scaling(&factory, NULL, 0, &how, NULL, &record), ASSAY_OK);
    assert_true(seen.largest[LAP] == 16);
    assert_true(seen.largest[RWSE] == 16);
    assert_int_equal(record->subject_count, 3);
    assert_string_equal(record->subjects[1].name, "rwse 16");
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(assay_report_print(record, "scaling", stream, NULL), ASSAY_OK);
    fclose(stream);
    assert_non_null(strstr(text, "SCALING: encodings, forward pass\n"));
    assert_non_null(strstr(text, "\nencoding  "));
    assert_non_null(strstr(text, "\nrwse 16 "));
    free(text);
    assay_record_free(record);
    const assay_pe_config wrong = {"lapp", 4};
    assay_error error = {0};
    assert_int_equal(assay_run_pe_scaling(&factory, &wrong, 1, &how, &error, &record),
                     ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "lapp"));
    assert_null(record);
    assert_int_equal(seen.alive, 0);
}

static void graphs_are_connected_and_repeat(void **state)
{
    (void)state;
    const int64_t sizes[] = {1, 100, 1000};
    assay_scaling_graph *graphs = NULL, *again = NULL;
    assert_int_equal(assay_generate_scaling_graphs(sizes, 3, 5, 16, 42, NULL, &graphs), ASSAY_OK);
    assert_int_equal(assay_generate_scaling_graphs(&sizes[2], 1, 5, 16, 42, NULL, &again),
                     ASSAY_OK);
    assert_int_equal(graphs[0].num_edges, 0);
    assert_int_equal(graphs[1].num_edges, 500);
    assert_int_equal(graphs[2].num_edges, 5000);
    const assay_scaling_graph *big = &graphs[2];
    assert_memory_equal(big->edges, again->edges, 2 * 5000 * sizeof *big->edges);
    assert_memory_equal(big->features, again->features, 1000 * 16 * sizeof *big->features);
    const int64_t *from = big->edges, *to = big->edges + big->num_edges;
    char reached[1000] = {1};
    for (int64_t e = 0; e < big->num_edges; e += 2) {
        assert_true(from[e] != to[e]);
        assert_true(from[e] == to[e + 1] && to[e] == from[e + 1]);
        assert_in_range(from[e], 0, 999);
        if (reached[to[e]])
            reached[from[e]] = 1; /* a node hangs on an earlier one */
    }
    assert_null(memchr(reached, 0, sizeof reached));
    assay_scaling_graphs_free(graphs, 3);
    assay_scaling_graphs_free(again, 1);
    assert_int_equal(assay_generate_scaling_graphs(sizes, 3, -1, 16, 42, NULL, &graphs),
                     ASSAY_E_ARGUMENT);
    assert_null(graphs);
}

static assay_status count_up(void *data)
{
    ++*(int *)data;
    return ASSAY_OK;
}

static void encodings_are_timed(void **state)
{
    (void)state;
    int calls = 0;
    assay_timing timing;
    assert_int_equal(assay_profile_pe_computation(count_up, &calls, NULL, NULL, &timing), ASSAY_OK);
    assert_int_equal(timing.count, 10);
    assert_int_equal(calls, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_take_their_edges_along),    cmocka_unit_test(layers_at_given_nodes),
        cmocka_unit_test(what_cannot_grow_is_named),       cmocka_unit_test(an_experiment_sums_up),
        cmocka_unit_test(graphs_are_connected_and_repeat), cmocka_unit_test(encodings_are_timed),
        cmocka_unit_test(encodings_are_subjects),
    };
    return cmocka_run_group_tests(tests, make_clock, drop_clock);
}
