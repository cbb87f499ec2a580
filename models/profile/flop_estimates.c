/* Estimates FLOPs and memory from sizes alone. Each estimate of FLOPs is a list of operations,
 * which are counted like the operations that a model describes. So an estimate and a model's own
 * description always use the same conventions. */
#include <math.h>
#include <stdio.h>

#include "assay/flops.h"
#include "base/struct_size.h"
#include "models/kernel/describe.h"

/* The number of operands of a product that get a gradient. In the product of features and weights
 * only the weights get one, because features are data. */
enum { WEIGHTS = 1, BOTH = 2 };

/* Attention between all pairs of nodes has one matrix product per head for the scores and one for
 * the weighted sums. Attention between some pairs has a dot product for each pair. */
static void tell_attention(const assay__teller *to, int64_t nodes, int64_t hidden, int64_t heads,
                           double sparse_ratio)
{
    int64_t width = heads > 0 ? hidden / heads : 0;
    assay__tell_linear(to, "attention.in_proj", BOTH, nodes, hidden, 3 * hidden);
    if (sparse_ratio >= 1) {
        assay__tell_product(to, "attention.scores", BOTH, heads, nodes, width, nodes);
        assay__tell(to, "attention.softmax", ASSAY_TERM_SOFTMAX, heads, nodes, nodes);
        assay__tell_product(to, "attention.values", BOTH, heads, nodes, nodes, width);
    } else {
        int64_t pairs = (int64_t)llround(sparse_ratio * (double)nodes * (double)nodes);
        assay__tell_product(to, "attention.scores", BOTH, heads, pairs, width, 1);
        assay__tell(to, "attention.softmax", ASSAY_TERM_SOFTMAX, heads, pairs, 1);
        assay__tell_product(to, "attention.values", BOTH, heads, pairs, 1, width);
    }
    assay__tell_linear(to, "attention.out_proj", BOTH, nodes, hidden, hidden);
}

static void tell_gated_gcn(const assay__teller *to, int64_t nodes, int64_t edges, int64_t in,
                           int64_t out)
{
    for (int product = 0; product < 5; product++)
        assay__tell_linear(to, "mpnn.linear", BOTH, product == 2 ? edges : nodes, in, out);
    assay__tell(to, "mpnn.gate", ASSAY_TERM_ADD, 2, edges, out);
    assay__tell(to, "mpnn.gate", ASSAY_TERM_SIGMOID, 1, edges, out);
    assay__tell(to, "mpnn.gate", ASSAY_TERM_MULTIPLY, 1, edges, out);
    assay__tell(to, "mpnn.aggregate", ASSAY_TERM_GATHER_ADD, 2, edges, out);
    assay__tell(to, "mpnn.aggregate", ASSAY_TERM_MULTIPLY, 1, nodes, out);
    assay__tell(to, "mpnn.aggregate", ASSAY_TERM_ADD, 1, nodes, out);
}

static void tell_mpnn(const assay__teller *to, int64_t nodes, int64_t edges, int64_t in,
                      int64_t out, assay_mpnn_type type)
{
    switch (type) {
    case ASSAY_MPNN_GIN:
        assay__tell(to, "mpnn.aggregate", ASSAY_TERM_GATHER_ADD, 1, edges, in);
        assay__tell(to, "mpnn.aggregate", ASSAY_TERM_ADD, 1, nodes, in);
        assay__tell_linear(to, "mpnn.linear", BOTH, nodes, in, out);
        assay__tell(to, "mpnn.activation", ASSAY_TERM_RELU, 1, nodes, out);
        assay__tell_linear(to, "mpnn.linear", BOTH, nodes, out, out);
        break;
    case ASSAY_MPNN_GCN:
        assay__tell_linear(to, "mpnn.linear", BOTH, nodes, in, out);
        assay__tell(to, "mpnn.aggregate", ASSAY_TERM_MULTIPLY, 1, edges + nodes, out);
        assay__tell(to, "mpnn.aggregate", ASSAY_TERM_GATHER_ADD, 1, edges + nodes, out);
        break;
    case ASSAY_MPNN_GATED_GCN:
        tell_gated_gcn(to, nodes, edges, in, out);
        break;
    }
}

