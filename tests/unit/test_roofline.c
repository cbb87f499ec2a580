/* Work, bytes and the roofline, compared with numbers computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "studies/profile/complexity.h"
#include "studies/profile/roofline.h"

static assay__work_account work_of(assay_term operation)
{
    assay__work_account account = {.element_bytes = 4};
    assay__work_add(&account, &operation);
    return account;
}

static void test_bytes_of_a_product(void **state)
{
    (void)state;
    assay__work_account work = work_of((assay_term){
        .kind = ASSAY_TERM_MATMUL, .count = 3, .m = 10, .k = 20, .n = 30, .operand_gradients = 2});
    assert_true(work.forward.flops == 3 * 2.0 * 10 * 20 * 30);
    assert_true(work.forward.bytes == 3 * 4.0 * (10 * 20 + 20 * 30 + 10 * 30));
    assert_true(work.backward.flops == 2 * work.forward.flops);
    assert_true(work.backward.bytes == 2 * work.forward.bytes);
}

static void test_bytes_of_elementwise_work(void **state)
{
    (void)state;
    assay__work_account relu =
        work_of((assay_term){.kind = ASSAY_TERM_RELU, .count = 1, .m = 100, .n = 10});
    assert_true(relu.forward.bytes == 4.0 * 2 * 1000);
    assert_true(relu.backward.bytes == 4.0 * 3 * 1000);
    assay__work_account add =
        work_of((assay_term){.kind = ASSAY_TERM_ADD, .count = 2, .m = 100, .n = 10});
    assert_true(add.forward.bytes == 2 * 4.0 * 3 * 1000);
    assay__work_account none =
        work_of((assay_term){.kind = ASSAY_TERM_DROPOUT, .count = 1, .m = 100, .n = 10});
    assert_true(none.forward.bytes == 0);
}

static void test_either_side_of_the_ridge(void **state)
{
    (void)state;
    const assay__peak peak = {.gflops = 100, .gigabytes_per_second = 10};
    assert_true(assay__roofline_ridge(&peak) == 10);
    assay__roofline_point dense = assay__roofline((assay__work){20e9, 1e9}, 0.5, &peak);
    assert_true(fabs(dense.gflops_per_second - 40) < 1e-9);
    assert_true(fabs(dense.share_of_peak - 0.4) < 1e-12);
    assert_true(dense.intensity == 20 && dense.roof == 100 && dense.compute_bound);
    assay__roofline_point thin = assay__roofline((assay__work){2e9, 1e9}, 0.5, &peak);
    assert_true(fabs(thin.roof - 20) < 1e-9 && !thin.compute_bound);
    assay__roofline_point blind = assay__roofline((assay__work){2e9, 1e9}, 0.5, NULL);
    assert_true(fabs(blind.gflops_per_second - 4) < 1e-9);
    assert_true(isnan(blind.share_of_peak) && isnan(blind.roof));
}

static void test_every_built_in_model_has_a_complexity(void **state)
{
    (void)state;
    size_t count;
    const assay_model_class *const *classes = assay_model_classes(&count);
    for (size_t i = 0; i < count; i++)
        if (assay__complexity_of(classes[i]->name) == NULL)
            fail_msg("no complexity of '%s'", classes[i]->name);
    assert_null(assay__complexity_of("somebody's own"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_a_product),
        cmocka_unit_test(test_bytes_of_elementwise_work),
        cmocka_unit_test(test_either_side_of_the_ridge),
        cmocka_unit_test(test_every_built_in_model_has_a_complexity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
