/* The graph transformer around its layers: the encoder before them, the readout after them, the
 * data derived from the graph, and the memory of a pass. */
#include "models/graph/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/graph/encoding.h"
#include "models/graph/layer.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/loss.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/threads.h"

struct assay__graph_transformer {
    assay__graph_transformer_shape shape;
    assay_model_training training; /* its `passes` counts the passes with dropout */
    assay__memory *memory;
    assay__parameters parameters;
    assay__adam adam;
    size_t encoder, head; /* each a weight, followed by its bias */
    assay__layer *layers; /* (layers) */

    assay__graph graph;
    uint64_t derived_from;     /* the version of the graph that the next four belong to; 0: none */
    assay__adjacency attended; /* if sparse */
    uint8_t *distances;        /* if there is a bias */
    assay__encoder encoder_of; /* scratch of the encodings */
    float *encoded; /* (nodes, width) features and encodings; not used if there are no encodings */

    assay__layer_kept *kept; /* (layers); a pass that keeps nothing uses the first */
    float *states;           /* (layers + 1, nodes, hidden), or (2, nodes, hidden) */
    float *pooled;           /* (graphs, hidden) */
    float *output;           /* (nodes or graphs, output) */
    float *doutput;          /* the same, in backward */
    float *scratch;
    int threads;                /* the number of threads that the scratch is for */
    const float *encoder_input; /* of the last pass */
    bool kept_all;              /* the last pass kept the activations for backward */
};

/* ---- Life ---- */

static int64_t width_of(const assay__graph_transformer_shape *shape)
{
    return shape->input + shape->laplacian + shape->walk;
}

static void declare(assay__graph_transformer *model)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    assay__parameters *parameters = &model->parameters;
    model->encoder = assay__parameters_add(
        parameters, 2, (int64_t[]){shape->hidden, width_of(shape)}, "encoder.weight");
    assay__parameters_add(parameters, 1, &shape->hidden, "encoder.bias");
    for (int64_t l = 0; l < shape->layers; l++)
        model->layers[l] = assay__layer_declare(shape, l, parameters);
    model->head = assay__parameters_add(parameters, 2, (int64_t[]){shape->output, shape->hidden},
                                        "head.weight");
    assay__parameters_add(parameters, 1, &shape->output, "head.bias");
}

static void draw(assay__graph_transformer *model)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    assay__random random;
    assay__random_init(&random, model->training.seed);
    struct {
        size_t weight;
        int64_t in;
    } const linear[] = {{model->encoder, width_of(shape)}, {model->head, shape->hidden}};
    for (size_t i = 0; i < 2; i++) {
        float bound = 1 / sqrtf((float)linear[i].in);
        assay__parameters_uniform(&model->parameters, linear[i].weight, bound, &random);
        assay__parameters_uniform(&model->parameters, linear[i].weight + 1, bound, &random);
    }
    for (int64_t l = 0; l < shape->layers; l++)
        assay__layer_draw(&model->layers[l], shape, &model->parameters, &random);
}

assay_status assay__graph_transformer_new(const assay__graph_transformer_shape *shape,
                                          uint64_t seed, assay_error *error,
                                          assay__graph_transformer **model)
{
    if (shape->hidden % shape->heads != 0) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "hidden-dim %lld is not a multiple of num-heads %lld; give num-heads",
                           (long long)shape->hidden, (long long)shape->heads);
    }
    if (width_of(shape) < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "nodes have neither features nor encodings; give input-dim");
    }
    assay__graph_transformer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a graph transformer");
    made->shape = *shape;
    made->training.seed = seed;
    assay__parameters_init(&made->parameters);
    made->memory = assay__memory_new();
    made->layers = calloc((size_t)shape->layers, sizeof *made->layers);
    made->kept = calloc((size_t)shape->layers, sizeof *made->kept);
    if (made->memory == NULL || made->layers == NULL || made->kept == NULL)
        goto fail;
    assay__graph_init(&made->graph, made->memory);
    declare(made);
    if (assay__parameters_allocate(&made->parameters, made->memory) != ASSAY_OK)
        goto fail;
    draw(made);
    *model = made;
    return ASSAY_OK;

