/* Rounds in fresh processes, on the real clock. What they keep of the order is in
 * test_sampling_rules.c. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/sampling.h"

static assay_status count_calls(void *context, uint64_t iterations)
{
    volatile uint64_t *calls = context;
    for (uint64_t i = 0; i < iterations; i++)
        (*calls)++;
    return ASSAY_OK;
}

static void fresh_processes_keep_to_themselves(void **state)
{
    (void)state;
    volatile uint64_t calls = 0;
    assay_subject subject = {.struct_size = sizeof subject,
                             .name = "count",
                             .run = count_calls,
                             .context = (void *)&calls};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.fresh_rounds = 4;
    options.min_rounds = options.max_rounds = 10;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
    const assay_record_subject *found = &record->subjects[0];
    assert_int_equal(found->sample_count + found->warmup_samples + found->rejected_samples, 10);
    uint64_t while_calibrating = calls;
    assert_true(found->iterations * 10 > while_calibrating / 10);
    assert_true(found->min_seconds.value > 0);
    assay_record_free(record);
}

static assay_status dies(void *context, uint64_t iterations)
{
    int *calls = context;
    (void)iterations;
    if (++*calls == 3)
        raise(SIGKILL);
    return ASSAY_OK;
}

static void a_dead_process_is_reported(void **state)
{
    (void)state;
    int calls = 0;
    assay_subject subject = {.struct_size = sizeof subject,
                             .name = "dies",
                             .run = dies,
                             .context = &calls,
                             .max_iterations = 1};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.fresh_rounds = 5;
    assay_record *record = NULL;
    assay_error error = {0};
    assert_int_equal(assay_sampling_run(&subject, 1, &options, &error, &record), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "signal 9"));
    assert_null(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_processes_keep_to_themselves),
        cmocka_unit_test(a_dead_process_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
