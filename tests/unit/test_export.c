/* Benchmark results in other tools' formats. tests/golden holds the documents themselves. This file
 * tests the properties that every document must have, also for the strictest of its readers. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/record_build.h"
#include "record/decode.h"
#include "report/export.h"
#include "tests/golden.h"
#include "tests/unit/comma_locale.h"
#include "tests/unit/export_document.h"
#include "tests/unit/export_sample.h"

/* Formats for other tools, of what a benchmark found. */
static const char *const documents[] = {
    "google-benchmark", "hyperfine", "pyperf", "bencher", "github-action-benchmark", "csv",
    "csv-samples",      "markdown",  "sql"};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

static void test_documents(void **state)
{
    (void)state;
    assay_record *record = export_sample();
    for (size_t i = 0; i < DOCUMENTS; i++) {
        char golden[64];
        golden_text text;
        FILE *stream = golden_open(&text);
        assert_int_equal(assay_report_print(record, documents[i], stream, NULL), ASSAY_OK);
        snprintf(golden, sizeof golden, "export_%s", documents[i]);
        golden_check(&text, golden);
    }
    assay_record_free(record);
}

static void test_google_benchmark_rows_are_complete(void **state)
{
    (void)state;
    assay_record *record = export_sample();
    json_t *document = exported_json("google-benchmark", record);
    const json_t *context = json_object_get(document, "context");
    assert_true(json_is_array(json_object_get(context, "caches")));
    assert_int_equal(json_integer_value(json_object_get(context, "json_schema_version")), 1);
    assert_int_equal(json_array_size(json_object_get(context, "load_avg")), 3);
    size_t index, samples = 0;
    json_t *row;
    json_array_foreach(json_object_get(document, "benchmarks"), index, row)
    {
        number_at(row, "real_time");
        number_at(row, "cpu_time");
        assert_string_equal(json_string_value(json_object_get(row, "time_unit")), "ns");
        samples += strcmp(json_string_value(json_object_get(row, "run_type")), "iteration") == 0;
    }
    assert_int_equal(samples, 4 + 4 + 1 + 3 + 2);
    /* 0.5 ms of processor time in 1 ms: half of each sample. */
    const json_t *first = json_array_get(json_object_get(document, "benchmarks"), 0);
    assert_true(fabs(number_at(first, "real_time") - 1e6) < 1e-6);
    assert_true(fabs(number_at(first, "cpu_time") - 0.5e6) < 1e-6);
    json_decref(document);
    assay_record_free(record);
}

static void test_pyperf_refuses_nothing(void **state)
{
    (void)state;
    assay_record *record = export_sample();
    json_t *document = exported_json("pyperf", record);
    size_t index, k;
    json_t *benchmark, *value;
    json_array_foreach(json_object_get(document, "benchmarks"), index, benchmark)
    {
        const char *key;
        json_t *run = json_array_get(json_object_get(benchmark, "runs"), 0);
        assert_true(json_array_size(json_object_get(run, "values")) > 0);
        json_array_foreach(json_object_get(run, "values"), k, value)
            assert_true(json_number_value(value) > 0.0);
        json_object_foreach(json_object_get(benchmark, "metadata"), key, value)
        {
            assert_false(json_is_null(value));
            assert_false(json_is_string(value) && *json_string_value(value) == '\0');
        }
    }
    assert_int_equal(index, 5);
    json_decref(document);
    assay_record_free(record);
}

static void test_names_are_unique(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0};
    static const char *const names[] = {"a", "a", "a #2", "a", NULL, "", "b", "b"};
    static const char *const expected[] = {"a",         "a #2",         "a #2 #2", "a #3",
                                           "(unnamed)", "(unnamed) #2", "b",       "b size=2"};
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    for (size_t i = 0; i < 8; i++)
        add_sample_subject(record, names[i], seconds, 2, NULL, 0,
                           i == 6   ? "1"
                           : i == 7 ? "2"
                                    : NULL);
    json_t *document = exported_json("bencher", record);
    assert_int_equal(json_object_size(document), 8);
    for (size_t i = 0; i < 8; i++)
        assert_non_null(json_object_get(document, expected[i]));
    json_decref(document);
    assay_record_free(record);
}

