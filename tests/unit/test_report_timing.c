/* The timing utilities' tables, lines and exports, as the original document shows them. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "assay/inference.h"
#include "assay/report.h"
#include "assay/timers.h"
#include "assay/training.h"
#include "facade/timers.h"
#include "report/progress_text.h"
#include "tests/golden.h"
#include "tests/unit/comma_locale.h"

static assay_timers *new_timers(void)
{
    assay_timers *timers = NULL;
    assert_int_equal(assay_timers_new(NULL, &timers), ASSAY_OK);
    return timers;
}

static void set(assay_timers *timers, const char *name, double seconds)
{
    assert_int_equal(assay_timers_set(timers, name, seconds), ASSAY_OK);
}

static assay_timers *models(void)
{
    assay_timers *timers = new_timers();
    set(timers, "MLP", 120.0);
    set(timers, "SIREN", 90.0);
    set(timers, "KAN", 150.0);
    return timers;
}

static void test_timing_summary(void **state)
{
    (void)state;
    golden_text text;
    assay_timers *timers = new_timers();
    set(timers, "MLP training", 125.45);
    set(timers, "SIREN training", 89.32);
    set(timers, "KAN training", 102.67);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_timing_summary(timers, stream, "Section 1.1", 9), ASSAY_OK);
    golden_check(&text, "timing_summary");
    assay_timers_free(timers);
}

static void test_nested_timers_are_attributed(void **state)
{
    (void)state;
    golden_text text;
    assay_timers *timers = new_timers();
    assay__timer_mark training, epoch, evaluation;
    assert_int_equal(assay__timers_begin(timers, "training", &training), ASSAY_OK);
    assert_int_equal(assay__timers_begin(timers, "epoch", &epoch), ASSAY_OK);
    assay__timers_end(timers, epoch, 6.0);
    assay__timers_end(timers, training, 8.0);
    assert_int_equal(assay__timers_begin(timers, "evaluation", &evaluation), ASSAY_OK);
    assay__timers_end(timers, evaluation, 2.0);
    assert_int_equal(
        assay_timers_set_metric(timers, "evaluation", "peak_memory_mb", assay_reading_of(12.5)),
        ASSAY_OK);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_timing_summary(timers, stream, "nested", 1), ASSAY_OK);
    golden_check(&text, "timing_summary_nested");
    assay_timers_free(timers);
}

static void test_awkward_timers_keep_the_columns(void **state)
{
    (void)state;
    golden_text text;
    assay_timers *timers = new_timers();
    char *huge = malloc(1 << 20);
    assert_non_null(huge);
    memset(huge, 'x', (1 << 20) - 1);
    huge[(1 << 20) - 1] = '\0';
    set(timers, huge, 1.0);
    set(timers, "tab\there\x1b[31m", 2.0);
    set(timers, "größe λ", 3.0);
    set(timers, "tiny", 2.5e-6);
    set(timers, "enormous", 1e300);
    set(timers, "", 0.0);
    assert_int_equal(assay_timers_set_metric(timers, "running", "steps", assay_reading_of(3)),
                     ASSAY_OK);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_timing_summary(timers, stream, "a\nb", 0), ASSAY_OK);
    golden_check(&text, "timing_summary_awkward");
    assay_timers_free(timers);
    free(huge);
}

static void test_a_comma_locale_does_not_reach_the_tables(void **state)
{
    (void)state;
    comma_locale_folder folder;
    golden_text text;
    bool found = comma_locale_begin(&folder);
    assay_timers *timers = models();
    FILE *stream = golden_open(&text);
    assay_print_speedup_analysis(timers, stream, "KAN", NULL);
    comma_locale_end(&folder);
    assay_timers_free(timers);
    golden_check(&text, "speedup");
    if (!found)
        skip();
}

static void test_empty_timers(void **state)
{
    (void)state;
    golden_text text;
    assay_error error;
    assay_timers *timers = new_timers();
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_timing_summary(timers, stream, NULL, 3), ASSAY_OK);
    assert_int_equal(assay__timers_print_breakdown(timers, stream, "Nothing"), ASSAY_OK);
    assert_int_equal(assay_print_speedup_analysis(timers, stream, NULL, &error), ASSAY_E_DATA);
    assert_int_equal(assay_timers_print_best(timers, stream, "size"), ASSAY_E_DATA);
    golden_check(&text, "timing_empty");
    assay_timers_free(timers);
}

static void test_speedup_analysis(void **state)
{
    (void)state;
    golden_text text;
    assay_timers *timers = models();
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_speedup_analysis(timers, stream, "KAN", NULL), ASSAY_OK);
    golden_check(&text, "speedup");
    stream = golden_open(&text);
    assert_int_equal(assay_print_speedup_analysis(timers, stream, NULL, NULL), ASSAY_OK);
    golden_check(&text, "speedup"); /* the slowest is the default */
    assay_timers_free(timers);
}

