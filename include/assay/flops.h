/* How much arithmetic a model does: FLOPs from shapes alone, under the conventions in use.
 *
 *     assay_flop_account *account = NULL;
 *     assay_flops flops;
 *     if (assay_flop_account_new(&account) != ASSAY_OK) ...
 *     status = assay_model_describe(model, inputs, count, assay_flop_account_add, account, &error);
 *     if (assay_flop_account_total(account, ASSAY_FLOPS_ASSAY, &flops) != ASSAY_OK) ...
 *     assay_flop_account_free(account);
 *
 * The same model has a different "FLOPs" in every tool. docs/flops.md gives the table: what each
 * convention counts for each kind of operation, with sources, and the graph transformer worked out
 * by hand. All figures are exact integers of the stated rule.
 *
 *   assay      A product costs 2 m k n, and every other term has a stated price: 1 an element,
 *              softmax and layer norm 5, GELU 4. This is the only one that leaves nothing out.
 *   pytorch    torch.utils.flop_counter: 2 m k n, products only.
 *   fvcore     Multiply-accumulates: m k n; layer norm 5 an element; nothing else.
 *   deepspeed  2 m k n, activations and softmax 1 an element, layer norm 5; backward is twice
 *              forward, whatever it does.
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
    uint64_t backward; /* fvcore does not define it; here it counts the products of backward */
} assay_flops;

/* The FLOPs of one term under one convention. Sizes below 0 count as 0. ASSAY_E_LIMIT when the
 * figure does not fit 64 bits. */
ASSAY_API ASSAY_MUST_USE assay_status assay_term_flops(const assay_term *term,
                                                       assay_flop_convention convention,
                                                       assay_flops *flops);

/* "matmul", "softmax", ...; static storage. */
ASSAY_API const char *assay_term_kind_name(assay_term_kind kind);

/* ---- accounts: sums by component ---- */

typedef struct assay_flop_account assay_flop_account;

enum { ASSAY_FLOP_COMPONENTS_MAX = 65536 };

typedef struct assay_flop_component {
    const char *name; /* the account's */
    assay_flops flops[ASSAY_FLOP_CONVENTIONS];
} assay_flop_component;

ASSAY_API ASSAY_MUST_USE assay_status assay_flop_account_new(assay_flop_account **account);
ASSAY_API void assay_flop_account_free(assay_flop_account *account);

/* An assay_term_sink: `account` is an assay_flop_account *. The first failure is kept and
 * reported by the readers. */
ASSAY_API void assay_flop_account_add(void *account, const assay_term *term);

ASSAY_API ASSAY_MUST_USE assay_status assay_flop_account_total(const assay_flop_account *account,
                                                               assay_flop_convention convention,
                                                               assay_flops *flops);

/* The components in order of first appearance, borrowed; NULL after a failure of add. */
ASSAY_API const assay_flop_component *
assay_flop_account_components(const assay_flop_account *account, size_t *count);

/* Sum the components by what they do, over all layers: "layers.3.attention.scores"
 * belongs to "attention", "encoder.weight" to "encoder". A new account; caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_flop_account_group(const assay_flop_account *account,
                                                               assay_flop_account **grouped);

/* The kinds of terms in the account that the convention counts as 0, as a bit mask (bit =
 * assay_term_kind). */
ASSAY_API uint32_t assay_flop_account_left_out(const assay_flop_account *account,
                                               assay_flop_convention convention);

/* ---- estimates from plain numbers, without a model (convention assay) ----
 * Figures that do not fit 64 bits, and sizes below 0, give UINT64_MAX. */

/* 2 rows in out + rows out for the bias, rows = batch_size x seq_len. */
ASSAY_API uint64_t assay_estimate_linear_flops(int64_t in_features, int64_t out_features,
                                               int64_t batch_size, int64_t seq_len);

/* Projections, scores, softmax, weighted sum and output projection of one layer of multi-head
 * attention. `sparse_ratio`: the share of the node pairs that attend, 1 for all. */
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

/* Two layers with GELU between them. */
ASSAY_API uint64_t assay_estimate_ffn_flops(int64_t hidden_dim, int64_t ffn_dim, int64_t num_nodes);

typedef enum assay_pe_type {
    ASSAY_PE_NONE,
    ASSAY_PE_LAPLACIAN,
    ASSAY_PE_RANDOM_WALK
} assay_pe_type;

/* Laplacian: a dense symmetric eigenproblem, 4/3 n^3 for the tridiagonal form and 2 n^2 a vector
 * for going back (Golub and Van Loan, 4th edition, sections 8.3 and 8.4). Random walk: pe_dim - 1
 * products of n x n matrices. Both are upper bounds: sparse methods do less. */
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

/* The arithmetic of one forward pass of that graph transformer, in evaluation. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_estimate_model_flops(
    const assay_graph_transformer_shape *shape, assay_flop_account **account);

/* Bytes of the attention matrices that a plain implementation keeps: batch heads n n float32, and
 * queries, keys, values and output, 4 batch n hidden. */
ASSAY_API double assay_estimate_attention_memory(int64_t num_nodes, int64_t num_heads,
                                                 int64_t hidden_dim, int64_t batch_size);

/* Bytes of positional encodings in float32. Encodings of nodes are n x node_pe_dim. Relative
 * encodings are n x n x buckets; if sparse, only the share `sparse_ratio` of them is kept, with two
 * 32-bit indices for each entry. */
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