static void tell_ffn(const assay__teller *to, int64_t hidden, int64_t ffn, int64_t nodes,
                     assay_term_kind activation)
{
    assay__tell_linear(to, "ffn.linear", BOTH, nodes, hidden, ffn);
    assay__tell(to, "ffn.activation", activation, 1, nodes, ffn);
    assay__tell_linear(to, "ffn.linear", BOTH, nodes, ffn, hidden);
}

static void tell_residual_norm(const assay__teller *to, int64_t nodes, int64_t hidden)
{
    assay__tell(to, "norm", ASSAY_TERM_ADD, 1, nodes, hidden);
    assay__tell(to, "norm", ASSAY_TERM_LAYER_NORM, 1, nodes, hidden);
}

static assay_status check(const assay_graph_transformer_shape *shape)
{
    double ratio = shape->sparse_ratio;
    assay_status status = assay__struct_check(shape, shape->struct_size, sizeof *shape,
                                              "assay_graph_transformer_shape", NULL);
    if (status != ASSAY_OK)
        return status;
    if (shape->num_nodes < 0 || shape->num_edges < 0 || shape->hidden_dim < 1 ||
        shape->num_layers < 0 || shape->num_heads < 1 || shape->ffn_dim < 0 ||
        shape->input_dim < 0 || shape->output_dim < 0 || !(ratio >= 0 && ratio <= 1) ||
        shape->hidden_dim % shape->num_heads != 0)
        return ASSAY_E_ARGUMENT;
    return ASSAY_OK;
}

static assay_status describe(const assay_graph_transformer_shape *shape, assay_term_sink sink,
                             void *context)
{
    assay_status status = check(shape);
    if (status != ASSAY_OK)
        return status;
    assay__teller to = {.sink = sink, .context = context};
    int64_t nodes = shape->num_nodes, hidden = shape->hidden_dim;
    double ratio = shape->sparse_ratio > 0 ? shape->sparse_ratio : 1;
    assay_term_kind activation =
        shape->activation == ASSAY_TERM_RELU ? ASSAY_TERM_RELU : ASSAY_TERM_GELU;
    if (shape->input_dim > 0)
        assay__tell_linear(&to, "encoder", WEIGHTS, nodes, shape->input_dim, hidden);
    for (int64_t layer = 0; layer < shape->num_layers; layer++) {
        snprintf(to.prefix, sizeof to.prefix, "layers.%lld.", (long long)layer);
        tell_mpnn(&to, nodes, shape->num_edges, hidden, hidden, shape->mpnn_type);
        tell_residual_norm(&to, nodes, hidden);
        tell_attention(&to, nodes, hidden, shape->num_heads, ratio);
        tell_residual_norm(&to, nodes, hidden);
        assay__tell(&to, "merge", ASSAY_TERM_ADD, 1, nodes, hidden);
        tell_ffn(&to, hidden, shape->ffn_dim, nodes, activation);
        tell_residual_norm(&to, nodes, hidden);
    }
    to.prefix[0] = '\0';
    if (shape->output_dim > 0)
        assay__tell_linear(&to, "head", BOTH, nodes, hidden, shape->output_dim);
    return ASSAY_OK;
}

assay_status assay_estimate_model_flops(const assay_graph_transformer_shape *shape,
                                        assay_flop_account **account)
{
    assay_status status = assay_flop_account_new(account);
    if (status != ASSAY_OK)
        return status;
    status = describe(shape, assay_flop_account_add, *account);
    if (status != ASSAY_OK) {
        assay_flop_account_free(*account);
        *account = NULL;
    }
    return status;
}

/* A sink that adds up the FLOPs. The sum becomes UINT64_MAX after an overflow or an invalid
 * term. */
static void add_up(void *context, const assay_term *term)
{
    uint64_t *sum = context;
    assay_flops flops;
    if (term->m < 0 || term->k < 0 || term->n < 0 || term->count < 0 ||
        assay_term_flops(term, ASSAY_FLOPS_ASSAY, &flops) != ASSAY_OK ||
        __builtin_add_overflow(*sum, flops.forward, sum))
        *sum = UINT64_MAX;
}

