/* The graph transformer as a model class: its options, how they are inferred from weights, the
 * checks of inputs and targets, and random examples. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"
#include "models/graph/transformer.h"

enum {
    INPUT_DIM,
    HIDDEN_DIM,
    NUM_LAYERS,
    NUM_HEADS,
    FFN_DIM,
    OUTPUT_DIM,
    MPNN,
    ATTENTION,
    ACTIVATION,
    READOUT,
    LAP_DIM,
    RW_STEPS,
    BIAS_DISTANCE,
    DROPOUT,
    NUM_NODES,
    NUM_EDGES,
    BATCH_SIZE,
    OPTIONS
};

static const char *const mpnn_words[] = {"gin", "gcn", "gated-gcn", NULL};
static const char *const attention_words[] = {"full", "sparse", NULL};
static const char *const activation_words[] = {"relu", "gelu", NULL};
static const char *const readout_words[] = {"node", "graph", NULL};

#define WHOLE(name, help, initial, minimum, maximum)                                               \
    {                                                                                              \
        name, help, initial, minimum, maximum, true, NULL                                          \
    }
#define CHOICE(name, help, words)                                                                  \
    {                                                                                              \
        name, help, 0, 0, (double)(sizeof words / sizeof *words - 2), true, words                  \
    }

static const assay_model_option options[OPTIONS] = {
    [INPUT_DIM] = WHOLE("input-dim", "features of a node", 48, 0, 1 << 20),
    [HIDDEN_DIM] = WHOLE("hidden-dim", "width of a node's state", 256, 1, 1 << 16),
    [NUM_LAYERS] = WHOLE("num-layers", "layers", 6, 1, 1024),
    [NUM_HEADS] = WHOLE("num-heads", "attention heads; must divide hidden-dim", 8, 1, 1 << 16),
    [FFN_DIM] = WHOLE("ffn-dim", "width of the feed-forward part", 512, 1, 1 << 20),
    [OUTPUT_DIM] = WHOLE("output-dim", "values per node or graph", 1, 1, 1 << 20),
    [MPNN] = CHOICE("mpnn", "message passing", mpnn_words),
    [ATTENTION] = CHOICE("attention", "all nodes of a graph, or neighbours only", attention_words),
    [ACTIVATION] = CHOICE("activation", "of the feed-forward part", activation_words),
    [READOUT] = CHOICE("readout", "an output per node, or per graph from the mean", readout_words),
    [LAP_DIM] = WHOLE("lap-dim", "Laplacian eigenvectors appended to the features", 0, 0, 4096),
    [RW_STEPS] = WHOLE("rw-steps", "random-walk return probabilities appended", 0, 0, 4096),
    [BIAS_DISTANCE] =
        WHOLE("bias-distance", "attention bias by distance up to this; 0: none", 0, 0, 253),
    [DROPOUT] = {"dropout", "rate in training, after each branch of a layer", 0, 0, 0.99, false,
                 NULL},
    [NUM_NODES] = WHOLE("num-nodes", "of an example: nodes per graph", 500, 1, 1 << 24),
    [NUM_EDGES] = WHOLE("num-edges", "of an example: directed edges per graph", 2500, 0, 1 << 28),
    [BATCH_SIZE] = WHOLE("batch-size", "of an example: graphs", 1, 1, 1 << 20)};

enum { NODES, EDGES, GRAPHS, INPUTS };

static const assay_model_input inputs_of_class[INPUTS] = {
    {"nodes", "features, (nodes, input-dim)", ASSAY_F32, 2, false},
    {"edges", "sources and targets, (2, edges); both directions of an undirected edge", ASSAY_I64,
     2, false},
    {"graphs", "the graph of each node, 0, 1, ... ascending, (nodes); default: one graph",
     ASSAY_I64, 1, true}};

typedef struct state {
    assay__graph_transformer *model;
    assay__graph_transformer_shape shape;
    int64_t example_nodes, example_edges, example_graphs;
    bool training;
    float *features; /* the example's */
    int64_t *edges, *graphs;
    float *target;
} state;

