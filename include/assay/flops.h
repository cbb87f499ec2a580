/* FLOPs: how much arithmetic a model does, computed from shapes alone, under several conventions.
 *
 *     assay_flop_account *account = NULL;
 *     assay_flops flops;
 *     if (assay_flop_account_new(&account) != ASSAY_OK) ...
 *     status = assay_model_describe(model, inputs, count, assay_flop_account_add, account, &error);
 *     if (assay_flop_account_total(account, ASSAY_FLOPS_ASSAY, &flops) != ASSAY_OK) ...
 *     assay_flop_account_free(account);
 *
 * Tools count the FLOPs of the same model differently. A convention is the way in which one tool
 * counts. docs/flops.md has a table of what each convention counts for each kind of operation, with
 * sources, and the graph transformer worked out by hand. All figures are exact integers under the
 * stated rule. Below, a product is that of an m x k and a k x n matrix.
 *
 *   assay      A product costs 2 m k n. Every other term has a stated price per element: 5 for
 *              softmax and layer norm, 4 for GELU, 1 for most others. This is the only convention
 *              that leaves nothing out.
 *   pytorch    torch.utils.flop_counter: a product costs 2 m k n, nothing else is counted.
 *   fvcore     Multiply-accumulates: a product costs m k n, layer norm 5 per element, nothing else
 *              is counted.
 *   deepspeed  A product costs 2 m k n, activations and softmax 1 per element, layer norm 5.
 *              Backward always counts as twice forward.
 *
 * Threads: an account belongs to one thread at a time. Nothing here measures or prints.
 */
#ifndef ASSAY_FLOPS_H
#define ASSAY_FLOPS_H

#include <stddef.h>
#include <stdint.h>

#include "assay/model.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_flop_convention {
    ASSAY_FLOPS_ASSAY,
    ASSAY_FLOPS_PYTORCH,
    ASSAY_FLOPS_FVCORE,
    ASSAY_FLOPS_DEEPSPEED,
    ASSAY_FLOP_CONVENTIONS
} assay_flop_convention;

/* "assay", "pytorch", "fvcore", "deepspeed"; static storage. */
ASSAY_API const char *assay_flop_convention_name(assay_flop_convention convention);

typedef struct assay_flops {
    uint64_t forward;
    uint64_t backward; /* fvcore does not define this; here it is the products of backward */
} assay_flops;

/* The FLOPs of one term under one convention. Sizes below 0 count as 0. ASSAY_E_LIMIT if the figure
 * does not fit into 64 bits. */
ASSAY_API ASSAY_MUST_USE assay_status assay_term_flops(const assay_term *term,
                                                       assay_flop_convention convention,
                                                       assay_flops *flops);

/* "matmul", "softmax", ...; static storage. */
ASSAY_API const char *assay_term_kind_name(assay_term_kind kind);

/* ---- accounts: sums by component ---- */

typedef struct assay_flop_account assay_flop_account;

enum { ASSAY_FLOP_COMPONENTS_MAX = 65536 };

typedef struct assay_flop_component {
    const char *name; /* owned by the account */
    assay_flops flops[ASSAY_FLOP_CONVENTIONS];
} assay_flop_component;

ASSAY_API ASSAY_MUST_USE assay_status assay_flop_account_new(assay_flop_account **account);
ASSAY_API void assay_flop_account_free(assay_flop_account *account);

/* Add a term to an account. Pass this function as the assay_term_sink of assay_model_describe(),
 * and the assay_flop_account * as its context. The account keeps the first failure, and the calls
 * below report it. */
ASSAY_API void assay_flop_account_add(void *account, const assay_term *term);

ASSAY_API ASSAY_MUST_USE assay_status assay_flop_account_total(const assay_flop_account *account,
                                                               assay_flop_convention convention,
                                                               assay_flops *flops);

/* The components in the order of their first appearance. They belong to the account. NULL after a
 * failure of assay_flop_account_add(). */
ASSAY_API const assay_flop_component *
assay_flop_account_components(const assay_flop_account *account, size_t *count);

/* Sum the components over all layers by their part of the model: "layers.3.attention.scores"
 * belongs to "attention", "encoder.weight" to "encoder". The result is a new account; caller
 * frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_flop_account_group(const assay_flop_account *account,
                                                               assay_flop_account **grouped);

/* The kinds of terms in the account that the convention counts as 0, as a bit mask (bit =
 * assay_term_kind). */
