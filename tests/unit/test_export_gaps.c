/* Benchmark results in other tools' formats when the record lacks figures, or has subjects that are
 * hard to distinguish. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/record_build.h"
#include "tests/unit/export_document.h"
#include "tests/unit/export_sample.h"

static const json_t *row_at(const json_t *document, const char *array, size_t index)
{
    const json_t *row = json_array_get(json_object_get(document, array), index);
    assert_non_null(row);
    return row;
}

/* Whatever is not known is left out, or the least that is true: one processor is one, no counted
 * iteration was one at least. */
static void test_google_benchmark_context(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0}, loads[] = {10.05, 2, 0.905};
    static const char *const cores[] = {"1", "19", NULL};
    for (size_t i = 0; i < 3; i++) {
        assay_record *record = new_record();
        add_sample_subject(record, "x", seconds, 2, NULL, 0, NULL);
        add_sample_subject(record, "aggregates", NULL, 0, NULL, 0, NULL);
        record->subjects[0].iterations = 0;
        record->subjects[0].user_seconds = assay_reading_of(0.5); /* without that of the system */
        record->subjects[1].mean_seconds = assay_reading_of(3);
        assert_int_equal(
            assay_record_add_machine(record, "load_average", "10.05 2 0.905", ASSAY_VALID),
            ASSAY_OK);
        if (cores[i] != NULL)
            assert_int_equal(assay_record_add_machine(record, "cores", cores[i], ASSAY_VALID),
                             ASSAY_OK);
        json_t *document = exported_json("google-benchmark", record);
        const json_t *context = json_object_get(document, "context");
        for (size_t k = 0; k < 3; k++)
            assert_true(fabs(json_number_value(row_at(context, "load_avg", k)) - loads[k]) < 1e-12);
        assert_int_equal(json_object_get(context, "num_cpus") != NULL, cores[i] != NULL);
        if (cores[i] != NULL)
            assert_int_equal(number_at(context, "num_cpus"), i == 0 ? 1 : 19);
        assert_string_equal(json_string_value(json_object_get(context, "host_name")), "");
        assert_int_equal(number_at(row_at(document, "benchmarks", 0), "iterations"), 1);
        assert_int_equal(number_at(row_at(document, "benchmarks", 0), "repetitions"), 2);
        assert_true(number_at(row_at(document, "benchmarks", 0), "cpu_time") == 1e9);
        size_t rows = json_array_size(json_object_get(document, "benchmarks"));
        assert_int_equal(number_at(row_at(document, "benchmarks", rows - 1), "repetitions"), 1);
        json_decref(document);
        assay_record_free(record);
    }
}

/* Which runs failed is not known once failures were timed: then nothing is said about any. */
static void test_exit_codes_of_hyperfine(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0};
    static const char *const command[] = {"sort"};
    static const struct {
        bool timed;
        uint64_t failed;
        size_t codes;
    } cases[] = {{true, 1, 0}, {true, 0, 2}, {false, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_record *record = new_record();
        add_sample_subject(record, "x", seconds, 2, command, 1, NULL);
        record->subjects[0].failures_timed = cases[i].timed;
        record->subjects[0].failed_runs = cases[i].failed;
        json_t *document = exported_json("hyperfine", record);
        const json_t *result = row_at(document, "results", 0);
        assert_int_equal(json_array_size(json_object_get(result, "exit_codes")), cases[i].codes);
        json_decref(document);
        assay_record_free(record);
    }
}

