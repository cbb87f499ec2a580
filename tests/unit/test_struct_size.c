/* Structs of a program that was built with a newer assay. They are accepted as long as their new
 * fields are zero, and refused otherwise. A size that was never set is an invalid argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/assay.h"
#include "assay/flops.h"
#include "assay/inference.h"
#include "assay/model.h"
#include "assay/model_scaling.h"
#include "assay/record_build.h"
#include "assay/scaling.h"
#include "assay/training.h"

/* What the next version might look like: the type of today, and a field behind it. */
#define NEWER(type)                                                                                \
    struct {                                                                                       \
        type known;                                                                                \
        uint64_t wish;                                                                             \
    }

/* `call` with `newer` given, as the rule has it. */
#define CHECK_INPUT(newer, call)                                                                   \
    do {                                                                                           \
        (newer).known.struct_size = sizeof(newer);                                                 \
        (newer).wish = 0;                                                                          \
        assert_int_equal(call, ASSAY_OK);                                                          \
        (newer).wish = 1;                                                                          \
        assert_int_equal(call, ASSAY_E_VERSION);                                                   \
        (newer).known.struct_size = 0;                                                             \
        assert_int_equal(call, ASSAY_E_ARGUMENT);                                                  \
        (newer).known.struct_size = SIZE_MAX; /* and is not read so far */                         \
        assert_int_equal(call, ASSAY_E_ARGUMENT);                                                  \
    } while (0)

static assay_status busy(void *context, uint64_t iterations)
{
    volatile uint64_t *counter = context;
    for (uint64_t i = 0; i < 100 * iterations; i++)
        ++*counter;
    return ASSAY_OK;
}

static uint64_t counter;

/* Subjects lie as far apart as the caller's are large. */
static void test_subjects_in_an_array(void **state)
{
    (void)state;
    NEWER(assay_subject) subjects[3];
    static const char *const names[] = {"a", "b", "c"};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.min_sample_seconds = 1e-5;
    options.max_rounds = 3;
    options.fixed_rounds = true;
    memset(subjects, 0, sizeof subjects);
    for (size_t i = 0; i < 3; i++)
        subjects[i].known = (assay_subject){
            .struct_size = sizeof *subjects, .name = names[i], .run = busy, .context = &counter};
    assay_error error = {0};
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(&subjects[0].known, 3, &options, &error, &record),
                     ASSAY_OK);
    assert_int_equal(record->subject_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(record->subjects[i].name, names[i]);
    assay_record_free(record);

    subjects[2].wish = 1;
    assert_int_equal(assay_sampling_run(&subjects[0].known, 3, &options, &error, &record),
                     ASSAY_E_VERSION);
    assert_non_null(strstr(error.message, "subject 3"));
    subjects[2].known.struct_size = sizeof(assay_subject);
    assert_int_equal(assay_sampling_run(&subjects[0].known, 3, &options, &error, &record),
                     ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "subject 3"));
}

static assay_status sample_with(const assay_sampling_options *options)
{
    const assay_subject subject = {
        .struct_size = sizeof subject, .name = "a", .run = busy, .context = &counter};
    assay_record *record = NULL;
    assay_status status = assay_sampling_run(&subject, 1, options, NULL, &record);
    assay_record_free(record);
    return status;
}

static assay_status open_with(const assay_monitor_options *options)
{
    assay_monitor *monitor = NULL;
    assay_status status = assay_monitor_new(options, &monitor);
    assay_monitor_free(monitor);
    return status;
}

static assay_status watch_with(const assay_epoch_monitor_options *options)
{
    assay_epoch_monitor *monitor = NULL;
    assay_status status = assay_epoch_monitor_new(options, &monitor);
    assay_epoch_monitor_free(monitor);
    return status;
}

static assay_status compare_with(const assay_compare_options *options)
{
    const double samples[] = {1, 2, 3};
    assay_record *record = NULL;
    assay_record_subject subject;
    assay_record_comparison comparison;
    if (assay_record_new(&record) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    assay_record_subject_init(&subject);
    subject.name = "a";
    subject.samples_seconds = samples;
    subject.sample_count = 3;
    assay_status status = assay_subjects_compare(record, &subject, &subject, options, &comparison);
    assay_record_free(record);
    return status;
}

static void test_options(void **state)
{
    (void)state;
    NEWER(assay_sampling_options) sampling = {.known.max_rounds = 2};
    CHECK_INPUT(sampling, sample_with(&sampling.known));
    NEWER(assay_monitor_options) monitor = {.known.disabled = true};
    CHECK_INPUT(monitor, open_with(&monitor.known));
    NEWER(assay_epoch_monitor_options) epochs = {.known.disabled = true};
    CHECK_INPUT(epochs, watch_with(&epochs.known));
    NEWER(assay_compare_options) compare = {.known.margin = 0.01};
    CHECK_INPUT(compare, compare_with(&compare.known));
}

static assay_status count_pass(void *context)
{
    ++*(uint64_t *)context;
    return ASSAY_OK;
}

static assay_status time_with(const assay_sampling_options *options)
{
    assay_timing timing;
    return assay_benchmark_function(count_pass, &counter, options, NULL, &timing);
}

/* Copies the options before it hands them on. */
static assay_status time_encoding_with(const assay_sampling_options *options)
{
    assay_timing timing;
    return assay_profile_pe_computation(count_pass, &counter, options, NULL, &timing);
}

static assay_status flops_of(const assay_graph_transformer_shape *shape)
{
    assay_flop_account *account = NULL;
    assay_status status = assay_estimate_model_flops(shape, &account);
    assay_flop_account_free(account);
    return status;
}

static assay_status scale_with(const assay_scaling_options *options)
{
    static const assay_model_class class_ = {.name = "none"};
    assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
    factory.class_ = &class_;
    assay_scaling_experiment *experiment = NULL;
    assay_status status = assay_scaling_experiment_new(&factory, options, &experiment);
    assay_scaling_experiment_free(experiment);
    return status;
}

static void test_what_says_only_a_status(void **state)
{
    (void)state;
    NEWER(assay_sampling_options) runs = {.known.num_runs = 3};
    CHECK_INPUT(runs, time_with(&runs.known));
    CHECK_INPUT(runs, time_encoding_with(&runs.known));
    NEWER(assay_graph_transformer_shape)
    shape = {.known = {.num_nodes = 2, .hidden_dim = 4, .num_layers = 1, .num_heads = 1}};
    CHECK_INPUT(shape, flops_of(&shape.known));
    NEWER(assay_scaling_options) scaling = {.known.passes = 1};
    CHECK_INPUT(scaling, scale_with(&scaling.known));
}

/* What we fill in, we fill as far as we know it. */
static void test_figures(void **state)
{
    (void)state;
    NEWER(assay_memory) memory = {.known.struct_size = sizeof memory, .wish = 7};
    assert_int_equal(assay_memory_read(&memory.known), ASSAY_OK);
    assert_true(memory.known.rss_bytes.value > 0);
    assert_int_equal(memory.wish, 7);
    assert_int_equal(memory.known.struct_size, sizeof memory);
    memory.known.struct_size = sizeof(assay_memory) - 1;
    assert_int_equal(assay_memory_read(&memory.known), ASSAY_E_ARGUMENT);

    NEWER(assay_clock_info) clock = {.known.struct_size = sizeof clock, .wish = 7};
    assert_int_equal(assay_clock_describe(assay_clock_default(), &clock.known), ASSAY_OK);
    assert_int_equal(clock.wish, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subjects_in_an_array),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_what_says_only_a_status),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