/* ---- Life ---- */

static void destroy(void *pointer)
{
    state *s = pointer;
    if (s == NULL)
        return;
    assay__graph_transformer_free(s->model);
    free(s->features);
    free(s->edges);
    free(s->graphs);
    free(s->target);
    free(s);
}

static assay__graph_transformer_shape shape_of(const double *settings)
{
    return (assay__graph_transformer_shape){.input = (int64_t)settings[INPUT_DIM],
                                            .hidden = (int64_t)settings[HIDDEN_DIM],
                                            .layers = (int64_t)settings[NUM_LAYERS],
                                            .heads = (int64_t)settings[NUM_HEADS],
                                            .ffn = (int64_t)settings[FFN_DIM],
                                            .output = (int64_t)settings[OUTPUT_DIM],
                                            .laplacian = (int64_t)settings[LAP_DIM],
                                            .walk = (int64_t)settings[RW_STEPS],
                                            .bias_distance = (int64_t)settings[BIAS_DISTANCE],
                                            .message = (assay__message_kind)settings[MPNN],
                                            .sparse = settings[ATTENTION] == 1,
                                            .gelu = settings[ACTIVATION] == 1,
                                            .pooled = settings[READOUT] == 1,
                                            .dropout = (float)settings[DROPOUT]};
}

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **made)
{
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a graph transformer");
    s->shape = shape_of(settings);
    s->example_nodes = (int64_t)settings[NUM_NODES];
    s->example_edges = (int64_t)settings[NUM_EDGES];
    s->example_graphs = (int64_t)settings[BATCH_SIZE];
    assay_status status = assay__graph_transformer_new(&s->shape, seed, error, &s->model);
    if (status == ASSAY_OK)
        *made = s;
    else
        destroy(s);
    return status;
}

static const assay_model_parameter *parameters(void *pointer, size_t *count)
{
    return assay__parameters_list(assay__graph_transformer_parameters(((state *)pointer)->model),
                                  count);
}

static void memory(void *pointer, assay_model_memory *figures)
{
    assay__graph_transformer_memory(((state *)pointer)->model, figures);
}

static assay_model_training *training_of(void *pointer)
{
    return assay__graph_transformer_training(((state *)pointer)->model);
}

static void set_training(void *pointer, bool training)
{
    ((state *)pointer)->training = training;
}

/* ---- Settings from weights ---- */

/* One more than the largest L of a tensor "layers.L. ..." */
static int64_t count_layers(const assay_tensor *weights, size_t count)
{
    int64_t layers = 0;
    for (size_t i = 0; i < count; i++) {
        int index, length = 0;
        if (sscanf(weights[i].name, "layers.%6d.%n", &index, &length) == 1 && length > 0 &&
            index >= layers)
            layers = (int64_t)index + 1;
    }
    return layers;
}

