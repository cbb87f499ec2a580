/* Reports the operations of a layer's forward pass. The components are named by their purpose
 * ("attention", "norm"), with the names of assay_describe_graph_transformer(), so that the sums of
 * both can be compared. The names of the parameters, in contrast, are PyTorch's. */
#include <stdio.h>

#include "models/graph/layer.h"

static void say_merge(const assay__teller *to, const char *norm, int64_t rows, int64_t width)
{
    char part[32];
    snprintf(part, sizeof part, "%s.residual", norm);
    assay__tell(to, part, ASSAY_TERM_DROPOUT, 1, rows, width);
    assay__tell(to, part, ASSAY_TERM_ADD, 1, rows, width);
    assay__tell(to, norm, ASSAY_TERM_LAYER_NORM, 1, rows, width);
}

/* Full attention within one graph of `nodes` nodes: each head has `nodes` softmaxes of `nodes`
 * scores. */
static void say_full(const assay__teller *to, const assay__attention *attention, int64_t nodes)
{
    const int64_t heads = attention->heads, width = attention->head_width;
    assay__tell_product(to, "attention.scores", 2, heads, nodes, width, nodes);
    if (attention->buckets > 0)
        assay__tell(to, "attention.distance_bias", ASSAY_TERM_ADD, heads, nodes, nodes);
    assay__tell(to, "attention.softmax", ASSAY_TERM_SOFTMAX, heads, nodes, nodes);
    assay__tell_product(to, "attention.values", 2, heads, nodes, nodes, width);
}

/* Sparse attention in all graphs. Each node has one softmax, over the nodes that it attends to. The
 * softmaxes of a head are reported as one softmax over all pairs. */
static void say_sparse(const assay__teller *to, const assay__attention *attention)
{
    const int64_t heads = attention->heads, width = attention->head_width;
    const int64_t pairs = attention->attended->offsets[attention->graph->nodes];
    assay__tell_product(to, "attention.scores", 2, heads, pairs, width, 1);
    if (attention->buckets > 0)
        assay__tell(to, "attention.distance_bias", ASSAY_TERM_ADD, heads, pairs, 1);
    assay__tell(to, "attention.softmax", ASSAY_TERM_SOFTMAX, heads, 1, pairs);
    assay__tell_product(to, "attention.values", 2, heads, 1, pairs, width);
}

void assay__layer_describe(const assay__layer *layer, const assay__layer_place *place,
                           int64_t index, assay_term_sink sink, void *context)
{
    assay__teller to = {.sink = sink, .context = context};
    const assay__graph *graph = place->graph;
    const int64_t nodes = graph->nodes, hidden = place->shape->hidden, ffn = place->shape->ffn;
    snprintf(to.prefix, sizeof to.prefix, "layers.%lld.mpnn.", (long long)index);
    assay__message_describe(&layer->message, graph, &to);
    snprintf(to.prefix, sizeof to.prefix, "layers.%lld.", (long long)index);
    say_merge(&to, "norm.1", nodes, hidden);
    assay__tell_linear(&to, "attention.in_proj", 2, nodes, hidden, 3 * hidden);
    if (place->attention.attended != NULL)
        say_sparse(&to, &place->attention);
    for (int64_t g = 0; place->attention.attended == NULL && g < graph->graphs; g++)
        say_full(&to, &place->attention, graph->graph_offsets[g + 1] - graph->graph_offsets[g]);
    assay__tell_linear(&to, "attention.out_proj", 2, nodes, hidden, hidden);
    say_merge(&to, "norm.2", nodes, hidden);
    assay__tell(&to, "merge", ASSAY_TERM_ADD, 1, nodes, hidden);
    assay__tell_linear(&to, "ffn.0", 2, nodes, hidden, ffn);
    assay__tell(&to, "ffn.1", place->shape->gelu ? ASSAY_TERM_GELU : ASSAY_TERM_RELU, 1, nodes,
                ffn);
    assay__tell_linear(&to, "ffn.2", 2, nodes, ffn, hidden);
    say_merge(&to, "norm.3", nodes, hidden);
}
