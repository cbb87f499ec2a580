/* The arithmetic that the models describe, compared with the estimates from plain numbers and with
 * the formulas of other tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/flops.h"
#include "assay/model.h"

typedef struct subject {
    const assay_model_class *class_;
    assay_model *model;
    assay_flop_account *account, *groups;
} subject;

/* A model with its defaults but for these; the list ends with a NULL name. */
typedef struct setting {
    const char *name;
    double value;
} setting;

static subject make(const char *name, const setting *changes)
{
    subject made = {0};
    double settings[64];
    assay_tensor inputs[8], target;
    assert_int_equal(assay_model_find(name, NULL, &made.class_), ASSAY_OK);
    for (size_t i = 0; i < made.class_->option_count; i++) {
        settings[i] = made.class_->options[i].initial;
        for (const setting *change = changes; change->name != NULL; change++)
            if (strcmp(change->name, made.class_->options[i].name) == 0)
                settings[i] = change->value;
    }
    assert_int_equal(assay_model_new(made.class_, settings, 1, NULL, &made.model), ASSAY_OK);
    assert_int_equal(assay_model_example(made.model, 1, NULL, inputs, &target), ASSAY_OK);
    assert_int_equal(assay_flop_account_new(&made.account), ASSAY_OK);
    assert_int_equal(assay_model_describe(made.model, inputs, made.class_->input_count,
                                          assay_flop_account_add, made.account, NULL),
                     ASSAY_OK);
    assert_int_equal(assay_flop_account_group(made.account, &made.groups), ASSAY_OK);
    return made;
}

static void release(subject *made)
{
    assay_flop_account_free(made->account);
    assay_flop_account_free(made->groups);
    assay_model_free(made->model);
}

static const assay_flop_component *group(const assay_flop_account *groups, const char *name)
{
    size_t count;
    const assay_flop_component *list = assay_flop_account_components(groups, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    fail_msg("no group '%s'", name);
    return NULL;
}

/* Every group, both directions, all conventions. */
static void assert_same_groups(const assay_flop_account *one, const assay_flop_account *other)
{
    size_t count, others;
    const assay_flop_component *list = assay_flop_account_components(one, &count);
    assert_non_null(assay_flop_account_components(other, &others));
    assert_int_equal(count, others);
    for (size_t i = 0; i < count; i++) {
        const assay_flop_component *same = group(other, list[i].name);
        assert_memory_equal(list[i].flops, same->flops, sizeof same->flops);
    }
}

static void compare_transformer(double mpnn, assay_mpnn_type type)
{
    const setting changes[] = {{"activation", 1}, {"mpnn", mpnn}, {NULL, 0}};
    subject made = make("graph_transformer", changes);
    const assay_graph_transformer_shape shape = {.struct_size = sizeof shape,
                                                 .num_nodes = 500,
                                                 .num_edges = 2500,
                                                 .hidden_dim = 256,
                                                 .num_layers = 6,
                                                 .num_heads = 8,
                                                 .ffn_dim = 512,
                                                 .input_dim = 48,
                                                 .output_dim = 1,
                                                 .mpnn_type = type};
    assay_flop_account *estimate = NULL, *groups = NULL;
    assert_int_equal(assay_estimate_model_flops(&shape, &estimate), ASSAY_OK);
    assert_int_equal(assay_flop_account_group(estimate, &groups), ASSAY_OK);
    assert_same_groups(made.groups, groups);
    assay_flop_account_free(estimate);
    assay_flop_account_free(groups);
    release(&made);
}

static void transformer_agrees_with_the_estimate(void **state)
{
    (void)state;
    compare_transformer(0, ASSAY_MPNN_GIN);
}

/* docs/flops.md, times six layers. */
static void transformer_agrees_with_the_page(void **state)
{
    (void)state;
    subject made = make("graph_transformer", (const setting[]){{"activation", 1}, {NULL, 0}});
    static const struct {
        const char *name;
        uint64_t flops;
    } page[] = {{"mpnn", UINT64_C(6) * 132224000},
                {"attention", UINT64_C(6) * 528656000},
                {"ffn", UINT64_C(6) * 263552000},
                {"norm", UINT64_C(6) * 2304000},
                {"merge", UINT64_C(6) * 128000},
                {"encoder", UINT64_C(2) * 500 * 48 * 256 + 500 * 256},
                {"head", UINT64_C(2) * 500 * 256 + 500}};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof page / sizeof *page; i++) {
        assert_int_equal(group(made.groups, page[i].name)->flops[ASSAY_FLOPS_ASSAY].forward,
                         page[i].flops);
        sum += page[i].flops;
    }
    assay_flops total;
    assert_int_equal(assay_flop_account_total(made.account, ASSAY_FLOPS_ASSAY, &total), ASSAY_OK);
    assert_int_equal(total.forward, sum);
    release(&made);
}

/* DeepSpeed's profiler: 2 h (i + h) 4 + 10 h a sample, step and layer. */
static void lstm_agrees_with_deepspeed(void **state)
{
    (void)state;
    const setting changes[] = {{"input-dim", 20}, {"hidden-dim", 64}, {"num-layers", 2},
                               {"batch-size", 3}, {"output-dim", 20}, {"seq-len", 7},
                               {NULL, 0}};
    subject made = make("lstm", changes);
    uint64_t rows = 3 * 7, h = 64;
    uint64_t layers = rows * (8 * h * (20 + h) + 10 * h) + rows * (8 * h * (h + h) + 10 * h);
    assay_flops total;
    assert_int_equal(assay_flop_account_total(made.account, ASSAY_FLOPS_DEEPSPEED, &total),
                     ASSAY_OK);
    assert_int_equal(total.forward, layers + 2 * 3 * h * 20);
    assert_int_equal(group(made.groups, "cell")->flops[ASSAY_FLOPS_DEEPSPEED].forward,
                     2 * rows * 10 * h);
    release(&made);
}

/* Seed A: d = 20, p = 5 is 4000 a step. */
static void mvar_agrees_with_the_seed(void **state)
{
    (void)state;
    subject made = make("mvar", (const setting[]){{NULL, 0}});
    assay_flops total;
    assert_int_equal(assay_flop_account_total(made.account, ASSAY_FLOPS_PYTORCH, &total), ASSAY_OK);
    assert_int_equal(total.forward, 4000);
    assert_int_equal(assay_model_parameter_count(made.model), 2020);
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transformer_agrees_with_the_estimate),
        cmocka_unit_test(transformer_agrees_with_the_page),
        cmocka_unit_test(lstm_agrees_with_deepspeed),
        cmocka_unit_test(mvar_agrees_with_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
