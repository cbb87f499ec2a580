/* The performance monitor's tables, lines, CSV and advice, as the original document shows them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/bottleneck.h"
#include "assay/performance.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/report.h"
#include "assay/timers.h"
#include "assay/training.h"
#include "report/progress_text.h"
#include "tests/golden.h"

static const double mb = 1048576.0;

static assay_record *new_record(double total_seconds)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    record->total_seconds = total_seconds;
    return record;
}

static assay_reading unless_nan(double value)
{
    return isnan(value) ? assay_reading_missing(ASSAY_UNSUPPORTED) : assay_reading_of(value);
}

static void add_metric(assay_record *record, const char *operation, int32_t depth, double start,
                       double duration, double cpu_mb, double gpu_mb, double peak_mb)
{
    const assay_record_metric metric = {.operation = operation,
                                        .depth = depth,
                                        .start_seconds = start,
                                        .duration_seconds = duration,
                                        .cpu_delta_bytes = unless_nan(cpu_mb * mb),
                                        .gpu_delta_bytes = unless_nan(gpu_mb * mb),
                                        .gpu_peak_bytes = unless_nan(peak_mb * mb)};
    assert_int_equal(assay_record_add_metric(record, &metric), ASSAY_OK);
}

static void add_operation(assay_record *record, const char *name, int32_t parent, uint64_t count,
                          double total, double self, double low, double high)
{
    const assay_reading none = assay_reading_missing(ASSAY_NOT_MEASURED);
    const assay_record_operation operation = {.name = name,
                                              .parent = parent,
                                              .count = count,
                                              .total_seconds = total,
                                              .self_seconds = self,
                                              .min_seconds = assay_reading_of(low),
                                              .max_seconds = assay_reading_of(high),
                                              .rss_delta_bytes = none,
                                              .gpu_delta_bytes = none,
                                              .gpu_peak_bytes = none};
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
}

static void check_summary(const assay_record *record, const char *golden)
{
    golden_text text;
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_report_print(record, "performance", stream, NULL), ASSAY_OK);
    golden_check(&text, golden);
}

static void test_performance_summary(void **state)
{
    (void)state;
    assay_record *record = new_record(1.420);
    add_metric(record, "data loading", 0, 0.0, 0.450, 523.1, 0.0, 0.0);
    add_metric(record, "preprocessing", 0, 0.5, 0.120, 128.5, 0.0, 0.0);
    add_metric(record, "model forward", 0, 0.7, 0.850, 45.2, 1250.3, 2880.5);
    check_summary(record, "performance_summary");
    assay_record_free(record);

    record = new_record(2.7577);
    add_metric(record, "load_ground_truth", 0, 0.0, 0.3964, 76.9, 0.8, 1.7);
    add_metric(record, "optimization", 0, 0.5, 2.3613, 40.9, 0.0, 5.9);
    check_summary(record, "performance_physical");
    assay_record_free(record);
}

/* A metric appears as an operation too; what ran inside it stands below it. */
static void test_metrics_and_operations_form_one_tree(void **state)
{
    (void)state;
    assay_record *record = new_record(10.0);
    add_operation(record, "load", -1, 2, 3.0, 3.0, 1.0, 2.0);
    add_operation(record, "optimization", -1, 1, 5.0, 1.0, 5.0, 5.0);
    add_operation(record, "forward", 1, 100, 3.0, 2.5, 0.02, 0.05);
    add_operation(record, "matmul", 2, 300, 0.5, 0.5, 1e-5, 2e-3);
    add_operation(record, "checkpoint", 1, 3, 1.0, 1.0, 0.3, 0.4);
    add_operation(record, "evaluation", -1, 4, 2.0, 1.9, 0.5, 0.5);
    add_operation(record, "plot", 5, 1, 0.1, 0.1, 0.1, 0.1);
    add_metric(record, "load", 0, 0.0, 1.0, 1.0, NAN, NAN);
    add_metric(record, "checkpoint", 1, 2.0, 0.4, 0.5, NAN, NAN);
    add_metric(record, "optimization", 0, 1.0, 5.0, -3.25, NAN, NAN);
    add_metric(record, "load", 0, 6.0, 2.0, 0.0, NAN, NAN);
    add_metric(record, "plot", 1, 9.0, 0.1, NAN, NAN, NAN);
    check_summary(record, "performance_tree");
    assay_record_free(record);
}

