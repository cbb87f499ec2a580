/* Results of other tools become subjects; files that are not what they seem are refused with name
 * and place. Files written by the tools themselves are tested in tests/accuracy/test_import.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "assay/record.h"
#include "record/decode.h"

static assay_record *load(const char *seed)
{
    char path[4096];
    const char *folder = getenv("ASSAY_SOURCE"); /* set by ctest */
    if (folder == NULL)
        skip();
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", folder, seed);
    assay_record *record = NULL;
    assay_error error = {0};
    if (assay_record_load(path, &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    return record;
}

static const char *fact(const assay_record_fact *facts, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].key, key) == 0)
            return facts[i].value;
    return "(none)";
}

static void check_samples(const assay_record_subject *subject, size_t count, const double *expected)
{
    assert_int_equal(subject->sample_count, count);
    assert_null(subject->rounds);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(subject->samples_seconds[i] - expected[i]) < 1e-15);
}

static void test_repetitions_are_samples(void **state)
{
    (void)state;
    assay_record *record = load("import_google_benchmark/repetitions.json");
    assert_string_equal(record->kind, "bench");
    assert_int_equal(record->subject_count, 3);
    const assay_record_subject *sort = &record->subjects[0], *copy = &record->subjects[1];
    assert_string_equal(sort->name, "sort/8");
    assert_string_equal(sort->source, "google-benchmark");
    assert_int_equal(sort->iterations, 100);
    check_samples(sort, 2, (double[]){2e-6, 4e-6});
    assert_int_equal(sort->mean_seconds.validity, ASSAY_NOT_MEASURED); /* not the aggregate's */
    assert_string_equal(copy->name, "copy");
    assert_int_equal(copy->failed_runs, 2); /* an error, and skipped */
    check_samples(copy, 1, (double[]){5e-3});
    assert_string_equal(record->subjects[2].name, "old"); /* without a run_name and a unit: ns */
    check_samples(&record->subjects[2], 1, (double[]){7e-9});
    assert_string_equal(fact(record->machine, record->machine_count, "cores"), "2");
    assert_string_equal(fact(record->build, record->build_count, "library_build_type"), "release");
    assert_string_equal(record->created, "2026-11-01T10:00:00+00:00");
    assay_record_free(record);
}

static void test_aggregates_alone_are_figures(void **state)
{
    (void)state;
    assay_record *record = load("import_google_benchmark/aggregates.json");
    assert_int_equal(record->subject_count, 1);
    const assay_record_subject *sort = &record->subjects[0];
    assert_string_equal(sort->name, "sort/8");
    check_samples(sort, 0, NULL);
    assert_true(fabs(sort->mean_seconds.value - 2.5e-6) < 1e-18);
    assert_true(fabs(sort->median_seconds.value - 2.4e-6) < 1e-18);
    assert_true(fabs(sort->std_seconds.value - 0.1e-6) < 1e-18);
    assert_int_equal(sort->min_seconds.validity, ASSAY_NOT_MEASURED);
    assay_record_free(record);
}

static void test_numbers_without_a_word(void **state)
{
    (void)state;
    assay_record *record = load("import_google_benchmark/counter_nan.json");
    assert_int_equal(record->subject_count, 1);
    assert_string_equal(record->subjects[0].name, "a \\\"NaN");
    check_samples(&record->subjects[0], 2, (double[]){2e-6, 4e-6});
    assay_record_free(record);
}