static void test_speedup_says_slower_and_unknown(void **state)
{
    (void)state;
    golden_text text;
    assay_timers *timers = models();
    set(timers, "twin", 120.0);
    set(timers, "no time at all", 0.0);
    set(timers, "thousand", 0.12);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_speedup_analysis(timers, stream, "MLP", NULL), ASSAY_OK);
    golden_check(&text, "speedup_mixed");
    assay_error error;
    assert_int_equal(assay_print_speedup_analysis(timers, NULL, "LSTM", &error), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "LSTM"));
    assay_timers_free(timers);
}

static void test_phase_breakdown(void **state)
{
    (void)state;
    golden_text text;
    assay_timers *timers = new_timers();
    set(timers, "data_loading", 1.76);
    set(timers, "forward_pass", 8.34);
    set(timers, "backward_pass", 12.45);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay__timers_print_breakdown(timers, stream, "Training"), ASSAY_OK);
    golden_check(&text, "phase_breakdown");
    assay_timers_free(timers);
}

static void test_inference_benchmark(void **state)
{
    (void)state;
    golden_text text;
    const assay_timing timing = {.count = 100,
                                 .mean_seconds = 2.345499e-3,
                                 .min_seconds = 2.123e-3,
                                 .max_seconds = 3.456e-3};
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_inference_benchmark(&timing, 1, stream, "KAN"), ASSAY_OK);
    golden_check(&text, "inference_benchmark");
}

static void test_warmup_analysis(void **state)
{
    (void)state;
    golden_text text;
    const double epochs[] = {5.2, 3.1, 3.0, 3.1, 3.0, 2.9};
    assay_warmup warmup;
    assert_int_equal(assay_warmup_analyze(epochs, 6, &warmup), ASSAY_OK);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_print_warmup_analysis(&warmup, stream, "MLP"), ASSAY_OK);
    golden_check(&text, "warmup");
    assert_int_equal(assay_warmup_analyze(epochs, 1, &warmup), ASSAY_OK);
    stream = golden_open(&text);
    assert_int_equal(assay_print_warmup_analysis(&warmup, stream, "MLP"), ASSAY_OK);
    golden_check(&text, "warmup_one_epoch");
}

static void test_completion_lines(void **state)
{
    (void)state;
    golden_text text;
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay__line_time(stream, "MLP training", 45.32), ASSAY_OK);
    assert_int_equal(assay__line_memory(stream, "Model", 45.32, assay_reading_of(234.5 * 1048576)),
                     ASSAY_OK);
    assert_int_equal(
        assay__line_gpu(stream, "KAN training", 12.45, assay_reading_of(1024.3 * 1048576)),
        ASSAY_OK);
    assert_int_equal(assay__line_gpu(stream, "KAN training", 12.45, none), ASSAY_OK);
    assert_int_equal(assay__line_memory(stream, "Model", 45.32, none), ASSAY_OK);
    golden_check_text(&text, "MLP training complete: 45.32s total\n"
                             "Model complete: 45.32s, peak memory: 234.5 MB\n"
                             "KAN training complete: 12.45s, GPU peak: 1024.3 MB\n"
                             "KAN training complete: 12.45s, GPU: not available\n"
                             "Model complete: 45.32s\n");
}