/* Memory that was read in some spans only says in how many. */
static void test_memory_of_some_spans(void **state)
{
    (void)state;
    assay_record *record = new_record(10.0);
    assay_record_operation operation = {.name = "load",
                                        .parent = -1,
                                        .count = 1,
                                        .total_seconds = 1.5,
                                        .rss_delta_bytes = assay_reading_of(12.0 * mb),
                                        .rss_spans = 1};
    operation.gpu_delta_bytes = operation.gpu_peak_bytes =
        assay_reading_missing(ASSAY_NOT_MEASURED);
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
    operation.name = "forward";
    operation.count = 100;
    operation.rss_delta_bytes = assay_reading_of(-0.75 * mb);
    operation.rss_spans = 12;
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
    operation.name = "backward";
    operation.rss_spans = 13;
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
    check_summary(record, "performance_some_spans");
    assay_record_free(record);
}

static void test_awkward_records_keep_the_columns(void **state)
{
    (void)state;
    assay_record *record = new_record(2.0e-5);
    check_summary(record, "performance_no_rows");
    add_operation(record, "a name that is longer than thirty columns", -1, 1, 2e-5, 2e-5, 2e-5,
                  2e-5);
    add_operation(record, "größe λ", -1, 1, 1e300, 0, 0, 0);
    add_operation(record, "of exactly thirty columns wide", -1, 1, 1.0, 1.0, 1.0, 1.0);
    add_operation(record, "of exactly 31 columns, one more", -1, 1, 1.0, 1.0, 1.0, 1.0);
    add_metric(record, "orphan", 2, 0.0, 0.0, 1e12, -1e-9, 1e12);
    check_summary(record, "performance_awkward");
    assay_record_free(record);
}

static void test_aggregate_statistics(void **state)
{
    (void)state;
    golden_text text;
    assay_record *record = new_record(23.685);
    add_operation(record, "batch_forward", -1, 150, 15.234, 15.234, 0.085, 0.425);
    add_operation(record, "batch_backward", -1, 150, 8.451, 8.451, 0.048, 0.112);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_report_print(record, "aggregate", stream, NULL), ASSAY_OK);
    golden_check(&text, "aggregate_statistics");
    assay_record_free(record);
}

static void test_aggregates_merge_places_and_recursion(void **state)
{
    (void)state;
    golden_text text;
    assay_record *record = new_record(12.0);
    add_operation(record, "train", -1, 1, 8.0, 1.0, 8.0, 8.0);
    add_operation(record, "forward", 0, 10, 4.0, 3.0, 0.3, 0.5);
    add_operation(record, "validate", -1, 1, 4.0, 2.0, 4.0, 4.0);
    add_operation(record, "forward", 2, 5, 2.0, 2.0, 0.2, 0.6);
    add_operation(record, "forward", 1, 10, 1.0, 1.0, 0.1, 0.1); /* recursion */
    add_operation(record, "quick", -1, 1000000, 0.0213, 0.0213, 2.1e-8, 4e-5);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_report_print(record, "aggregate", stream, NULL), ASSAY_OK);
    golden_check(&text, "aggregate_merged");
    assay_record_free(record);
}

static void test_track_performance_lines(void **state)
{
    (void)state;
    golden_text text;
    const assay_record_metric metric = {.operation = "critical_operation",
                                        .duration_seconds = 1.234,
                                        .cpu_delta_bytes = assay_reading_of(250.5 * mb),
                                        .gpu_delta_bytes = assay_reading_of(512.0 * mb),
                                        .gpu_peak_bytes = assay_reading_of(1024.3 * mb)};
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_performance_print(&metric, stream), ASSAY_OK);
    golden_check(&text, "track_performance");
    assay_record_metric without = metric;
    without.gpu_delta_bytes = without.gpu_peak_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
    stream = golden_open(&text);
    assert_int_equal(assay_performance_print(&without, stream), ASSAY_OK);
    golden_check_text(&text, "[Performance] critical_operation: 1.234s, CPU +250.5MB\n");
}