static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    const assay_tensor *encoder = assay__tensor_find(weights, count, "encoder.weight", 2);
    const assay_tensor *ffn = assay__tensor_find(weights, count, "layers.0.ffn.0.weight", 2);
    const assay_tensor *head = assay__tensor_find(weights, count, "head.weight", 2);
    const assay_tensor *bias =
        assay__tensor_find(weights, count, "layers.0.attn.distance_bias.weight", 2);
    if (encoder == NULL || ffn == NULL || head == NULL) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "not a graph transformer's weights: no matrix '%s'",
                           encoder == NULL ? "encoder.weight"
                           : ffn == NULL   ? "layers.0.ffn.0.weight"
                                           : "head.weight");
    }
    double encodings = settings[LAP_DIM] + settings[RW_STEPS];
    if ((double)encoder->shape[1] < encodings) {
        return assay__fail(
            error, ASSAY_E_ARGUMENT,
            "encoder.weight takes %lld values of a node, fewer than lap-dim %.0f and "
            "rw-steps %.0f",
            (long long)encoder->shape[1], settings[LAP_DIM], settings[RW_STEPS]);
    }
    settings[INPUT_DIM] = (double)encoder->shape[1] - encodings;
    settings[HIDDEN_DIM] = (double)encoder->shape[0];
    settings[NUM_LAYERS] = (double)count_layers(weights, count);
    settings[FFN_DIM] = (double)ffn->shape[0];
    settings[OUTPUT_DIM] = (double)head->shape[0];
    settings[BIAS_DISTANCE] = 0;
    if (bias != NULL) {
        settings[BIAS_DISTANCE] = (double)bias->shape[0] - 2;
        settings[NUM_HEADS] = (double)bias->shape[1];
    }
    settings[MPNN] =
        assay__tensor_find(weights, count, "layers.0.mpnn.A.weight", 2) != NULL ? ASSAY__GATED_GCN
        : assay__tensor_find(weights, count, "layers.0.mpnn.lin.weight", 2) != NULL ? ASSAY__GCN
                                                                                    : ASSAY__GIN;
    return ASSAY_OK;
}

/* ---- Passes ---- */

static assay_status take_graph(state *s, const assay_tensor *inputs, assay_error *error)
{
    const assay_tensor *nodes = &inputs[NODES], *edges = &inputs[EDGES], *graphs = &inputs[GRAPHS];
    if (nodes->shape[1] != s->shape.input) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "nodes: %lld features, but the model takes %lld",
                           (long long)nodes->shape[1], (long long)s->shape.input);
    }
    if (edges->shape[0] != 2) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "edges: shape (%lld, %lld), but it must be (2, edges)",
                           (long long)edges->shape[0], (long long)edges->shape[1]);
    }
    if (graphs->data != NULL && graphs->shape[0] != nodes->shape[0]) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "graphs: %lld values for %lld nodes",
                           (long long)graphs->shape[0], (long long)nodes->shape[0]);
    }
    return assay__graph_transformer_set_graph(s->model, nodes->shape[0], edges->shape[1],
                                              edges->data, graphs->data, error);
}

static int64_t output_rows(const state *s)
{
    const assay__graph *graph = assay__graph_transformer_graph(s->model);
    return s->shape.pooled ? graph->graphs : graph->nodes;
}

static assay_status forward(void *pointer, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)count;
    state *s = pointer;
    const float *values;
    assay_status status = take_graph(s, inputs, error);
    if (status == ASSAY_OK) {
        status = assay__graph_transformer_forward(
            s->model, inputs[NODES].data,
            (assay__graph_transformer_pass){.keep = s->training, .dropout = s->training}, error,
            &values);
    }
    if (status != ASSAY_OK)
        return status;
    *output =
        (assay_tensor){"output", ASSAY_F32, 2, {output_rows(s), s->shape.output}, (float *)values};
    return ASSAY_OK;
}

assay_status assay__graph_transformer_take(void *pointer, const assay_tensor *inputs,
                                           const assay_tensor *target, assay_error *error,
                                           assay__graph_transformer **model)
{
    state *s = pointer;
    *model = s->model;
    assay_status status = take_graph(s, inputs, error);
    if (status != ASSAY_OK || target == NULL)
        return status;
    int64_t rows = output_rows(s);
    if (target->rank != 2 || target->shape[0] != rows || target->shape[1] != s->shape.output) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "target: its shape must be (%lld, %lld)",
                           (long long)rows, (long long)s->shape.output);
    }
    return ASSAY_OK;
}

static assay_status gradient(void *pointer, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    state *s = pointer;
    assay__graph_transformer *model;
    assay_status status = assay__graph_transformer_take(s, inputs, target, error, &model);
    if (status != ASSAY_OK)
        return status;
    return assay__graph_transformer_gradient(model, inputs[NODES].data, target->data, s->training,
                                             error, loss);
}

