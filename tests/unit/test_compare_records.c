/* Comparisons of records: which benchmarks belong together, and what else differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/build.h"
#include "tests/unit/compare_fixture.h"

static const char *const origins[] = {"before.json", "after.json", "later.json"};

/* Records as sides of one run each. */
static assay_status compare_some(const assay_record *const *records, size_t count,
                                 const assay_compare_options *options, assay_error *error,
                                 assay_record **result)
{
    assay_compare_side sides[3];
    for (size_t i = 0; i < count && i < 3; i++)
        sides[i] = (assay_compare_side){sizeof *sides, origins[i], &records[i], 1};
    return assay_records_compare(sides, count, options, error, result);
}

static assay_status compare_two(const assay_record *const *records,
                                const assay_compare_options *options, assay_error *error,
                                assay_record **result)
{
    return compare_some(records, 2, options, error, result);
}

/* Nothing of a subject is shared with the record it came from, which may go. */
static void check_copy(const assay_record_subject *copy, const assay_record_subject *subject)
{
    assert_ptr_not_equal(copy->name, subject->name);
    assert_ptr_not_equal(copy->source, subject->source);
    assert_string_equal(copy->source, subject->source);
    assert_ptr_not_equal(copy->stopped, subject->stopped);
    assert_string_equal(copy->stopped, subject->stopped);
    assert_ptr_not_equal(copy->command, subject->command);
    assert_int_equal(copy->command_count, subject->command_count);
    for (size_t i = 0; i < subject->command_count; i++) {
        assert_ptr_not_equal(copy->command[i], subject->command[i]);
        assert_string_equal(copy->command[i], subject->command[i]);
    }
    assert_ptr_not_equal(copy->samples_seconds, subject->samples_seconds);
    assert_memory_equal(copy->samples_seconds, subject->samples_seconds,
                        subject->sample_count * sizeof(double));
    assert_null(copy->rounds);
}

static void test_records_are_matched_by_name(void **state)
{
    (void)state;
    assay_record *before = empty_record(), *after = empty_record(), *result = NULL;
    add(before, "sort", MANY, 1e-3, 0.02);
    add(before, "twice", MANY, 1e-3, 0.02);
    add(before, "twice", MANY, 2e-3, 0.02);
    add(before, "gone", MANY, 1e-3, 0.02);
    add(after, "new", MANY, 1e-3, 0.02);
    add(after, "twice", MANY, 1e-3, 0.02);
    add(after, "twice", MANY, 2e-3, 0.02);
    add(after, "sort", MANY, 1.2e-3, 0.02);
    interleave(before);
    interleave(after); /* rounds of two records are no pairs */
    const char *const command[] = {"sort", "-n"};
    before->subjects[0].command = command;
    before->subjects[0].command_count = 2;
    before->subjects[0].source = assay_record_text(before, "assay");
    before->subjects[0].stopped = assay_record_text(before, "precision");
    const assay_record *records[] = {before, after};
    assay_error error = {0};
    if (compare_two(records, NULL, &error, &result) != ASSAY_OK)
        fail_msg("%s", error.message);
    check_copy(&result->subjects[0], &before->subjects[0]);
    assay_record_free(before);
    assay_record_free(after);
    assert_string_equal(result->kind, "compare");
    assert_int_equal(result->subject_count, 8);
    assert_int_equal(result->comparison_count, 3);
    const assay_record_comparison *it = result->comparisons;
    assert_string_equal(it[0].baseline, "sort");
    assert_string_equal(it[0].baseline_origin, "before.json");
    assert_string_equal(it[0].candidate_origin, "after.json");
    assert_int_equal(it[0].verdict, ASSAY_VERDICT_SLOWER);
    assert_false(it[0].paired);
    check_near(it[1].ratio.value, 1, 1e-6);
    check_near(it[2].ratio.value, 1, 1e-6);
    assert_int_equal(result->difference_count, 2);
    assert_string_equal(result->differences[0].what, "benchmark gone");
    assert_string_equal(result->differences[0].candidate, "missing");
    assert_string_equal(assay_difference_missing(&result->differences[0]), "gone");
    assert_null(assay_difference_missing(&result->differences[1])); /* new, not gone */
    assert_string_equal(result->differences[1].what, "benchmark new");
    assert_string_equal(result->differences[1].baseline, "missing");
    assay_record_free(result);
}

