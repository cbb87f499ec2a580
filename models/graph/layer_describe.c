/* The operations of a layer's forward pass. Components are named by what they are for ("attention",
 * "norm"), as in assay_describe_graph_transformer(), so that their sums can be set side by side;
 * the parameters keep PyTorch's names. */
#include <stdio.h>

#include "models/graph/layer.h"

typedef struct description {
    int64_t index;
    assay_operation_sink sink;
    void *context;
} description;

static void say(const description *to, const char *part, assay_operation_kind kind, int64_t count,
                int64_t m, int64_t k, int64_t n)
{
    char component[96];
    snprintf(component, sizeof component, "layers.%lld.%s", (long long)to->index, part);
    to->sink(to->context,
             &(assay_operation){component, kind, count, m, k, n, kind == ASSAY_OP_MATMUL ? 2 : 0});
}

static void say_linear(const description *to, const char *part, int64_t rows, int64_t in,
                       int64_t out)
{
    say(to, part, ASSAY_OP_MATMUL, 1, rows, in, out);
    say(to, part, ASSAY_OP_BIAS, 1, rows, 0, out);
}

static void say_merge(const description *to, const char *norm, int64_t rows, int64_t width)
{
    char part[32];
    snprintf(part, sizeof part, "%s.residual", norm);
    say(to, part, ASSAY_OP_DROPOUT, 1, rows, 0, width);
    say(to, part, ASSAY_OP_ADD, 1, rows, 0, width);
    say(to, norm, ASSAY_OP_LAYER_NORM, 1, rows, 0, width);
}

/* `rows` softmaxes of `columns` in each head; sparse attention has one softmax per node, of as many
 * as it looks at, and is listed with the mean of these. */
static void say_full(const description *to, const assay__attention *attention, int64_t nodes)
{
    const int64_t heads = attention->heads, width = attention->head_width;
    say(to, "attention.scores", ASSAY_OP_MATMUL, heads, nodes, width, nodes);
    if (attention->buckets > 0)
        say(to, "attention.distance_bias", ASSAY_OP_ADD, heads, nodes, 0, nodes);
    say(to, "attention.softmax", ASSAY_OP_SOFTMAX, heads, nodes, 0, nodes);
    say(to, "attention.values", ASSAY_OP_MATMUL, heads, nodes, nodes, width);
}

static void say_sparse(const description *to, const assay__attention *attention)
{
    const int64_t heads = attention->heads, width = attention->head_width;
    const int64_t pairs = attention->attended->offsets[attention->graph->nodes];
    say(to, "attention.scores", ASSAY_OP_MATMUL, heads, pairs, width, 1);
    if (attention->buckets > 0)
        say(to, "attention.distance_bias", ASSAY_OP_ADD, heads, pairs, 0, 1);
    say(to, "attention.softmax", ASSAY_OP_SOFTMAX, heads, 1, 0, pairs);
    say(to, "attention.values", ASSAY_OP_MATMUL, heads, 1, pairs, width);
}

void assay__layer_describe(const assay__layer *layer, const assay__layer_place *place,
                           int64_t index, assay_operation_sink sink, void *context)
{
    const description to = {index, sink, context};
    const assay__graph *graph = place->graph;
    const int64_t nodes = graph->nodes, hidden = place->shape->hidden, ffn = place->shape->ffn;
    char prefix[48];
    snprintf(prefix, sizeof prefix, "layers.%lld.mpnn", (long long)index);
    assay__message_describe(&layer->message, graph, prefix, sink, context);
    say_merge(&to, "norm.1", nodes, hidden);
    say_linear(&to, "attention.in_proj", nodes, hidden, 3 * hidden);
    if (place->attention.attended != NULL)
        say_sparse(&to, &place->attention);
    for (int64_t g = 0; place->attention.attended == NULL && g < graph->graphs; g++)
        say_full(&to, &place->attention, graph->graph_offsets[g + 1] - graph->graph_offsets[g]);
    say_linear(&to, "attention.out_proj", nodes, hidden, hidden);
    say_merge(&to, "norm.2", nodes, hidden);
    say(&to, "merge", ASSAY_OP_ADD, 1, nodes, 0, hidden);
    say_linear(&to, "ffn.0", nodes, hidden, ffn);
    say(&to, "ffn.1", place->shape->gelu ? ASSAY_OP_GELU : ASSAY_OP_RELU, 1, nodes, 0, ffn);
    say_linear(&to, "ffn.2", nodes, ffn, hidden);
    say_merge(&to, "norm.3", nodes, hidden);
}