static assay_status update(void *pointer, double learning_rate, assay_error *error)
{
    return assay__graph_transformer_update(((state *)pointer)->model, learning_rate, error);
}

static assay_status describe(void *pointer, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error)
{
    (void)count;
    state *s = pointer;
    assay_status status = take_graph(s, inputs, error);
    if (status == ASSAY_OK)
        assay__graph_transformer_describe(s->model, sink, context);
    return status;
}

/* ---- Example ---- */

/* Draw a random graph whose nodes are numbered from `first`. Edges come in pairs, one in each
 * direction; if their number is odd, the last edge has no partner. The first pairs connect each
 * node to an earlier one, so that the graph is connected if there are enough edges. */
static void draw_edges(const state *s, int64_t first, int64_t *sources, int64_t *targets,
                       assay__random *random)
{
    int64_t nodes = s->example_nodes;
    for (int64_t e = 0; e < s->example_edges; e++) {
        if (e % 2 == 1) {
            sources[e] = targets[e - 1];
            targets[e] = sources[e - 1];
            continue;
        }
        int64_t from =
            e / 2 + 1 < nodes ? e / 2 + 1 : (int64_t)assay__random_below(random, (uint64_t)nodes);
        int64_t bound = e / 2 + 1 < nodes ? from : nodes;
        sources[e] = first + from;
        targets[e] = first + (int64_t)assay__random_below(random, (uint64_t)bound);
    }
}

static void draw_floats(float *values, int64_t count, assay__random *random)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)assay__random_normal(random);
}

static assay_status example(void *pointer, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    state *s = pointer;
    int64_t nodes = s->example_nodes * s->example_graphs;
    int64_t edges = s->example_edges * s->example_graphs;
    int64_t rows = s->shape.pooled ? s->example_graphs : nodes;
    if (s->features == NULL) {
        s->features = calloc((size_t)(nodes * s->shape.input) + 1, sizeof *s->features);
        s->edges = calloc(2 * (size_t)edges + 1, sizeof *s->edges);
        s->graphs = calloc((size_t)nodes, sizeof *s->graphs);
        s->target = calloc((size_t)(rows * s->shape.output), sizeof *s->target);
    }
    if (s->features == NULL || s->edges == NULL || s->graphs == NULL || s->target == NULL) {
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for an example of %lld nodes",
                           (long long)nodes);
    }
    assay__random random;
    assay__random_init(&random, seed);
    draw_floats(s->features, nodes * s->shape.input, &random);
    draw_floats(s->target, rows * s->shape.output, &random);
    for (int64_t g = 0; g < s->example_graphs; g++) {
        draw_edges(s, g * s->example_nodes, s->edges + g * s->example_edges,
                   s->edges + edges + g * s->example_edges, &random);
    }
    for (int64_t i = 0; i < nodes; i++)
        s->graphs[i] = i / s->example_nodes;
    inputs[NODES] = (assay_tensor){"nodes", ASSAY_F32, 2, {nodes, s->shape.input}, s->features};
    inputs[EDGES] = (assay_tensor){"edges", ASSAY_I64, 2, {2, edges}, s->edges};
    inputs[GRAPHS] = (assay_tensor){"graphs", ASSAY_I64, 1, {nodes}, s->graphs};
    *target = (assay_tensor){"target", ASSAY_F32, 2, {rows, s->shape.output}, s->target};
    return ASSAY_OK;
}

const assay_model_class assay__graph_transformer_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "graph_transformer",
    .summary = "message passing and attention over graphs, in the GPS manner",
    .options = options,
    .option_count = OPTIONS,
    .inputs = inputs_of_class,
    .input_count = INPUTS,
    .create = create,
    .destroy = destroy,
    .infer = infer,
    .parameters = parameters,
    .set_training = set_training,
    .training = training_of,
    .forward = forward,
    .gradient = gradient,
    .update = update,
    .example = example,
    .describe = describe,
    .memory = memory};