/* ---- other kinds of records ---- */

static assay_record *run_record(double seconds, double bytes)
{
    assay_record *record = empty_record();
    record->kind = "run";
    record->has_process = true;
    record->process.wall_seconds = assay_reading_of(seconds);
    record->process.user_seconds = assay_reading_of(seconds / 2);
    record->process.sys_seconds = assay_reading_of(seconds / 4);
    record->process.peak_rss_bytes = assay_reading_of(bytes);
    assay_record_operation step;
    assay_record_operation_init(&step);
    step.name = "step";
    step.count = 10;
    step.mean_seconds = assay_reading_of(seconds / 20);
    assert_int_equal(assay_record_add_operation(record, &step), ASSAY_OK);
    step.name = "forward";
    step.parent = 0;
    assert_int_equal(assay_record_add_operation(record, &step), ASSAY_OK);
    return record;
}

static const assay_record_comparison *comparison_of(const assay_record *record, const char *name,
                                                    const char *metric)
{
    for (size_t i = 0; i < record->comparison_count; i++)
        if (strcmp(record->comparisons[i].baseline, name) == 0 &&
            strcmp(record->comparisons[i].metric, metric) == 0)
            return &record->comparisons[i];
    fail_msg("no %s of %s", metric, name);
    return NULL;
}

enum { RUNS = 5 };

/* The runs of the candidate take 1.3 times as long and exactly twice the memory. */
static void test_several_runs_a_side(void **state)
{
    (void)state;
    static const double noise[RUNS] = {1.00, 1.02, 0.99, 1.01, 0.98};
    const assay_record *before[RUNS], *after[RUNS];
    for (int i = 0; i < RUNS; i++) {
        before[i] = run_record(2 * noise[i], 1e8);
        after[i] = run_record(2.6 * noise[(i + 2) % RUNS], 2e8);
    }
    const assay_compare_side sides[] = {{sizeof *sides, "before", before, RUNS},
                                        {sizeof *sides, "after", after, RUNS}};
    assay_record *result = NULL;
    assert_int_equal(assay_records_compare(sides, 2, NULL, NULL, &result), ASSAY_OK);
    static const char *const slower[][2] = {{"run", "wall_seconds"},
                                            {"step", "wall_seconds"},
                                            {"step/forward", "wall_seconds"},
                                            {"run", "cpu_seconds"},
                                            {"run", "peak_rss_bytes"}};
    for (size_t i = 0; i < sizeof slower / sizeof *slower; i++) {
        const assay_record_comparison *it = comparison_of(result, slower[i][0], slower[i][1]);
        assert_int_equal(it->verdict, ASSAY_VERDICT_SLOWER);
        assert_int_equal(it->baseline_samples, RUNS);
        check_near(it->ratio.value, i == 4 ? 2 : 1.3, 1e-9);
    }
    assert_string_equal(result->comparisons[0].metric, "wall_seconds"); /* the leading metric */
    assert_int_equal(result->comparison_count, 5);
    assay_record_free(result);

    /* The same runs against themselves: never different; memory is exactly the same. */
    const assay_compare_side same[] = {{sizeof *same, "before", before, RUNS},
                                       {sizeof *same, "before", before, RUNS}};
    assert_int_equal(assay_records_compare(same, 2, NULL, NULL, &result), ASSAY_OK);
    assert_int_equal(comparison_of(result, "run", "wall_seconds")->verdict,
                     ASSAY_VERDICT_INCONCLUSIVE);
    assert_int_equal(comparison_of(result, "run", "peak_rss_bytes")->verdict, ASSAY_VERDICT_SAME);
    assay_record_free(result);

    /* Copies of one run say nothing about how much runs differ, and no clock is to blame. */
    const assay_record *copies[] = {before[0], before[0], before[0]};
    const assay_compare_side copied[] = {{sizeof *copied, "before", before, RUNS},
                                         {sizeof *copied, "copies", copies, 3}};
    assert_int_equal(assay_records_compare(copied, 2, NULL, NULL, &result), ASSAY_OK);
    assert_string_equal(comparison_of(result, "run", "wall_seconds")->reason,
                        "all 3 runs of the candidate are equal: are they copies of one run?");
    assay_record_free(result);
    for (int i = 0; i < RUNS; i++) {
        assay_record_free((assay_record *)(uintptr_t)before[i]);
        assay_record_free((assay_record *)(uintptr_t)after[i]);
    }
}