/* Trying one number after the other for each of them would take hours. */
static void test_many_of_one_name(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static const double seconds[] = {1.0, 2.0};
    char last[32];
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    for (int i = 0; i < MANY; i++)
        add_sample_subject(record, "a", seconds, 2, NULL, 0, NULL);
    json_t *document = exported_json("bencher", record);
    assert_int_equal(json_object_size(document), MANY);
    snprintf(last, sizeof last, "a #%d", MANY);
    assert_non_null(json_object_get(document, last));
    json_decref(document);
    assay_record_free(record);
}

static void test_several_records_are_one_document(void **state)
{
    (void)state;
    assay_record *records[] = {export_sample(), export_sample()};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(assay_reports_print((const assay_record *const *)records, NULL, 2, "hyperfine",
                                         stream, NULL),
                     ASSAY_OK);
    fclose(stream);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    assert_int_equal(json_array_size(json_object_get(document, "results")), 2 * 5);
    json_decref(document);
    free(text);
    assay_record_free(records[0]);
    assay_record_free(records[1]);
}

static void test_nothing_to_show_is_an_error(void **state)
{
    (void)state;
    static const char *const of_spans[] = {"summary", "advice", "csv-spans"};
    assay_record *empty = NULL, *failed = NULL;
    assert_int_equal(assay_record_new(&empty), ASSAY_OK);
    assert_int_equal(assay_record_new(&failed), ASSAY_OK);
    add_sample_subject(failed, "failed", NULL, 0, NULL, 0, NULL);
    for (size_t i = 0; i < DOCUMENTS + 3; i++) {
        const char *format = i < DOCUMENTS ? documents[i] : of_spans[i - DOCUMENTS];
        const assay_record *const records[] = {empty, failed};
        assay_error error = {0};
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        assert_int_equal(assay_reports_print(records, NULL, 2, format, stream, &error),
                         ASSAY_E_DATA);
        fclose(stream);
        assert_non_null(strstr(error.message, format));
        assert_int_equal(length, 0);
        free(text);
    }
    assay_record_free(empty);
    assay_record_free(failed);
}

/* What a record does not say is computed from its samples. */
static void test_missing_figures_are_computed(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0, 4.0, 5.0};
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    add_sample_subject(record, "x", seconds, 4, NULL, 0, NULL);
    json_t *document = exported_json("hyperfine", record);
    const json_t *result = json_array_get(json_object_get(document, "results"), 0);
    assert_true(fabs(number_at(result, "mean") - 3.0) < 1e-12);
    assert_true(fabs(number_at(result, "median") - 3.0) < 1e-12);
    assert_true(fabs(number_at(result, "stddev") - sqrt(10.0 / 3.0)) < 1e-12);
    assert_true(number_at(result, "min") == 1.0 && number_at(result, "max") == 5.0);
    assert_true(json_is_null(json_object_get(result, "user")));
    json_decref(document);
    document = exported_json("bencher", record);
    const json_t *latency = json_object_get(json_object_get(document, "x"), "latency");
    assert_true(number_at(latency, "lower_value") < 3e9 && number_at(latency, "upper_value") > 3e9);
    json_decref(document);
    assay_record_free(record);
}

static void test_no_time_is_negative(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 10.0}; /* Student's interval reaches below 0 */
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    add_sample_subject(record, "x", seconds, 2, NULL, 0, NULL);
    json_t *document = exported_json("bencher", record);
    const json_t *latency = json_object_get(json_object_get(document, "x"), "latency");
    assert_true(number_at(latency, "lower_value") > 0.0);
    json_decref(document);
    assay_record_free(record);
}

/* A sample of 1e308 s, which statistics refuse, does not keep the others from being shown. */
static void test_what_is_no_time_is_left_out(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 1e308, 3.0, -1.0};
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    add_sample_subject(record, "x", seconds, 4, NULL, 0, NULL);
    json_t *document = exported_json("bencher", record);
    const json_t *latency = json_object_get(json_object_get(document, "x"), "latency");
    assert_true(number_at(latency, "value") == 2e9);
    json_decref(document);
    assay_record_free(record);
}