ASSAY_API uint32_t assay_flop_account_left_out(const assay_flop_account *account,
                                               assay_flop_convention convention);

/* ---- estimates from plain numbers, without a model (convention assay) ----
 * Figures that do not fit 64 bits, and sizes below 0, give UINT64_MAX. */

/* 2 x rows x in_features x out_features, and rows x out_features for the bias, where rows is
 * batch_size x seq_len. */
ASSAY_API uint64_t assay_estimate_linear_flops(int64_t in_features, int64_t out_features,
                                               int64_t batch_size, int64_t seq_len);

/* Projections, scores, softmax, weighted sum and output projection of one layer of multi-head
 * attention. `sparse_ratio` is the share of the node pairs that attend to each other; 1 means all
 * pairs. */
ASSAY_API uint64_t assay_estimate_attention_flops(int64_t num_nodes, int64_t hidden_dim,
                                                  int64_t num_heads, double sparse_ratio);

typedef enum assay_mpnn_type {
    ASSAY_MPNN_GIN,      /* W2 relu(W1 (h + sum of neighbours)) */
    ASSAY_MPNN_GCN,      /* W (normalised sum of neighbours and self) */
    ASSAY_MPNN_GATED_GCN /* five products, a gate on every edge */
} assay_mpnn_type;

ASSAY_API uint64_t assay_estimate_mpnn_flops(int64_t num_nodes, int64_t num_edges,
                                             int64_t in_features, int64_t out_features,
                                             assay_mpnn_type type);

/* A feed-forward network: two linear layers with GELU between them. */
ASSAY_API uint64_t assay_estimate_ffn_flops(int64_t hidden_dim, int64_t ffn_dim, int64_t num_nodes);

typedef enum assay_pe_type {
    ASSAY_PE_NONE,
    ASSAY_PE_LAPLACIAN,
    ASSAY_PE_RANDOM_WALK
} assay_pe_type;

/* Positional encodings of a graph with n nodes. Laplacian: a dense symmetric eigenproblem; 4/3 n^3
 * for the tridiagonal form and 2 n^2 for transforming each vector back (Golub and Van Loan, 4th
 * edition, sections 8.3 and 8.4). Random walk: pe_dim - 1 products of n x n matrices. Both are
 * upper bounds, because sparse methods do less. */
ASSAY_API uint64_t assay_estimate_pe_flops(int64_t num_nodes, int64_t pe_dim, assay_pe_type type);

/* The sizes of the graph transformer of docs/models.md. An `input_dim` or `output_dim` of 0 leaves
 * out the encoder or the head. */
typedef struct assay_graph_transformer_shape {
    size_t struct_size;
    int64_t num_nodes, num_edges, hidden_dim, num_layers, num_heads, ffn_dim;
    int64_t input_dim, output_dim;
    double sparse_ratio; /* 0 counts as 1: all pairs attend */
    assay_mpnn_type mpnn_type;
    assay_term_kind activation; /* of the FFN: ASSAY_TERM_GELU (also for 0) or ASSAY_TERM_RELU */
} assay_graph_transformer_shape;

#define ASSAY_GRAPH_TRANSFORMER_SHAPE_INIT ASSAY_INIT(assay_graph_transformer_shape)

/* The arithmetic of one forward pass of that graph transformer in evaluation mode. Caller frees the
 * account. */
ASSAY_API ASSAY_MUST_USE assay_status assay_estimate_model_flops(
    const assay_graph_transformer_shape *shape, assay_flop_account **account);

/* Bytes that a plain implementation of attention keeps as float32: batch x heads x n x n for the
 * attention matrices, and 4 x batch x n x hidden for queries, keys, values and output. */
ASSAY_API double assay_estimate_attention_memory(int64_t num_nodes, int64_t num_heads,
                                                 int64_t hidden_dim, int64_t batch_size);

/* Bytes of positional encodings in float32. Encodings of nodes are n x node_pe_dim. Relative
 * encodings are n x n x buckets. In sparse form only the share `sparse_ratio` of them is kept, with
 * two 32-bit indices for each entry. */
typedef struct assay_pe_storage {
    double node_pe_bytes, relative_pe_dense_bytes, relative_pe_sparse_bytes;
} assay_pe_storage;

ASSAY_API assay_pe_storage assay_estimate_pe_storage(int64_t num_nodes, int64_t node_pe_dim,
                                                     int64_t relative_pe_buckets,
                                                     double sparse_ratio);

#ifdef __cplusplus
}
#endif

#endif