static assay_record *import(const char *json)
{
    assay_record *record = NULL;
    assay_error error = {0};
    if (assay__record_import(json, strlen(json), &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    return record;
}

/* What looks like such a number within a string stays, wherever strings end. */
static void test_words_within_strings(void **state)
{
    (void)state;
    static const struct {
        const char *json, *command;
    } cases[] = {
        {"{\"results\": [{\"command\": \"a \\\"NaN\", \"times\": [1], \"mean\": NaN}]}", "a \"NaN"},
        {"{\"results\": [{\"x\": \"\\\\\", \"command\": \"NaN\", \"times\": [1], \"mean\": NaN}]}",
         "NaN"},
        {"{\"results\": [{\"x\": \"\", \"command\": \"-Infinity\", \"times\": [1], \"mean\": "
         "-Infinity}]}",
         "-Infinity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_record *record = import(cases[i].json);
        assert_string_equal(record->subjects[0].name, cases[i].command);
        assert_int_equal(record->subjects[0].mean_seconds.validity, ASSAY_NOT_MEASURED);
        check_samples(&record->subjects[0], 1, (double[]){1});
        assay_record_free(record);
    }
}

static void test_values_of_every_kind(void **state)
{
    (void)state;
    assay_record *record =
        import("{\"results\": [{\"command\": \"a\", \"times\": [0, 1], \"exit_codes\": "
               "[0, 1], \"parameters\": {\"fast\": true, \"slow\": false, \"n\": 7, "
               "\"x\": 0.5}}]}");
    const assay_record_subject *it = &record->subjects[0];
    assert_string_equal(record->kind, "bench");
    check_samples(it, 2, (double[]){0, 1}); /* too short for a clock, but a time */
    assert_int_equal(it->failed_runs, 1);
    assert_true(it->failures_timed);
    assert_string_equal(fact(it->parameters, it->parameter_count, "fast"), "true");
    assert_string_equal(fact(it->parameters, it->parameter_count, "slow"), "false");
    assert_string_equal(fact(it->parameters, it->parameter_count, "n"), "7");
    assert_string_equal(fact(it->parameters, it->parameter_count, "x"), "0.5");
    assay_record_free(record);
    record = import("{\"context\": {\"host_name\": \"\", \"num_cpus\": 2}, \"benchmarks\": []}");
    assert_int_equal(record->machine_count, 1); /* an empty text is no fact */
    assert_string_equal(fact(record->machine, record->machine_count, "cores"), "2");
    assay_record_free(record);
}

static void test_times_are_samples(void **state)
{
    (void)state;
    assay_record *record = load("import_hyperfine/two.json");
    assert_int_equal(record->subject_count, 2);
    const assay_record_subject *sleep = &record->subjects[0], *flaky = &record->subjects[1];
    assert_string_equal(sleep->name, "sleep 0.1");
    assert_string_equal(sleep->source, "hyperfine");
    check_samples(sleep, 2, (double[]){0.102, 0.103});
    assert_int_equal(sleep->parameter_count, 1);
    assert_string_equal(sleep->parameters[0].value, "0.1");
    assert_true(sleep->mean_seconds.value == 0.1025);
    assert_true(sleep->peak_rss_bytes.value == 2048);
    check_samples(flaky, 3, (double[]){0.2, 0.3, 0.4}); /* to be ignored that they fail */
    assert_int_equal(flaky->failed_runs, 2);
    assert_true(flaky->failures_timed);
    assert_false(sleep->failures_timed);
    assert_true(flaky->mean_seconds.value == 0.3);
    assay_record_free(record);
}

/* Without the runs there are still the figures of hyperfine. */
static void test_figures_without_times(void **state)
{
    (void)state;
    assay_record *record =
        import("{\"results\": [{\"command\": \"a\", \"mean\": 2.5, \"stddev\": null, \"median\": "
               "2.25, \"min\": 2, \"max\": 3, \"user\": 0.5, \"exit_codes\": [0, 1]}, "
               "{\"command\": \"b\", \"mean\": 1, \"times\": null}]}");
    assert_int_equal(record->subject_count, 2);
    const assay_record_subject *a = &record->subjects[0];
    assert_int_equal(a->sample_count, 0);
    assert_int_equal(a->failed_runs, 0);
    assert_true(a->mean_seconds.value == 2.5 && a->median_seconds.value == 2.25);
    assert_true(a->min_seconds.value == 2 && a->max_seconds.value == 3);
    assert_true(a->user_seconds.value == 0.5);
    assert_int_not_equal(a->std_seconds.validity, ASSAY_VALID);
    assert_true(record->subjects[1].mean_seconds.value == 1);
    assay_record_free(record);
}

static void test_values_of_all_runs_are_samples(void **state)
{
    (void)state;
    assay_record *record = load("import_pyperf/runs.json");
    assert_int_equal(record->subject_count, 2);
    const assay_record_subject *telco = &record->subjects[0], *nbody = &record->subjects[1];
    assert_string_equal(telco->name, "telco");
    assert_string_equal(telco->source, "pyperf");
    assert_int_equal(telco->iterations, 32);
    assert_int_equal(telco->warmup_samples, 4);
    check_samples(telco, 3, (double[]){0.011, 0.012, 0.0115});
    assert_string_equal(nbody->name, "nbody");
    assert_int_equal(nbody->iterations, 4);
    assert_string_equal(fact(record->machine, record->machine_count, "cpu"), "Z80");
    assay_record_free(record);
}

/* Beside times the other units of pyperf are no reason to refuse a file; alone they are. */
static void test_what_is_no_time_is_left_out(void **state)
{
    (void)state;
    const char *json = "{\"version\": \"1.0\", \"benchmarks\": ["
                       "{\"metadata\": {\"name\": \"heap\", \"unit\": \"byte\"}, "
                       "\"runs\": [{\"values\": [4096, 8192]}]}, "
                       "{\"metadata\": {\"name\": \"nbody\", \"unit\": \"second\"}, "
                       "\"runs\": [{\"values\": [0.25]}]}, "
                       "{\"metadata\": {\"unit\": \"integer\"}}]}";
    assay_error error = {.status = ASSAY_E_IO};
    assay_record *record = NULL;
    assert_int_equal(assay__record_import(json, strlen(json), &error, &record), ASSAY_OK);
    assert_int_equal(record->subject_count, 1);
    assert_string_equal(record->subjects[0].name, "nbody");
    check_samples(&record->subjects[0], 1, (double[]){0.25});
    assert_int_equal(error.status, ASSAY_E_DATA);
    assert_string_equal(error.message, "record: 2 of 3 benchmarks left out: the unit of 'heap' is "
                                       "'byte', no time");
    assay_record_free(record);

    json = "{\"version\": \"1.0\", \"benchmarks\": [], \"counter\": NaN}";
    assert_int_equal(assay__record_import(json, strlen(json), &error, &record), ASSAY_OK);
    assert_int_equal(error.status, ASSAY_OK); /* no remark */
    assay_record_free(record);
}

/* Loops that nobody can count are not known; what measured is a fact of the build. */
static void test_loops_and_facts_of_pyperf(void **state)
{
    (void)state;
    static const struct {
        const char *loops;
        uint64_t iterations;
    } cases[] = {{"4294967295", 3 * UINT64_C(4294967295)}, {"4294967296", 0}};
    for (size_t i = 0; i < 2; i++) {
        char json[400];
        snprintf(
            json, sizeof json,
            "{\"version\": \"1.0\", \"metadata\": {\"python_version\": \"3.11\", \"loops\": %s, "
            "\"inner_loops\": 3}, \"benchmarks\": [{\"metadata\": {\"name\": \"a\"}, "
            "\"runs\": [{\"values\": [0.25]}]}]}",
            cases[i].loops);
        assay_record *record = import(json);
        assert_true(record->subjects[0].iterations == cases[i].iterations);
        assert_string_equal(fact(record->build, record->build_count, "python"), "3.11");
        assert_null(record->assay_version); /* which did not measure it */
        assay_record_free(record);
    }
}

static void test_records_are_loaded_as_before(void **state)
{
    (void)state;
    assay_record *record = load("record/full.json");
    assert_string_equal(record->kind, "run");
    assert_int_equal(record->subject_count, 2);
    assay_record_free(record);
}

static void check_refused(const char *json, assay_status status, const char *message)
{
    assay_error error = {0};
    assay_record *record = NULL;
    assert_int_equal(assay__record_import(json, strlen(json), &error, &record), status);
    assert_null(record);
    assert_string_equal(error.message, message);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    check_refused("{\"rows\": []}", ASSAY_E_FORMAT,
                  "record: neither an assay record nor JSON of Google Benchmark, hyperfine or "
                  "pyperf");
    check_refused("[]", ASSAY_E_FORMAT,
                  "record: neither an assay record nor JSON of Google Benchmark, hyperfine or "
                  "pyperf");
    /* pytest-benchmark */
    check_refused("{\"version\": \"4.0.0\", \"benchmarks\": [{\"name\": \"a\", \"stats\": {}}]}",
                  ASSAY_E_FORMAT,
                  "record: neither an assay record nor JSON of Google Benchmark, hyperfine or "
                  "pyperf");
    check_refused("{\"schema\": \"assay-record\", \"version\": 3}", ASSAY_E_VERSION,
                  "record: schema version 3 is newer than 2, the newest this assay reads; update "
                  "assay");
    check_refused("{\"context\": {}, \"benchmarks\": [{\"name\": \"a\"}]}", ASSAY_E_FORMAT,
                  "record: benchmarks[0].real_time: a time is expected, not nothing");
    check_refused("{\"context\": {}, \"benchmarks\": [{\"name\": \"a\", \"real_time\": -1}]}",
                  ASSAY_E_FORMAT, "record: benchmarks[0].real_time: -1 is not a time");
    check_refused("{\"context\": {}, \"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, "
                  "\"time_unit\": \"h\"}]}",
                  ASSAY_E_FORMAT, "record: benchmarks[0].time_unit: ns, us, ms or s is expected");
    check_refused("{\"context\": {}, \"benchmarks\": [{\"run_name\": 7}]}", ASSAY_E_FORMAT,
                  "record: benchmarks[0].run_name: a string is expected, not an integer");
    check_refused("{\"context\": {}, \"benchmarks\": [7]}", ASSAY_E_FORMAT,
                  "record: benchmarks[0]: an object is expected, not an integer");
    check_refused("{\"results\": [{\"command\": \"a\"}]}", ASSAY_E_FORMAT,
                  "record: results[0]: neither 'times' nor 'mean'; export with hyperfine "
                  "--export-json");
    check_refused("{\"results\": [{\"command\": \"a\", \"mean\": 1, \"times\": 1}]}",
                  ASSAY_E_FORMAT,
                  "record: results[0].times: an array of seconds is expected, not an integer");
    check_refused("{\"results\": [{\"command\": \"a\", \"mean\": 1, \"min\": -1}]}", ASSAY_E_FORMAT,
                  "record: results[0].min: -1 is not a time");
    check_refused("{\"results\": [{\"command\": \"a\", \"times\": [1, null]}]}", ASSAY_E_FORMAT,
                  "record: results[0].times[1]: a time is expected, not null");
    check_refused("{\"results\": [{\"command\": \"a\", \"times\": [], \"parameters\": "
                  "{\"unavailable\": \"x\"}}]}",
                  ASSAY_E_FORMAT,
                  "record: results[0].parameters: 'unavailable' cannot be taken over: invalid "
                  "argument");
    check_refused("{\"version\": \"1.0\", \"benchmarks\": [{\"metadata\": {\"unit\": \"byte\"}}]}",
                  ASSAY_E_FORMAT,
                  "record: benchmarks[0].metadata.unit: 'byte' is no time; seconds are expected");
    check_refused("{\"version\": \"1.0\", \"benchmarks\": [{\"runs\": [{\"values\": [true]}]}]}",
                  ASSAY_E_FORMAT,
                  "record: benchmarks[0].runs[0].values: a time is expected, not a truth value");
    check_refused("{\"version\": \"1.0\", \"benchmarks\": [{\"runs\": [{\"values\": 1}]}]}",
                  ASSAY_E_FORMAT,
                  "record: benchmarks[0].runs: run 0: an object with values is expected");
    /* the place is that of the second */
    check_refused("{\"version\": \"1.0\", \"benchmarks\": [{\"runs\": [{\"values\": [1]}]}, "
                  "{\"runs\": [{\"values\": [-1]}]}]}",
                  ASSAY_E_FORMAT, "record: benchmarks[1].runs[0].values: -1 is not a time");
    check_refused("{\"results\": [{\"command\": \"a\", \"times\": [1, 2]}, {\"command\": \"b\", "
                  "\"times\": [1, -2]}]}",
                  ASSAY_E_FORMAT, "record: results[1].times[1]: -2 is not a time");
    check_refused(
        "{\"context\": {}, \"benchmarks\": [{\"name\": \"a\", \"real_time\": 1}, {\"name\": "
        "\"b\", \"real_time\": -1}]}",
        ASSAY_E_FORMAT, "record: benchmarks[1].real_time: -1 is not a time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repetitions_are_samples),
        cmocka_unit_test(test_aggregates_alone_are_figures),
        cmocka_unit_test(test_numbers_without_a_word),
        cmocka_unit_test(test_words_within_strings),
        cmocka_unit_test(test_values_of_every_kind),
        cmocka_unit_test(test_times_are_samples),
        cmocka_unit_test(test_figures_without_times),
        cmocka_unit_test(test_values_of_all_runs_are_samples),
        cmocka_unit_test(test_what_is_no_time_is_left_out),
        cmocka_unit_test(test_loops_and_facts_of_pyperf),
        cmocka_unit_test(test_records_are_loaded_as_before),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