static void test_figures_of_the_record_win(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0};
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    add_sample_subject(record, "x", seconds, 2, NULL, 0, NULL);
    record->subjects[0].mean_seconds = assay_reading_of(1.25);
    record->subjects[0].low_seconds = assay_reading_of(1.125);
    record->subjects[0].high_seconds = assay_reading_of(1.375);
    json_t *document = exported_json("bencher", record);
    const json_t *latency = json_object_get(json_object_get(document, "x"), "latency");
    assert_true(number_at(latency, "value") == 1.25e9);
    assert_true(number_at(latency, "lower_value") == 1.125e9);
    assert_true(number_at(latency, "upper_value") == 1.375e9);
    json_decref(document);
    assay_record_free(record);
}

/* What we write for other tools is what we read from them. */
static void test_round_trip(void **state)
{
    (void)state;
    static const char *const formats[] = {"google-benchmark", "hyperfine", "pyperf"};
    static const double seconds[] = {0.1, 0.1 / 3, 1.5e-7, 12345.678901234567};
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    add_sample_subject(record, "größe \"1\" \\", seconds, 4, NULL, 0, NULL);
    add_sample_subject(record, "once", seconds, 1, NULL, 0, NULL);
    for (size_t f = 0; f < 3; f++) {
        assay_record *back = NULL;
        assay_error error = {0};
        char *text = exported(formats[f], record);
        if (assay__record_import(text, strlen(text), &error, &back) != ASSAY_OK)
            fail_msg("%s: %s", formats[f], error.message);
        assert_int_equal(back->subject_count, 2);
        for (size_t i = 0; i < 2; i++) {
            const assay_record_subject *before = &record->subjects[i], *after = &back->subjects[i];
            assert_string_equal(after->name, before->name);
            assert_string_equal(after->source, formats[f]);
            assert_int_equal(after->sample_count, before->sample_count);
            for (size_t k = 0; k < before->sample_count; k++) {
                double written = before->samples_seconds[k], read = after->samples_seconds[k];
                /* Google Benchmark's nanoseconds cost a rounding each way. */
                assert_true(fabs(read - written) <= (f == 0 ? 4e-16 * written : 0.0));
            }
        }
        free(text);
        assay_record_free(back);
    }
    assay_record_free(record);
}

/* Decimal commas would break every format. */
static void test_locale_does_not_matter(void **state)
{
    (void)state;
    assay_record *record = export_sample();
    comma_locale_folder folder;
    bool found = comma_locale_begin(&folder);
    for (size_t i = 0; found && i < DOCUMENTS; i++) {
        char *foreign = exported(documents[i], record);
        setlocale(LC_ALL, "C");
        char *plain = exported(documents[i], record);
        assert_non_null(setlocale(LC_ALL, comma_locale));
        assert_string_equal(foreign, plain);
        free(foreign);
        free(plain);
    }
    comma_locale_end(&folder);
    assay_record_free(record);
    if (!found)
        skip();
}

static void test_views_of_spans(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assay_record_metric metric;
    assay_record_metric_init(&metric);
    metric.operation = "load, data";
    metric.duration_seconds = 0.5;
    record->total_seconds = 0.5;
    assert_int_equal(assay_record_add_metric(record, &metric), ASSAY_OK);
    char *csv = exported("csv-spans", record), *summary = exported("summary", record);
    char *advice = exported("advice", record);
    assert_string_equal(csv, "operation,time,cpu_mb,gpu_mb\n\"load, data\",0.5,,\n");
    assert_non_null(strstr(summary, "PERFORMANCE SUMMARY"));
    assert_non_null(strstr(summary, "AGGREGATE STATISTICS"));
    assert_non_null(strstr(advice, "BOTTLENECK: load, data (100.0%)"));
    free(csv);
    free(summary);
    free(advice);
    assay_record_free(record);
}