static void test_epoch_lines(void **state)
{
    (void)state;
    golden_text text;
    const assay_reading gpu = assay_reading_of(23.1 * mb);
    const assay__batch_line first = {0, 0.538, gpu, assay_reading_of(1648.9 * mb), 0.009458};
    const assay__batch_line second = {1, 0.185, gpu, assay_reading_of(1659.6 * mb), 0.016763};
    assay__epoch_line epoch = {.seconds = 4.774,
                               .gpu_bytes = assay_reading_of(14.4 * mb),
                               .gpu_reserved_bytes = assay_reading_of(3236 * mb),
                               .gpu_peak_bytes = assay_reading_of(2880 * mb),
                               .cpu_bytes = assay_reading_of(1659.6 * mb),
                               .cpu_peak_bytes = assay_reading_of(1702 * mb),
                               .batch_avg_seconds = assay_reading_of(0.201),
                               .batch_min_seconds = assay_reading_of(0.082),
                               .batch_max_seconds = assay_reading_of(0.538)};
    FILE *stream = golden_open(&text);
    assert_int_equal(assay__line_batch(stream, &first), ASSAY_OK);
    assert_int_equal(assay__line_batch(stream, &second), ASSAY_OK);
    assert_int_equal(assay__line_epoch(stream, &epoch), ASSAY_OK);
    golden_check(&text, "epoch_lines");

    assay__batch_line plain = second;
    plain.gpu_bytes = epoch.gpu_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
    plain.loss = NAN;
    epoch.batch_avg_seconds = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    stream = golden_open(&text);
    assert_int_equal(assay__line_batch(stream, &plain), ASSAY_OK);
    assert_int_equal(assay__line_epoch(stream, &epoch), ASSAY_OK);
    golden_check_text(&text, "  Batch 1: 0.185s, CPU 1659.6MB\n"
                             "  Epoch end: 4.774s total, CPU 1659.6MB, peak 1702MB\n");
}

static void test_metrics_csv(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-test-XXXXXX", content[1024];
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assay_record *record = new_record(1.5);
    add_metric(record, "data, loading", 0, 0.0, 0.45, 523.5, NAN, NAN);
    add_operation(record, "forward", -1, 10, 1.05, 1.05, 0.1, 0.2);
    assert_int_equal(assay_report_save(record, "csv-spans", path, NULL), ASSAY_OK);
    FILE *file = fopen(path, "r");
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(content, "operation,time,cpu_mb,gpu_mb\n"
                                 "\"data, loading\",0.45,523.5,\n"
                                 "forward,1.05,,\n");
    unlink(path);
    assay_error error;
    assert_int_equal(assay_report_save(record, "csv-spans", "/nonexistent/m.csv", &error),
                     ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nonexistent/m.csv"));
    FILE *full = fopen("/dev/full", "w");
    if (full != NULL) {
        assert_int_equal(assay_report_print(record, "performance", full, &error), ASSAY_E_FULL);
        assert_int_equal(assay_report_print(record, "aggregate", full, NULL), ASSAY_E_FULL);
        fclose(full);
    }
    assay_record_free(record);
}

static void test_findings(void **state)
{
    (void)state;
    golden_text text;
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_record *record = new_record(1.0);
    add_metric(record, "data_loading", 0, 0.0, 0.317, NAN, NAN, NAN);
    add_metric(record, "preprocessing", 0, 0.4, 0.084, NAN, NAN, NAN);
    add_metric(record, "model_forward", 0, 0.5, 0.599, NAN, NAN, NAN);
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_findings_print(findings, count, stream, 0), ASSAY_OK);
    golden_check_text(&text,
                      "⚠️  BOTTLENECK: model_forward (59.9%)\n"
                      "⚡ Consider optimizing: data_loading (31.7%)\n"
                      "⚠️  Data loading is slow: data_loading takes 31.7% of total time\n"
                      "⚠️  Forward pass is slow: model_forward takes 59.9% of batch time\n");
    stream = golden_open(&text);
    assert_int_equal(assay_findings_print(findings, count, stream, ASSAY_SHOW_REMEDIES), ASSAY_OK);
    fflush(stream);
    assert_null(strstr(text.text, "GPU")); /* nothing says that there is one */
    assert_int_equal(assay_findings_print(findings, count, stream,
                                          ASSAY_SHOW_REMEDIES | ASSAY_SHOW_GPU_REMEDIES),
                     ASSAY_OK);
    golden_check(&text, "findings_with_remedies");
    free(findings);
    assay_record_free(record);
}