/* A folder of its own for one test. */
static const char *scratch(void)
{
    static char folder[64];
    snprintf(folder, sizeof folder, "/tmp/assay-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static char *file_path(const char *folder, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void check_file(const char *path, const char *expected)
{
    char content[4096];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(content, expected);
}

static void test_csv_export(void **state)
{
    (void)state;
    const char *folder = scratch();
    char *path = file_path(folder, "timing.csv");
    assay_timers *timers = models();
    set(timers, "with \"quotes\", comma", 0.1);
    set(timers, " padded", 1e-9);
    assert_int_equal(assay_timers_set_metric(timers, "running", "steps", assay_reading_of(3)),
                     ASSAY_OK);
    assert_int_equal(assay_export_timing_csv(timers, path, "Section 1.1", NULL), ASSAY_OK);
    check_file(path, "Section,Model,Time (s)\n"
                     "Section 1.1,MLP,120\n"
                     "Section 1.1,SIREN,90\n"
                     "Section 1.1,KAN,150\n"
                     "Section 1.1,\"with \"\"quotes\"\", comma\",0.1\n"
                     "Section 1.1,\" padded\",0.000000001\n"
                     "Section 1.1,running,\n");
    unlink(path);
    rmdir(folder);
    assay_timers_free(timers);
}

static void test_json_export(void **state)
{
    (void)state;
    const char *folder = scratch();
    char *path = file_path(folder, "timing.json");
    assay_timers *timers = models();
    assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    assert_int_equal(assay_timers_set_metric(timers, "KAN", "allocated_bytes",
                                             assay_reading_of(512.5 * 1048576)),
                     ASSAY_OK);
    assert_int_equal(assay_timers_set_metric(timers, "KAN", "reserved_bytes", none), ASSAY_OK);
    assert_int_equal(assay_export_timing_json(timers, path, "Section 1.1", NULL), ASSAY_OK);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    int year = 0;
    const char *timestamp = json_string_value(json_object_get(root, "timestamp"));
    assert_int_equal(sscanf(timestamp, "%d-", &year), 1);
    assert_true(year >= 2024);
    assert_string_equal(json_string_value(json_object_get(root, "section")), "Section 1.1");
    json_t *timings = json_object_get(root, "timings");
    assert_int_equal(json_object_size(timings), 3);
    assert_true(json_number_value(json_object_get(timings, "MLP")) == 120.0);
    json_t *kan = json_object_get(timings, "KAN");
    assert_true(json_number_value(json_object_get(kan, "time")) == 150.0);
    assert_true(json_number_value(json_object_get(kan, "allocated_mb")) == 512.5);
    assert_true(json_is_null(json_object_get(kan, "reserved_mb")));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(kan, "unavailable"), "reserved_mb")),
        "unsupported");
    json_decref(root);
    unlink(path);
    rmdir(folder);
    assay_timers_free(timers);
}

static void test_full_disk_is_reported(void **state)
{
    (void)state;
    assay_timers *timers = models();
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    assert_int_equal(assay_print_timing_summary(timers, full, "x", 1), ASSAY_E_FULL);
    assert_int_equal(assay_print_speedup_analysis(timers, full, NULL, NULL), ASSAY_E_FULL);
    assert_int_equal(assay__line_time(full, "x", 1.0), ASSAY_E_FULL);
    fclose(full);
    assay_error error;
    assert_int_equal(assay_export_timing_csv(timers, "/dev/full", "x", &error), ASSAY_E_FULL);
    assert_non_null(strstr(error.message, "/dev/full"));
    assay_timers_free(timers);
}

static void test_unwritable_path_is_named(void **state)
{
    (void)state;
    assay_error error;
    assay_timers *timers = models();
    const char *path = "/nonexistent/timing.csv";
    assert_int_equal(assay_export_timing_csv(timers, path, "x", &error), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(assay_export_timing_json(timers, path, "x", &error), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, path));
    assay_timers_free(timers);
}

static void test_no_stream_prints_nothing(void **state)
{
    (void)state;
    assay_timers *timers = models();
    assert_int_equal(assay_print_timing_summary(timers, NULL, "x", 1), ASSAY_OK);
    assert_int_equal(assay__line_time(NULL, "x", 1.0), ASSAY_OK);
    assay_timers_free(timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timing_summary),
        cmocka_unit_test(test_nested_timers_are_attributed),
        cmocka_unit_test(test_awkward_timers_keep_the_columns),
        cmocka_unit_test(test_a_comma_locale_does_not_reach_the_tables),
        cmocka_unit_test(test_empty_timers),
        cmocka_unit_test(test_speedup_analysis),
        cmocka_unit_test(test_speedup_says_slower_and_unknown),
        cmocka_unit_test(test_phase_breakdown),
        cmocka_unit_test(test_inference_benchmark),
        cmocka_unit_test(test_warmup_analysis),
        cmocka_unit_test(test_completion_lines),
        cmocka_unit_test(test_csv_export),
        cmocka_unit_test(test_json_export),
        cmocka_unit_test(test_full_disk_is_reported),
        cmocka_unit_test(test_unwritable_path_is_named),
        cmocka_unit_test(test_no_stream_prints_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