fail:
    assay__graph_transformer_free(made);
    return assay__fail(error, ASSAY_E_MEMORY, "no memory for the graph transformer's parameters");
}

void assay__graph_transformer_free(assay__graph_transformer *model)
{
    if (model == NULL)
        return;
    assay__parameters_release(&model->parameters);
    assay__memory_free(model->memory);
    free(model->layers);
    free(model->kept);
    free(model);
}

assay__parameters *assay__graph_transformer_parameters(assay__graph_transformer *model)
{
    return &model->parameters;
}

assay_model_training *assay__graph_transformer_training(assay__graph_transformer *model)
{
    return &model->training;
}

const assay__graph *assay__graph_transformer_graph(const assay__graph_transformer *model)
{
    return &model->graph;
}

void assay__graph_transformer_memory(const assay__graph_transformer *model,
                                     assay_model_memory *figures)
{
    assay__memory_figures(model->memory, figures);
}

const assay__graph_transformer_shape *
assay__graph_transformer_shape_of(const assay__graph_transformer *model)
{
    return &model->shape;
}

assay__graph_transformer_derived
assay__graph_transformer_derived_of(const assay__graph_transformer *model)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    return (assay__graph_transformer_derived){
        .attended = shape->sparse ? &model->attended : NULL,
        .distances = !shape->sparse && shape->bias_distance > 0 ? model->distances : NULL};
}

/* ---- The graph ---- */

static assay_status derive(assay__graph_transformer *model, assay_error *error)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    assay_status status = ASSAY_OK;
    if (shape->sparse)
        status = assay__graph_attended(&model->graph, &model->attended);
    else if (shape->bias_distance > 0)
        status = assay__graph_distances(&model->graph, shape->bias_distance, &model->distances);
    if (status != ASSAY_OK) {
        return assay__fail(error, status, "no memory for a graph of %lld nodes",
                           (long long)model->graph.nodes);
    }
    if (shape->laplacian + shape->walk == 0)
        return ASSAY_OK;
    int64_t width = width_of(shape);
    status =
        assay__memory_resize(model->memory, ASSAY__ACTIVATIONS,
                             (size_t)(model->graph.nodes * width), sizeof(float), &model->encoded);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for the encodings");
    status = assay__encode_laplacian(&model->encoder_of, &model->graph, shape->laplacian,
                                     model->encoded + shape->input, width, error);
    if (status != ASSAY_OK)
        return status;
    return assay__encode_walk(&model->encoder_of, &model->graph, shape->walk,
                              model->encoded + shape->input + shape->laplacian, width, error);
}

assay_status assay__graph_transformer_set_graph(assay__graph_transformer *model, int64_t nodes,
                                                int64_t edges, const int64_t *edge_list,
                                                const int64_t *graphs, assay_error *error)
{
    assay_status status = assay__graph_set(&model->graph, nodes, edges, edge_list, graphs, error);
    if (status != ASSAY_OK || model->derived_from == model->graph.version)
        return status;
    model->kept_all = false;
    status = derive(model, error);
    model->derived_from = status == ASSAY_OK ? model->graph.version : 0;
    return status;
}

/* ---- Passes ---- */

static assay__layer_place place_of(const assay__graph_transformer *model)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    bool biased = shape->bias_distance > 0;
    return (assay__layer_place){.shape = shape,
                                .parameters = &model->parameters,
                                .graph = &model->graph,
                                .attention = {.heads = shape->heads,
                                              .head_width = shape->hidden / shape->heads,
                                              .threads = model->threads,
                                              .graph = &model->graph,
                                              .attended = shape->sparse ? &model->attended : NULL,
                                              .buckets = biased ? shape->bias_distance + 2 : 0,
                                              .distances = biased ? model->distances : NULL},
                                .scratch = model->scratch};
}

static int64_t output_rows(const assay__graph_transformer *model)
{
    return model->shape.pooled ? model->graph.graphs : model->graph.nodes;
}

