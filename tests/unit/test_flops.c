/* FLOPs compared with figures computed by hand (docs/flops.md) and with the published formulas of
 * other tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/flops.h"

static const assay_graph_transformer_shape seed_d = {
    .struct_size = sizeof(assay_graph_transformer_shape),
    .num_nodes = 500,
    .num_edges = 2500,
    .hidden_dim = 256,
    .num_layers = 6,
    .num_heads = 8,
    .ffn_dim = 512,
};

static assay_flops total_of(const assay_graph_transformer_shape *shape,
                            assay_flop_convention convention)
{
    assay_flop_account *account = NULL;
    assay_flops flops;
    assert_int_equal(assay_estimate_model_flops(shape, &account), ASSAY_OK);
    assert_int_equal(assay_flop_account_total(account, convention, &flops), ASSAY_OK);
    assay_flop_account_free(account);
    return flops;
}

static uint64_t group_forward(const assay_flop_account *grouped, const char *name)
{
    size_t count;
    const assay_flop_component *components = assay_flop_account_components(grouped, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(components[i].name, name) == 0) {
            return components[i].flops[ASSAY_FLOPS_ASSAY].forward;
        }
    }
    fail_msg("no component %s", name);
    return 0;
}

static void test_seed_example_by_component(void **state)
{
    (void)state;
    assay_flop_account *account = NULL, *grouped = NULL;
    assert_int_equal(assay_estimate_model_flops(&seed_d, &account), ASSAY_OK);
    assert_int_equal(assay_flop_account_group(account, &grouped), ASSAY_OK);
    size_t count;
    assay_flop_account_components(grouped, &count);
    assert_int_equal(count, 5);
    assert_int_equal(group_forward(grouped, "mpnn"), 6 * UINT64_C(132224000));
    assert_int_equal(group_forward(grouped, "attention"), 6 * UINT64_C(528656000));
    assert_int_equal(group_forward(grouped, "ffn"), 6 * UINT64_C(263552000));
    assert_int_equal(group_forward(grouped, "norm"), 6 * UINT64_C(2304000));
    assert_int_equal(group_forward(grouped, "merge"), 6 * UINT64_C(128000));
    assay_flops total;
    assert_int_equal(assay_flop_account_total(grouped, ASSAY_FLOPS_ASSAY, &total), ASSAY_OK);
    assert_int_equal(total.forward, UINT64_C(5561184000));
    assay_flop_account_free(grouped);
    assay_flop_account_free(account);
}

static void test_conventions_side_by_side(void **state)
{
    (void)state;
    assay_graph_transformer_shape whole = seed_d;
    whole.input_dim = 48;
    whole.output_dim = 1;
    assert_int_equal(total_of(&whole, ASSAY_FLOPS_PYTORCH).forward, UINT64_C(5480704000));
    /* The encoder's input is data: its product has one gradient, not two. */
    assert_int_equal(total_of(&whole, ASSAY_FLOPS_PYTORCH).backward,
                     2 * UINT64_C(5480704000) - UINT64_C(12288000));
    /* Half the products, and 5 x 500 x 256 for each of 18 layer norms. */
    assert_int_equal(total_of(&whole, ASSAY_FLOPS_FVCORE).forward,
                     UINT64_C(2740352000) + 18 * UINT64_C(640000));
    assay_flops deepspeed = total_of(&whole, ASSAY_FLOPS_DEEPSPEED);
    assert_int_equal(deepspeed.backward, 2 * deepspeed.forward);
}

static void test_estimates_add_up_to_the_model(void **state)
{
    (void)state;
    uint64_t layer = assay_estimate_mpnn_flops(500, 2500, 256, 256, ASSAY_MPNN_GIN) +
                     assay_estimate_attention_flops(500, 256, 8, 1.0) +
                     assay_estimate_ffn_flops(256, 512, 500);
    assert_int_equal(layer, 132224000 + 528656000 + 263552000);
    assert_int_equal(assay_estimate_linear_flops(256, 512, 4, 125),
                     2 * 500 * 256 * 512 + 500 * 512);
}

static void test_sparse_attention_counts_pairs(void **state)
{
    (void)state;
    uint64_t dense = assay_estimate_attention_flops(500, 256, 8, 1.0);
    uint64_t tenth = assay_estimate_attention_flops(500, 256, 8, 0.1);
    uint64_t projections = 4 * (2 * UINT64_C(500) * 256 * 256 + 500 * 256);
    assert_int_equal(dense - projections, 10 * (tenth - projections));
    assert_int_equal(assay_estimate_attention_flops(500, 256, 8, 0.0), projections);
}