/* One run against several is one observation more, however many samples it has, and may be judged
 * by the spread of the others if these are five. */
static void test_one_run_against_several(void **state)
{
    (void)state;
    static const double noise[RUNS] = {1.00, 1.02, 0.99, 1.01, 0.98};
    static const struct {
        double seconds;
        size_t runs;
        assay_verdict verdict;
    } cases[] = {{2.6, RUNS, ASSAY_VERDICT_SLOWER},
                 {1.4, RUNS, ASSAY_VERDICT_FASTER},
                 {2.08, RUNS, ASSAY_VERDICT_INCONCLUSIVE}, /* 2.5 of their standard deviations */
                 {2.6, RUNS - 1, ASSAY_VERDICT_INCONCLUSIVE}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const assay_record *before[RUNS], *after = run_record(cases[k].seconds, 2e8);
        for (int i = 0; i < RUNS; i++)
            before[i] = run_record(2 * noise[i], 1e8);
        const assay_compare_side sides[] = {{sizeof *sides, "before", before, cases[k].runs},
                                            {sizeof *sides, "after", &after, 1}};
        assay_record *result = NULL;
        assert_int_equal(assay_records_compare(sides, 2, NULL, NULL, &result), ASSAY_OK);
        const assay_record_comparison *it = comparison_of(result, "run", "wall_seconds");
        assert_int_equal(it->verdict, cases[k].verdict);
        assert_int_equal(it->candidate_samples, 1);
        if (cases[k].runs < RUNS)
            assert_string_equal(it->reason, "1 run of the candidate: at least 3 are needed");
        else
            assert_int_equal(comparison_of(result, "run", "peak_rss_bytes")->verdict,
                             ASSAY_VERDICT_SLOWER);
        assay_record_free(result);
        assay_record_free((assay_record *)(uintptr_t)after);
        for (int i = 0; i < RUNS; i++)
            assay_record_free((assay_record *)(uintptr_t)before[i]);
    }
}

/* One run on each side has no noise to be seen, however large the difference. */
static void test_single_runs_are_inconclusive(void **state)
{
    (void)state;
    assay_record *before = run_record(1, 1e8), *after = run_record(3, 1e8), *result = NULL;
    const assay_record *records[] = {before, after};
    assert_int_equal(compare_two(records, NULL, NULL, &result), ASSAY_OK);
    const assay_record_comparison *it = comparison_of(result, "run", "wall_seconds");
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_string_equal(it->reason, "1 run of the baseline: at least 3 are needed");
    const assay_record_difference *totals = &result->differences[result->difference_count - 1];
    assert_string_equal(totals->what, "operations, not compared");
    assert_string_equal(totals->baseline, "2 have totals only");
    assay_record_free(result);
    before->has_process = after->has_process = false;
    assay_error error = {0};
    assert_int_equal(compare_two(records, NULL, &error, &result), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "before.json: its operations have totals only"));
    assay_record_free(before);
    assay_record_free(after);
}

