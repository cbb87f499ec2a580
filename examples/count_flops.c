/* How much arithmetic and memory does a model take? Both are counted from its sizes, without
 * running it.
 *
 *     cc count_flops.c $(pkg-config --cflags --libs assay-models) -lm -o count_flops
 *     ./count_flops
 *
 * First come the parts of a graph transformer, then the whole from its sizes, then the built-in
 * model itself, which must give the same numbers. docs/flops.md explains what each convention
 * counts. */
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/flops.h>
#include <assay/model.h>

enum { NODES = 500, EDGES = 2500, HIDDEN = 256, LAYERS = 6, HEADS = 8, FFN = 512 };
enum { FEATURES = 48, OUTPUTS = 1, MAX_INPUTS = 8 };

static void line(const char *what, uint64_t flops)
{
    printf("  %-30s %14llu FLOPs\n", what, (unsigned long long)flops);
}

static void show_parts(void)
{
    printf("Parts, %d nodes, %d edges, width %d:\n", NODES, EDGES, HIDDEN);
    line("linear layer", assay_estimate_linear_flops(HIDDEN, HIDDEN, 1, NODES));
    line("attention, all pairs", assay_estimate_attention_flops(NODES, HIDDEN, HEADS, 1.0));
    line("attention, 1 % of the pairs", assay_estimate_attention_flops(NODES, HIDDEN, HEADS, 0.01));
    line("message passing (GIN)",
         assay_estimate_mpnn_flops(NODES, EDGES, HIDDEN, HIDDEN, ASSAY_MPNN_GIN));
    line("feed-forward network", assay_estimate_ffn_flops(HIDDEN, FFN, NODES));
    line("Laplacian encoding, 16 values", assay_estimate_pe_flops(NODES, 16, ASSAY_PE_LAPLACIAN));
    line("random-walk encoding, 16 steps",
         assay_estimate_pe_flops(NODES, 16, ASSAY_PE_RANDOM_WALK));
}

static void show_memory(void)
{
    const double attention = assay_estimate_attention_memory(NODES, HEADS, HIDDEN, 1);
    const assay_pe_storage encodings = assay_estimate_pe_storage(NODES, 16, 8, 0.01);
    printf("\nMemory:\n");
    printf("  %-30s %14.0f bytes\n", "attention", attention);
    printf("  %-30s %14.0f bytes\n", "encodings of the nodes", encodings.node_pe_bytes);
    printf("  %-30s %14.0f bytes\n", "relative encodings, dense",
           encodings.relative_pe_dense_bytes);
    printf("  %-30s %14.0f bytes\n", "relative encodings, 1 % kept",
           encodings.relative_pe_sparse_bytes);
}

/* Prints the components of an account, summed by kind over all layers. */
static assay_status show_account(const assay_flop_account *account)
{
    assay_flop_account *grouped = NULL;
    assay_status status = assay_flop_account_group(account, &grouped);
    if (status != ASSAY_OK)
        return status;
    size_t count = 0;
    const assay_flop_component *components = assay_flop_account_components(grouped, &count);
    for (size_t i = 0; i < count; i++)
        line(components[i].name, components[i].flops[ASSAY_FLOPS_ASSAY].forward);
    assay_flops total = {0};
    status = assay_flop_account_total(account, ASSAY_FLOPS_ASSAY, &total);
    line("total", total.forward);
    assay_flop_account_free(grouped);
    return status;
}

static assay_status show_estimate(void)
{
    assay_graph_transformer_shape shape = ASSAY_GRAPH_TRANSFORMER_SHAPE_INIT;
    shape.num_nodes = NODES;
    shape.num_edges = EDGES;
    shape.hidden_dim = HIDDEN;
    shape.num_layers = LAYERS;
    shape.num_heads = HEADS;
    shape.ffn_dim = FFN;
    shape.input_dim = FEATURES;
    shape.output_dim = OUTPUTS;
    shape.activation = ASSAY_TERM_RELU;
    assay_flop_account *account = NULL;
    assay_status status = assay_estimate_model_flops(&shape, &account);
    if (status == ASSAY_OK) {
        printf("\nThe whole, from its sizes, one forward pass:\n");
        status = show_account(account);
    }
    assay_flop_account_free(account);
    return status;
}

/* The model itself describes what it computes. Every convention counts that in its own way. */
static assay_status show_conventions(const assay_flop_account *account)
{
    printf("\nThe same by each convention:            forward       backward   left out\n");
    for (int i = 0; i < ASSAY_FLOP_CONVENTIONS; i++) {
        const assay_flop_convention convention = (assay_flop_convention)i;
        assay_flops flops;
        const assay_status status = assay_flop_account_total(account, convention, &flops);
        if (status != ASSAY_OK)
            return status;
        const uint32_t left_out = assay_flop_account_left_out(account, convention);
        int kinds = 0;
        for (int kind = 0; kind < ASSAY_TERM_KINDS; kind++)
            kinds += (left_out >> kind & 1) != 0;
        printf("  %-30s %15llu %14llu   %d kinds\n", assay_flop_convention_name(convention),
               (unsigned long long)flops.forward, (unsigned long long)flops.backward, kinds);
    }
    return ASSAY_OK;
}

static assay_status show_model(assay_error *error)
{
    const assay_model_class *class = NULL;
    assay_model *model = NULL;
    assay_tensor inputs[MAX_INPUTS] = {0}, target = {0};
    assay_flop_account *account = NULL;
    assay_status status = assay_model_find("graph_transformer", error, &class);
    if (status == ASSAY_OK)
        status = assay_model_new(class, NULL, 42, error, &model);
    if (status == ASSAY_OK)
        status = assay_model_example(model, 42, error, inputs, &target);
    if (status == ASSAY_OK)
        status = assay_flop_account_new(&account);
    if (status == ASSAY_OK)
        status = assay_model_describe(model, inputs, class->input_count, assay_flop_account_add,
                                      account, error);
    if (status == ASSAY_OK) {
        printf("\nThe built-in model, %llu parameters:\n",
               (unsigned long long)assay_model_parameter_count(model));
        status = show_account(account);
    }
    if (status == ASSAY_OK)
        status = show_conventions(account);
    assay_flop_account_free(account);
    assay_model_free(model);
    return status;
}

int main(void)
{
    assay_error error = {0};
    show_parts();
    show_memory();
    assay_status status = show_estimate();
    if (status == ASSAY_OK)
        status = show_model(&error);
    if (status == ASSAY_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", assay_status_name(status),
            error.message[0] != '\0' ? error.message : assay_status_message(status));
    return 1;
}