static assay_status reserve(assay__graph_transformer *model, bool keep)
{
    model->threads = assay__threads();
    const assay__graph_transformer_shape *shape = &model->shape;
    const assay__layer_place place = place_of(model);
    size_t wide = (size_t)(model->graph.nodes * shape->hidden);
    size_t output = (size_t)(output_rows(model) * shape->output);
    size_t states = keep ? (size_t)shape->layers + 1 : 2;
    size_t scratch = assay__layer_scratch(&model->layers[0], &place, keep) + (keep ? 2 * wide : 0);
    struct {
        assay__memory_use use;
        size_t floats;
        float **block;
    } const blocks[] = {{ASSAY__ACTIVATIONS, states * wide, &model->states},
                        {ASSAY__ACTIVATIONS, output, &model->output},
                        {ASSAY__WORKSPACE, keep ? output : 0, &model->doutput},
                        {ASSAY__ACTIVATIONS,
                         shape->pooled ? (size_t)(model->graph.graphs * shape->hidden) : 0,
                         &model->pooled},
                        {ASSAY__WORKSPACE, scratch, &model->scratch}};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < sizeof blocks / sizeof *blocks; i++) {
        status = assay__memory_resize(model->memory, blocks[i].use, blocks[i].floats, sizeof(float),
                                      blocks[i].block);
    }
    for (int64_t l = 0; status == ASSAY_OK && l < (keep ? shape->layers : 1); l++)
        status = assay__layer_reserve(&model->layers[l], &place, model->memory, &model->kept[l]);
    return status;
}

/* pooled (graphs, hidden) = means of h (nodes, hidden) */
static void pool(const assay__graph *graph, int64_t hidden, const float *h, float *pooled)
{
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g], end = graph->graph_offsets[g + 1];
        float *mean = pooled + g * hidden, share = 1 / (float)(end - first);
        memset(mean, 0, (size_t)hidden * sizeof *mean);
        assay__column_sum(end - first, hidden, h + first * hidden, hidden, mean);
        for (int64_t j = 0; j < hidden; j++)
            mean[j] *= share;
    }
}

static void pool_backward(const assay__graph *graph, int64_t hidden, const float *dpooled,
                          float *dh)
{
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g], end = graph->graph_offsets[g + 1];
        float share = 1 / (float)(end - first);
        for (int64_t i = first; i < end; i++)
            for (int64_t j = 0; j < hidden; j++)
                dh[i * hidden + j] = share * dpooled[g * hidden + j];
    }
}

const float *assay__graph_transformer_encoder_input(assay__graph_transformer *model,
                                                    const float *features)
{
    int64_t input = model->shape.input, width = width_of(&model->shape);
    if (width == input)
        return features;
    for (int64_t i = 0; i < model->graph.nodes; i++)
        memcpy(model->encoded + i * width, features + i * input, (size_t)input * sizeof *features);
    return model->encoded;
}

static float *state_of(const assay__graph_transformer *model, int64_t layer, bool keep)
{
    return model->states + (keep ? layer : layer % 2) * model->graph.nodes * model->shape.hidden;
}

assay_status assay__graph_transformer_forward(assay__graph_transformer *model,
                                              const float *features,
                                              assay__graph_transformer_pass pass,
                                              assay_error *error, const float **output)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    model->kept_all = false;
    if (model->derived_from == 0)
        return assay__fail(error, ASSAY_E_STATE, "no graph is set");
    if (reserve(model, pass.keep) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a pass over %lld nodes",
                           (long long)model->graph.nodes);
    }
    const assay__layer_place place = place_of(model);
    assay_model_training *training = &model->training;
    const float dropout = pass.dropout && !training->no_dropout ? shape->dropout : 0;
    training->passes += dropout > 0;
    model->encoder_input = assay__graph_transformer_encoder_input(model, features);
    assay__linear_forward(model->graph.nodes, width_of(shape), shape->hidden, model->encoder_input,
                          assay__parameters_value(&model->parameters, model->encoder),
                          assay__parameters_value(&model->parameters, model->encoder + 1),
                          state_of(model, 0, pass.keep));
    for (int64_t l = 0; l < shape->layers; l++) {
        assay__layer_kept *kept = &model->kept[pass.keep ? l : 0];
        kept->dropout = dropout;
        kept->dropout_key =
            training->seed + training->passes * (uint64_t)shape->layers + (uint64_t)l;
        assay__layer_forward(&model->layers[l], &place, state_of(model, l, pass.keep), kept,
                             state_of(model, l + 1, pass.keep));
    }
    const float *last = state_of(model, shape->layers, pass.keep);
    if (shape->pooled)
        pool(&model->graph, shape->hidden, last, model->pooled);
    assay__linear_forward(
        output_rows(model), shape->hidden, shape->output, shape->pooled ? model->pooled : last,
        assay__parameters_value(&model->parameters, model->head),
        assay__parameters_value(&model->parameters, model->head + 1), model->output);
    model->kept_all = pass.keep;
    *output = model->output;
    return ASSAY_OK;
}