/* Two runs of a study differ by 5 % for no reason; 30 % has one. */
static void test_studies_have_a_wide_margin(void **state)
{
    (void)state;
    static const double factors[] = {1.05, 1.3};
    static const assay_verdict expected[] = {ASSAY_VERDICT_SAME, ASSAY_VERDICT_SLOWER};
    for (int i = 0; i < 2; i++) {
        assay_record *before = empty_record(), *after = empty_record(), *result = NULL;
        before->kind = after->kind = "study";
        add(before, "LSTM forecast", MANY, 1e-3, 0.02);
        add(after, "LSTM forecast", MANY, factors[i] * 1e-3, 0.02);
        assert_int_equal(assay_record_add_setting(before, "hidden_size", "64"), ASSAY_OK);
        assert_int_equal(assay_record_add_setting(after, "hidden_size", "80"), ASSAY_OK);
        const assay_record *records[] = {before, after};
        assert_int_equal(compare_two(records, NULL, NULL, &result), ASSAY_OK);
        assert_int_equal(result->comparisons[0].verdict, expected[i]);
        assert_string_equal(result->differences[0].what, "hidden_size");
        assert_string_equal(result->differences[0].candidate, "80");
        assay_record_free(result);
        assay_record_free(before);
        assay_record_free(after);
    }
}

/* ---- the yardstick ---- */

/* A subject whose machine is `machine` times as slow as it should be. */
static assay_record *slowed(double own, double machine)
{
    assay_record *record = empty_record();
    assay_record_subject *subject = add(record, "LSTM", MANY, own * machine * 1e-3, 0.02);
    double *beside = assay_record_allocate(record, MANY, sizeof *beside);
    assay_record_measure *measure = assay_record_allocate(record, 1, sizeof *measure);
    assert_non_null(beside);
    assert_non_null(measure);
    for (size_t i = 0; i < MANY; i++)
        beside[i] = machine * 2e-5 * (1 + 0.001 * (double)(i % 7));
    *measure = (assay_record_measure){
        .metric = "yardstick_seconds", .samples = beside, .sample_count = MANY};
    subject->measures = measure;
    subject->measure_count = 1;
    return record;
}