/* DeepSpeed's LSTM, per step, sample and layer: 8 h (i + h) + 10 h. */
static void test_lstm_as_deepspeed_counts_it(void **state)
{
    (void)state;
    enum { HIDDEN = 64, INPUT = 20 };
    assay_term parts[] = {
        {.kind = ASSAY_TERM_MATMUL, .count = 1, .m = 1, .k = INPUT, .n = 4 * HIDDEN},
        {.kind = ASSAY_TERM_MATMUL, .count = 1, .m = 1, .k = HIDDEN, .n = 4 * HIDDEN},
        {.kind = ASSAY_TERM_LSTM_CELL, .count = 1, .m = 1, .n = HIDDEN},
    };
    uint64_t sum = 0;
    for (size_t i = 0; i < 3; i++) {
        assay_flops flops;
        assert_int_equal(assay_term_flops(&parts[i], ASSAY_FLOPS_DEEPSPEED, &flops), ASSAY_OK);
        sum += flops.forward;
    }
    assert_int_equal(sum, 8 * HIDDEN * (INPUT + HIDDEN) + 10 * HIDDEN);
}

static void test_what_a_convention_leaves_out(void **state)
{
    (void)state;
    assay_flop_account *account = NULL;
    assert_int_equal(assay_estimate_model_flops(&seed_d, &account), ASSAY_OK);
    assert_int_equal(assay_flop_account_left_out(account, ASSAY_FLOPS_ASSAY), 0);
    uint32_t pytorch = assay_flop_account_left_out(account, ASSAY_FLOPS_PYTORCH);
    assert_true((pytorch & 1u << ASSAY_TERM_SOFTMAX) != 0 &&
                (pytorch & 1u << ASSAY_TERM_GATHER_ADD) != 0);
    assert_true((pytorch & 1u << ASSAY_TERM_MATMUL) == 0);
    assert_true((pytorch & 1u << ASSAY_TERM_SINE) == 0); /* does not occur */
    uint32_t fvcore = assay_flop_account_left_out(account, ASSAY_FLOPS_FVCORE);
    assert_int_equal(pytorch & ~fvcore, 1u << ASSAY_TERM_LAYER_NORM);
    assay_flop_account_free(account);
}

static void test_every_kind_has_a_name_and_a_price(void **state)
{
    (void)state;
    for (int kind = 0; kind < ASSAY_TERM_KINDS; kind++) {
        const char *name = assay_term_kind_name((assay_term_kind)kind);
        assert_non_null(name);
        assert_string_not_equal(name, "unknown");
    }
    assert_string_equal(assay_term_kind_name(ASSAY_TERM_KINDS), "unknown");
}

static void test_too_much_is_said(void **state)
{
    (void)state;
    assay_term huge = {.kind = ASSAY_TERM_MATMUL,
                       .count = 1,
                       .m = INT64_C(1) << 31,
                       .k = INT64_C(1) << 31,
                       .n = 4,
                       .operand_gradients = 2};
    assay_flops flops;
    assert_int_equal(assay_term_flops(&huge, ASSAY_FLOPS_ASSAY, &flops), ASSAY_E_LIMIT);
    assay_flop_account *account = NULL;
    assert_int_equal(assay_flop_account_new(&account), ASSAY_OK);
    assay_flop_account_add(account, &huge);
    assert_int_equal(assay_flop_account_total(account, ASSAY_FLOPS_ASSAY, &flops), ASSAY_E_LIMIT);
    assay_flop_account_free(account);
    assert_int_equal(assay_estimate_linear_flops(INT64_MAX, INT64_MAX, 1, 1), UINT64_MAX);
    assert_int_equal(assay_estimate_linear_flops(-1, 4, 1, 1), UINT64_MAX);
    assay_graph_transformer_shape odd = seed_d;
    odd.num_heads = 7; /* does not divide 256 */
    assert_int_equal(assay_estimate_model_flops(&odd, &account), ASSAY_E_ARGUMENT);
    assert_null(account);
}

static void test_memory_estimates(void **state)
{
    (void)state;
    assert_float_equal(assay_estimate_attention_memory(1000, 8, 256, 1), (8e6 + 4 * 256e3) * 4,
                       1e-9);
    assay_pe_storage storage = assay_estimate_pe_storage(1000, 32, 16, 0.1);
    assert_float_equal(storage.node_pe_bytes, 128000.0, 1e-9);
    assert_float_equal(storage.relative_pe_dense_bytes, 64e6, 1e-9);
    assert_float_equal(storage.relative_pe_sparse_bytes, 1.6e6 * 12, 1e-9);
    assert_int_equal(assay_estimate_pe_flops(100, 16, ASSAY_PE_RANDOM_WALK), 15 * 2000000);
    assert_int_equal(assay_estimate_pe_flops(30, 4, ASSAY_PE_LAPLACIAN), 36000 + 2 * 900 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seed_example_by_component),
        cmocka_unit_test(test_conventions_side_by_side),
        cmocka_unit_test(test_estimates_add_up_to_the_model),
        cmocka_unit_test(test_sparse_attention_counts_pairs),
        cmocka_unit_test(test_lstm_as_deepspeed_counts_it),
        cmocka_unit_test(test_what_a_convention_leaves_out),
        cmocka_unit_test(test_every_kind_has_a_name_and_a_price),
        cmocka_unit_test(test_too_much_is_said),
        cmocka_unit_test(test_memory_estimates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