/* dh (nodes, hidden) from doutput; `dpooled` is scratch of (graphs, hidden) */
static void head_backward(assay__graph_transformer *model, const float *doutput, float *dpooled,
                          float *dh)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    const float *x = shape->pooled ? model->pooled : state_of(model, shape->layers, true);
    assay__linear_backward(output_rows(model), shape->hidden, shape->output, doutput, x,
                           assay__parameters_value(&model->parameters, model->head),
                           shape->pooled ? dpooled : dh,
                           assay__parameters_gradient(&model->parameters, model->head),
                           assay__parameters_gradient(&model->parameters, model->head + 1));
    if (shape->pooled)
        pool_backward(&model->graph, shape->hidden, dpooled, dh);
}

assay_status assay__graph_transformer_backward(assay__graph_transformer *model,
                                               const float *doutput, assay_error *error)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    if (!model->kept_all) {
        return assay__fail(error, ASSAY_E_STATE,
                           "backward needs a forward pass that kept its activations");
    }
    int64_t wide = model->graph.nodes * shape->hidden;
    assay__layer_place place = place_of(model);
    float *dnext = model->scratch, *dh = dnext + wide;
    place.scratch = dh + wide;

    assay__parameters_zero_gradients(&model->parameters);
    head_backward(model, doutput, dh, dnext);
    for (int64_t l = shape->layers - 1; l >= 0; l--) {
        assay__layer_backward(&model->layers[l], &place, state_of(model, l, true), &model->kept[l],
                              dnext, dh);
        float *swapped = dnext;
        dnext = dh;
        dh = swapped;
    }
    assay__linear_backward(model->graph.nodes, width_of(shape), shape->hidden, dnext,
                           model->encoder_input,
                           assay__parameters_value(&model->parameters, model->encoder), NULL,
                           assay__parameters_gradient(&model->parameters, model->encoder),
                           assay__parameters_gradient(&model->parameters, model->encoder + 1));
    return ASSAY_OK;
}

assay_status assay__graph_transformer_gradient(assay__graph_transformer *model,
                                               const float *features, const float *target,
                                               bool dropout, assay_error *error, double *loss)
{
    const float *output;
    assay_status status = assay__graph_transformer_forward(
        model, features, (assay__graph_transformer_pass){.keep = true, .dropout = dropout}, error,
        &output);
    if (status != ASSAY_OK)
        return status;
    *loss = assay__loss(model->training.loss, output_rows(model), model->shape.output, output,
                        target, model->doutput);
    return assay__graph_transformer_backward(model, model->doutput, error);
}

assay_status assay__graph_transformer_update(assay__graph_transformer *model, double learning_rate,
                                             assay_error *error)
{
    return assay__optimizer_step(model->training.optimizer, &model->adam, model->memory,
                                 &model->parameters, learning_rate, error);
}

/* ---- Operations ---- */

void assay__graph_transformer_describe(const assay__graph_transformer *model, assay_term_sink sink,
                                       void *context)
{
    const assay__graph_transformer_shape *shape = &model->shape;
    const int64_t nodes = model->graph.nodes, rows = output_rows(model), hidden = shape->hidden;
    const assay__layer_place place = place_of(model);
    const assay__teller to = {.sink = sink, .context = context};
    assay__tell_linear(&to, "encoder", 1, nodes, width_of(shape), hidden); /* features are data */
    for (int64_t l = 0; l < shape->layers; l++)
        assay__layer_describe(&model->layers[l], &place, l, sink, context);
    if (shape->pooled)
        assay__tell(&to, "pool", ASSAY_TERM_MEAN, 1, nodes, hidden);
    assay__tell_linear(&to, "head", 2, rows, hidden, shape->output);
}