static void test_dates_of_pyperf(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0};
    static const char *const created[][2] = {{"2026-11-15T04:11:49Z", "2026-11-15 04:11:49"},
                                             {"2026-11-15T04:11:49", "2026-11-15 04:11:49"},
                                             {"2026-11-15T04:11", NULL},
                                             {"Sun Nov 15 04:11:49 2026", NULL}};
    for (size_t i = 0; i < sizeof created / sizeof *created; i++) {
        assay_record *record = new_record();
        record->created = created[i][0];
        add_sample_subject(record, "x", seconds, 2, NULL, 0, NULL);
        char *text = exported("pyperf", record);
        assert_int_equal(strstr(text, "\"date\"") != NULL, created[i][1] != NULL);
        if (created[i][1] != NULL)
            assert_non_null(strstr(text, created[i][1]));
        free(text);
        assay_record_free(record);
    }
}

/* One end of an interval is none. */
static void test_half_an_interval(void **state)
{
    (void)state;
    static const double seconds[] = {1.0};
    for (size_t i = 0; i < 2; i++) {
        assay_record *record = new_record();
        add_sample_subject(record, "x", seconds, 1, NULL, 0, NULL);
        *(i == 0 ? &record->subjects[0].low_seconds : &record->subjects[0].high_seconds) =
            assay_reading_of(1.0);
        char *bencher = exported("bencher", record),
             *action = exported("github-action-benchmark", record);
        char *markdown = exported("markdown", record);
        assert_null(strstr(bencher, "er_value"));
        assert_null(strstr(action, "range"));
        assert_null(strstr(markdown, "…"));
        free(bencher);
        free(action);
        free(markdown);
        assay_record_free(record);
    }
}

static void test_fences_are_longer_than_any_run(void **state)
{
    (void)state;
    static const double seconds[] = {1.0};
    assay_record *record = new_record();
    add_sample_subject(record, "``a`b", seconds, 1, NULL, 0, NULL);
    char *text = exported("markdown", record);
    assert_non_null(strstr(text, "``` ``a`b ```"));
    free(text);
    assay_record_free(record);
}

/* A column for every parameter that any subject has, however many have it. */
static void test_columns_of_parameters(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0};
    assay_record *record = new_record();
    add_sample_subject(record, "a", seconds, 2, NULL, 0, "1");
    add_sample_subject(record, "b", seconds, 2, NULL, 0, "2");
    add_sample_subject(record, "c", seconds, 2, NULL, 0, "3");
    assert_int_equal(assay_record_add_parameter(record, &record->subjects[1], "kind", "x"),
                     ASSAY_OK);
    char *text = exported("csv-samples", record);
    assert_non_null(strstr(text, ",parameter_size,parameter_kind\n"));
    assert_null(strstr(strstr(text, "parameter_kind") + 1, "parameter_"));
    assert_non_null(strstr(text, ",1,\n"));
    assert_non_null(strstr(text, ",2,x\n"));
    assert_non_null(strstr(text, ",3,\n"));
    free(text);
    assay_record_free(record);
}

/* What tells namesakes apart is said: all of their parameters, then the file they came from. */
static void test_namesakes_are_told_apart(void **state)
{
    (void)state;
    static const double seconds[] = {1.0, 2.0};
    static const char *const expected[] = {"a", "a size=1 kind=x", "a size=1 kind=x (new.json)"};
    assay_record *record = new_record();
    for (size_t i = 0; i < 3; i++) {
        add_sample_subject(record, "a", seconds, 2, NULL, 0, "1");
        assert_int_equal(assay_record_add_parameter(record, &record->subjects[i], "kind", "x"),
                         ASSAY_OK);
        record->subjects[i].origin = i < 2 ? "old.json" : "new.json";
    }
    json_t *document = exported_json("bencher", record);
    assert_int_equal(json_object_size(document), 3);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(json_object_get(document, expected[i]));
    json_decref(document);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_google_benchmark_context),
        cmocka_unit_test(test_exit_codes_of_hyperfine),
        cmocka_unit_test(test_dates_of_pyperf),
        cmocka_unit_test(test_half_an_interval),
        cmocka_unit_test(test_fences_are_longer_than_any_run),
        cmocka_unit_test(test_columns_of_parameters),
        cmocka_unit_test(test_namesakes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