static void test_the_machine_is_told_from_the_program(void **state)
{
    (void)state;
    static const struct {
        double own, machine; /* of the candidate */
        assay_verdict verdict;
        const char *reason; /* its beginning */
    } cases[] = {
        {1.0, 1.0, ASSAY_VERDICT_SAME, NULL},
        {1.3, 1.0, ASSAY_VERDICT_SLOWER, NULL},
        {0.7, 1.0, ASSAY_VERDICT_FASTER, NULL},
        {1.3, 1.05, ASSAY_VERDICT_SLOWER, NULL},
        /* What the yardstick takes off is not known better than to a third of it. */
        {1.3, 1.6, ASSAY_VERDICT_INCONCLUSIVE, "the machine was 60 % slower for the candidate"},
        {2.5, 1.6, ASSAY_VERDICT_SLOWER, NULL},
        {1.0, 1.6, ASSAY_VERDICT_INCONCLUSIVE, "the machine was 60 % slower for the candidate"},
        {1.0, 0.5, ASSAY_VERDICT_INCONCLUSIVE, "the machine was 50 % faster for the candidate"},
        /* Faster by the yardstick, slower by the clock: no verdict. */
        {0.7, 1.6, ASSAY_VERDICT_INCONCLUSIVE, "the machine was 60 % slower for the candidate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_record *before = slowed(1, 1), *after = slowed(cases[i].own, cases[i].machine);
        assay_record *result = NULL;
        before->kind = after->kind = "study";
        const assay_record *records[] = {before, after};
        assert_int_equal(compare_two(records, NULL, NULL, &result), ASSAY_OK);
        assert_int_equal(result->comparison_count, 1); /* the yardstick itself is no metric */
        const assay_record_comparison *it = result->comparisons;
        assert_int_equal(it->verdict, cases[i].verdict);
        if (cases[i].reason != NULL)
            assert_memory_equal(it->reason, cases[i].reason, strlen(cases[i].reason));
        check_near(it->ratio.value, cases[i].own * cases[i].machine, 0.01); /* of the times */
        assay_record_free(result);
        assay_record_free(before);
        assay_record_free(after);
    }
}

static void test_differences_are_pointed_out(void **state)
{
    (void)state;
    assay_record *before = empty_record(), *after = empty_record(), *result = NULL;
    add(before, "sort", MANY, 1e-3, 0.02)->iterations = 100;
    add(after, "sort", MANY, 1e-3, 0.02)->iterations = 1000;
    before->subjects[0].source = "assay";
    after->subjects[0].source = "hyperfine";
    before->clock.source = "tsc";
    after->clock.source = "clock-monotonic";
    assert_int_equal(assay_record_add_machine(before, "hostname", "x", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(after, "hostname", "y", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(before, "cpu", "Z80", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(after, "cpu", "6502", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(before, "load_average", "1", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(after, "load_average", "2", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(before, "governor", NULL, ASSAY_UNSUPPORTED),
                     ASSAY_OK);
    assert_int_equal(assay_record_add_machine(after, "governor", "powersave", ASSAY_VALID),
                     ASSAY_OK);
    assert_int_equal(assay__record_add_build(before, "compiler", "gcc 12", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay__record_add_build(after, "compiler", "gcc 13", ASSAY_VALID), ASSAY_OK);
    const assay_record *records[] = {before, after};
    assert_int_equal(compare_two(records, NULL, NULL, &result), ASSAY_OK);
    static const char *const expected[][3] = {{"hostname", "x", "y"},
                                              {"cpu", "Z80", "6502"},
                                              {"compiler", "gcc 12", "gcc 13"},
                                              {"clock", "tsc", "clock-monotonic"},
                                              {"source of sort", "assay", "hyperfine"},
                                              {"iterations of sort", "100", "1000"}};
    assert_int_equal(result->difference_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(result->differences[i].what, expected[i][0]);
        assert_string_equal(result->differences[i].baseline, expected[i][1]);
        assert_string_equal(result->differences[i].candidate, expected[i][2]);
        assert_string_equal(result->differences[i].candidate_origin, "after.json");
    }
    assay_record_free(result);
    assay_record_free(before);
    assay_record_free(after);
}

/* Chosen anew in each run they differ a little, and not everybody counts them. */
static void test_iterations_that_are_pointed_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t baseline, candidate;
        size_t differences;
    } cases[] = {{1000, 1400, 0}, {1000, 1600, 1}, {1400, 1000, 0}, {1600, 1000, 1},
                 {0, 1000, 0},    {1000, 0, 0},    {1, 1000, 1},    {1000, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_record *before = empty_record(), *after = empty_record(), *result = NULL;
        add(before, "sort", MANY, 1e-3, 0.02)->iterations = cases[i].baseline;
        add(after, "sort", MANY, 1e-3, 0.02)->iterations = cases[i].candidate;
        const assay_record *records[] = {before, after};
        assert_int_equal(compare_two(records, NULL, NULL, &result), ASSAY_OK);
        assert_int_equal(result->difference_count, cases[i].differences);
        assay_record_free(result);
        assay_record_free(before);
        assay_record_free(after);
    }
}

/* Whatever a file says. */
static void test_differences_that_are_no_missing_benchmark(void **state)
{
    (void)state;
    static const assay_record_difference others[] = {
        {.what = "cpu", .baseline = "there", .candidate = "missing"},
        {.what = "benchmark sort", .baseline = "there", .candidate = "there"},
        {.what = "benchmark sort", .baseline = "missing", .candidate = "missing"},
        {.what = "benchmark sort", .baseline = NULL, .candidate = "missing"},
        {.what = "benchmark sort", .baseline = "there", .candidate = NULL},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(assay_difference_missing(&others[i]));
}

/* A comparison that was saved holds the same subjects against each other when it is judged again.
 */
static void test_a_saved_comparison_is_judged_again(void **state)
{
    (void)state;
    assay_record *before = empty_record(), *after = empty_record(), *result = NULL;
    for (size_t i = 0; i < 2; i++) {
        add(i ? after : before, "sort", MANY, 1e-3 * (1 + 0.1 * (double)i), 0.02);
        add(i ? after : before, "copy", MANY, 2e-3, 0.02);
    }
    const assay_record *records[] = {before, after};
    assert_int_equal(compare_two(records, NULL, NULL, &result), ASSAY_OK);
    compare(result, 0.2, false);
    assert_int_equal(result->comparison_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const assay_record_comparison *it = &result->comparisons[i];
        assert_string_equal(it->baseline, i ? "copy" : "sort");
        assert_string_equal(it->candidate, i ? "copy" : "sort");
        assert_string_equal(it->baseline_origin, "before.json");
        assert_string_equal(it->candidate_origin, "after.json");
        check_near(it->ratio.value, i ? 1 : 1.1, 1e-9);
    }
    result->subject_count = 2; /* both from one file: that is a record like any other */
    compare(result, 0.01, false);
    assert_int_equal(result->comparison_count, 1);
    result->subjects[0].origin = NULL; /* measured here, not read from a file */
    compare(result, 0.01, false);
    assert_int_equal(result->comparison_count, 1);
    assay_record_free(result);
    assay_record_free(before);
    assay_record_free(after);
}

static void test_records_without_a_common_benchmark(void **state)
{
    (void)state;
    assay_record *a = empty_record(), *b = empty_record(), *c = empty_record(), *result = NULL;
    add(a, "sort", MANY, 1e-3, 0.02);
    add(b, "copy", MANY, 1e-3, 0.02);
    const assay_record *two[] = {a, b}, *with_empty[] = {a, c};
    assay_error error = {0};
    assert_int_equal(compare_two(two, NULL, &error, &result), ASSAY_E_DATA);
    assert_null(result);
    assert_string_equal(error.message,
                        "no benchmark is in both before.json ('sort') and after.json ('copy')");
    add(c, "sort", MANY, 1e-3, 0.02); /* at a size is another benchmark, whichever comes first */
    assert_int_equal(assay_record_add_parameter(c, &c->subjects[0], "n", "1"), ASSAY_OK);
    const assay_record *sized[] = {a, c, a};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(compare_two(sized + i, NULL, &error, &result), ASSAY_E_DATA);
    add(b, "move", MANY, 1e-3, 0.02);
    result = a; /* is not left alone */
    assert_int_equal(compare_two(two, NULL, &error, &result), ASSAY_E_DATA);
    assert_null(result);
    assert_string_equal(error.message,
                        "no benchmark is in both before.json ('sort') and after.json ('copy', …)");
    c->subject_count = 0;
    assert_int_equal(compare_some(with_empty, 2, NULL, &error, &result), ASSAY_E_DATA);
    assert_string_equal(error.message,
                        "after.json: no benchmarks in it; `assay bench --json FILE` writes some");
    assert_int_equal(compare_two(sized + 1, NULL, &error, &result), ASSAY_E_DATA);
    assert_memory_equal(error.message, "before.json: no benchmarks in it", 32);
    assert_int_equal(compare_some(two, 1, NULL, &error, &result), ASSAY_E_ARGUMENT);
    assay_record_free(a);
    assay_record_free(b);
    assay_record_free(c);
}

static void test_three_records(void **state)
{
    (void)state;
    assay_record *records[3], *result = NULL;
    for (size_t i = 0; i < 3; i++) {
        records[i] = empty_record();
        add(records[i], "sort", MANY, 1e-3 * pow(1.1, (double)i), 0.02);
    }
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    options.all_pairs = true;
    assert_int_equal(compare_some((const assay_record *const *)records, 3, &options, NULL, &result),
                     ASSAY_OK);
    assert_int_equal(result->comparison_count, 3);
    assert_string_equal(result->comparisons[2].baseline_origin, "after.json");
    check_near(result->comparisons[1].ratio.value, 1.21, 1e-9);
    assay_record_free(result);
    for (size_t i = 0; i < 3; i++)
        assay_record_free(records[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_are_matched_by_name),
        cmocka_unit_test(test_several_runs_a_side),
        cmocka_unit_test(test_one_run_against_several),
        cmocka_unit_test(test_single_runs_are_inconclusive),
        cmocka_unit_test(test_studies_have_a_wide_margin),
        cmocka_unit_test(test_the_machine_is_told_from_the_program),
        cmocka_unit_test(test_differences_are_pointed_out),
        cmocka_unit_test(test_iterations_that_are_pointed_out),
        cmocka_unit_test(test_differences_that_are_no_missing_benchmark),
        cmocka_unit_test(test_a_saved_comparison_is_judged_again),
        cmocka_unit_test(test_records_without_a_common_benchmark),
        cmocka_unit_test(test_three_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