uint64_t assay_estimate_linear_flops(int64_t in_features, int64_t out_features, int64_t batch_size,
                                     int64_t seq_len)
{
    uint64_t sum = 0;
    int64_t rows;
    if (batch_size < 0 || seq_len < 0 || __builtin_mul_overflow(batch_size, seq_len, &rows))
        return UINT64_MAX;
    assay__tell_linear(&(assay__teller){.sink = add_up, .context = &sum}, "", BOTH, rows,
                       in_features, out_features);
    return sum;
}

uint64_t assay_estimate_attention_flops(int64_t num_nodes, int64_t hidden_dim, int64_t num_heads,
                                        double sparse_ratio)
{
    uint64_t sum = 0;
    if (num_heads < 1 || hidden_dim < 0 || hidden_dim % num_heads != 0 ||
        !(sparse_ratio >= 0 && sparse_ratio <= 1) || hidden_dim > INT64_MAX / 3)
        return UINT64_MAX;
    tell_attention(&(assay__teller){.sink = add_up, .context = &sum}, num_nodes, hidden_dim,
                   num_heads, sparse_ratio);
    return sum;
}

uint64_t assay_estimate_mpnn_flops(int64_t num_nodes, int64_t num_edges, int64_t in_features,
                                   int64_t out_features, assay_mpnn_type type)
{
    uint64_t sum = 0;
    int64_t ends;
    if (num_nodes < 0 || num_edges < 0 || __builtin_add_overflow(num_nodes, num_edges, &ends))
        return UINT64_MAX;
    tell_mpnn(&(assay__teller){.sink = add_up, .context = &sum}, num_nodes, num_edges, in_features,
              out_features, type);
    return sum;
}

uint64_t assay_estimate_ffn_flops(int64_t hidden_dim, int64_t ffn_dim, int64_t num_nodes)
{
    uint64_t sum = 0;
    tell_ffn(&(assay__teller){.sink = add_up, .context = &sum}, hidden_dim, ffn_dim, num_nodes,
             ASSAY_TERM_GELU);
    return sum;
}

uint64_t assay_estimate_pe_flops(int64_t num_nodes, int64_t pe_dim, assay_pe_type type)
{
    uint64_t sum = 0;
    assay__teller to = {.sink = add_up, .context = &sum};
    if (num_nodes < 0 || pe_dim < 0)
        return UINT64_MAX;
    if (type == ASSAY_PE_RANDOM_WALK) {
        assay__tell_product(&to, "", BOTH, pe_dim > 0 ? pe_dim - 1 : 0, num_nodes, num_nodes,
                            num_nodes);
    } else if (type == ASSAY_PE_LAPLACIAN) {
        uint64_t thrice = 0;
        assay__tell_product(&(assay__teller){.sink = add_up, .context = &thrice}, "", BOTH, 2,
                            num_nodes, num_nodes, num_nodes);
        assay__tell_product(&to, "", BOTH, 1, num_nodes, num_nodes, pe_dim);
        if (thrice == UINT64_MAX || __builtin_add_overflow(sum, (thrice + 2) / 3, &sum))
            return UINT64_MAX;
    }
    return sum;
}

double assay_estimate_attention_memory(int64_t num_nodes, int64_t num_heads, int64_t hidden_dim,
                                       int64_t batch_size)
{
    double nodes = (double)num_nodes, batch = (double)batch_size;
    double matrices = batch * (double)num_heads * nodes * nodes;
    double vectors = 4 * batch * nodes * (double)hidden_dim;
    return (matrices + vectors) * sizeof(float);
}

assay_pe_storage assay_estimate_pe_storage(int64_t num_nodes, int64_t node_pe_dim,
                                           int64_t relative_pe_buckets, double sparse_ratio)
{
    double nodes = (double)num_nodes;
    double entries = nodes * nodes * (double)relative_pe_buckets;
    double index_bytes = 2 * sizeof(int32_t);
    return (assay_pe_storage){.node_pe_bytes = nodes * (double)node_pe_dim * sizeof(float),
                              .relative_pe_dense_bytes = entries * sizeof(float),
                              .relative_pe_sparse_bytes =
                                  sparse_ratio * entries * (sizeof(float) + index_bytes)};
}