/* A spreadsheet computes what begins with =, +, - or @; a number it may. */
static void test_formulas_are_disarmed(void **state)
{
    (void)state;
    static const double seconds[] = {1, 1};
    static const char *const names[] = {
        "=cmd|' /C calc'!A0", "+1+1", "-x", "@SUM(A1)", "-1.5e3", "-,\"x", "plain"};
    assay_record *record = new_record();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_sample_subject(record, names[i], seconds, 2, NULL, 0, names[i]);
    char *csv = exported("csv", record);
    static const char *const lines[] = {
        "\n'=cmd|' /C calc'!A0,", "\n'+1+1,", "\n'-x,",   "\n'@SUM(A1),", "\n-1.5e3,",
        "\n\"'-,\"\"x\",",        "\nplain,", ",'+1+1\n", ",-1.5e3\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strstr(csv, lines[i]) == NULL)
            fail_msg("no '%s' in %s", lines[i], csv);
    free(csv);
    assay_record_free(record);
}

static assay_record *spans(size_t count)
{
    assay_record *record = new_record();
    for (size_t i = 0; i < count; i++) {
        assay_record_metric metric;
        assay_record_metric_init(&metric);
        char name[16];
        snprintf(name, sizeof name, "step %zu", i);
        metric.operation = assay_record_text(record, name);
        metric.start_seconds = 0.5 * (double)i;
        metric.duration_seconds = 0.5;
        assert_int_equal(assay_record_add_metric(record, &metric), ASSAY_OK);
    }
    record->total_seconds = 0.5 * (double)count;
    return record;
}

/* One after the other with a line between them; records without spans are passed over. */
static void test_views_of_several_records(void **state)
{
    (void)state;
    assay_record *records[] = {export_sample(), spans(1), export_sample(), spans(50)};
    char *text = NULL, expected[4096];
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    char *one = exported("advice", records[1]), *many = exported("advice", records[3]);
    assert_string_equal(many, "No bottleneck stands out.\n");
    assert_int_equal(
        assay_reports_print((const assay_record *const *)records, NULL, 4, "advice", stream, NULL),
        ASSAY_OK);
    fclose(stream);
    snprintf(expected, sizeof expected, "%s\n%s", one, many);
    assert_string_equal(text, expected);
    free(one);
    free(many);
    free(text);
    for (size_t i = 0; i < 4; i++)
        assay_record_free(records[i]);
}

static void test_unknown_format(void **state)
{
    (void)state;
    assay_record *record = export_sample();
    assay_error error = {0};
    assert_int_equal(assay_report_print(record, "csb", stdout, &error), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "csb"));
    assert_int_equal(assay_report_print(record, "", stdout, NULL), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_report_save(record, NULL, "-", NULL), ASSAY_E_NOT_FOUND);
    assay_record_free(record);
}

/* Every format of the list prints a record, or says that there is nothing of its kind in it. */
static void test_every_format_is_listed(void **state)
{
    (void)state;
    size_t count = 0, length = 0;
    const assay_report_format *formats = assay_report_formats(&count);
    assay_record *record = export_sample();
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        FILE *stream = open_memstream(&text, &length);
        assay_status status = assay_report_print(record, formats[i].name, stream, NULL);
        fclose(stream);
        assert_true(status == ASSAY_E_DATA || (status == ASSAY_OK && length > 0));
        assert_true(formats[i].description[0] != '\0');
        free(text);
    }
    const assay_record *const both[] = {record, record};
    assert_int_equal(assay_reports_print(both, NULL, 2, "trace", stdout, NULL), ASSAY_E_ARGUMENT);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_google_benchmark_rows_are_complete),
        cmocka_unit_test(test_pyperf_refuses_nothing),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_many_of_one_name),
        cmocka_unit_test(test_several_records_are_one_document),
        cmocka_unit_test(test_nothing_to_show_is_an_error),
        cmocka_unit_test(test_missing_figures_are_computed),
        cmocka_unit_test(test_no_time_is_negative),
        cmocka_unit_test(test_what_is_no_time_is_left_out),
        cmocka_unit_test(test_figures_of_the_record_win),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_views_of_spans),
        cmocka_unit_test(test_formulas_are_disarmed),
        cmocka_unit_test(test_views_of_several_records),
        cmocka_unit_test(test_unknown_format),
        cmocka_unit_test(test_every_format_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