/* The second symptoms of the guide, where a meter and the memory of the GPU show them. */
static void test_second_symptoms(void **state)
{
    (void)state;
    golden_text text;
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_record_counter busy = {.name = "cuda:0 utilisation", .count = 10, .mean = 0.213};
    assay_record *record = new_record(1.0);
    add_metric(record, "data_loading", 0, 0.0, 0.32, NAN, NAN, NAN);
    add_metric(record, "forward", 0, 0.4, 0.2, NAN, 0, 100);
    add_metric(record, "backward", 0, 0.5, 0.45, NAN, 0, 150);
    record->counters = &busy;
    record->counter_count = 1;
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_findings_print(findings, count, stream, ASSAY_SHOW_CODE), ASSAY_OK);
    golden_check_text(&text,
                      "⚡ Consider optimizing: backward (45.0%)\n"
                      "⚡ Consider optimizing: data_loading (32.0%)\n"
                      "⚠️  Data loading is slow: data_loading takes 32.0% of total time\n"
                      "      the GPU is busy for 21.3% of the time\n"
                      "          loader = DataLoader(dataset, batch_size=32, num_workers=4,\n"
                      "                              prefetch_factor=2, pin_memory=True)\n"
                      "⚠️  Backward pass is slow: backward takes 45.0% of batch time\n"
                      "      its peak of memory is 1.5x that of the operations beside it\n"
                      "          for part in parts:\n"
                      "              (loss_of(model(part)) / len(parts)).backward()\n"
                      "          optimizer.step()\n"
                      "          optimizer.zero_grad(set_to_none=True)\n"
                      "⚡ GPU runs no kernel 78.7% of the time\n");
    free(findings);
    busy.mean = 0.6; /* neither low nor high */
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    for (size_t i = 0; i < count; i++)
        if (findings[i].rule->beside == ASSAY_CIRCUMSTANCE_GPU_IDLE)
            assert_int_equal(findings[i].beside.validity, ASSAY_NOT_MEASURED);
    free(findings);
    record->counters = NULL;
    record->counter_count = 0;
    assay_record_free(record);
}

static void test_variance_and_best_configuration_lines(void **state)
{
    (void)state;
    golden_text text;
    assay_finding *findings = NULL;
    size_t count = 0;
    const assay_epoch_statistics statistics = {.num_batches = 24,
                                               .num_epochs = 1,
                                               .total_batch_time = 4.824,
                                               .avg_batch_time = assay_reading_of(0.201),
                                               .min_batch_time = assay_reading_of(0.082),
                                               .max_batch_time = assay_reading_of(0.538),
                                               .first_batch_time = assay_reading_of(0.538)};
    assert_int_equal(assay_bottlenecks_find_in_epochs(&statistics, &findings, &count), ASSAY_OK);
    assay_timers *timers = NULL;
    assert_int_equal(assay_timers_new(NULL, &timers), ASSAY_OK);
    assert_int_equal(assay_timers_set(timers, "8", 2.0), ASSAY_OK);
    assert_int_equal(assay_timers_set(timers, "32", 1.234), ASSAY_OK);
    assert_int_equal(assay_timers_set(timers, "64", 1.5), ASSAY_OK);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_findings_print(findings, count, stream, 0), ASSAY_OK);
    assert_int_equal(assay_timers_print_best(timers, stream, "batch size"), ASSAY_OK);
    golden_check_text(&text, "⚡ First batch is slow (2.9x the others)\n"
                             "⚠️  High variance (6.6x) - investigate outliers!\n"
                             "Optimal batch size: 32 (1.234s)\n");
    free(findings);
    assay_timers_free(timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_performance_summary),
        cmocka_unit_test(test_metrics_and_operations_form_one_tree),
        cmocka_unit_test(test_memory_of_some_spans),
        cmocka_unit_test(test_awkward_records_keep_the_columns),
        cmocka_unit_test(test_aggregate_statistics),
        cmocka_unit_test(test_aggregates_merge_places_and_recursion),
        cmocka_unit_test(test_track_performance_lines),
        cmocka_unit_test(test_epoch_lines),
        cmocka_unit_test(test_metrics_csv),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_second_symptoms),
        cmocka_unit_test(test_variance_and_best_configuration_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
