/* The ranking of several subjects, from comparisons that the test makes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/record.h"
#include "record/build.h"
#include "report/export.h"
#include "tests/golden.h"

static const char *const memory = "peak_rss_bytes";
static const char *const processor = "cpu_seconds";

static int make_record(void **state)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    *state = record;
    return 0;
}

static int free_record(void **state)
{
    assay_record_free(*state);
    return 0;
}

/* The interval that decided reaches `width` to either side of the ratio; NAN: nothing is known. */
static void add(assay_record *record, const char *baseline, const char *candidate,
                const char *metric, double ratio, double width, assay_verdict verdict)
{
    assay_record_comparison made;
    assay__record_comparison_init(&made);
    made.baseline = baseline;
    made.candidate = candidate;
    made.metric = metric;
    made.beside = metric == memory;
    made.margin = 0.01;
    made.verdict = verdict;
    if (!isnan(ratio)) {
        made.ratio = assay_reading_of(ratio);
        made.decision_low = assay_reading_of(ratio - width);
        made.decision_high = assay_reading_of(ratio + width);
    }
    assert_int_equal(assay__record_add_comparison(record, &made), ASSAY_OK);
}

static void check(const assay_record *record, const char *expected)
{
    golden_text text;
    FILE *stream = golden_open(&text);
    assert_int_equal(assay__report_ranking(record, stream, NULL), ASSAY_OK);
    golden_check_text(&text, expected);
}

static void two_need_no_ranking(void **state)
{
    add(*state, "off", "wal", NULL, 0.5, 0.1, ASSAY_VERDICT_FASTER);
    add(*state, "off", "wal", memory, 0.5, 0.1, ASSAY_VERDICT_FASTER);
    check(*state, "");
}

static void each_is_compared_with_the_next(void **state)
{
    add(*state, "off", "wal", NULL, 1 / 1.3, 0.02, ASSAY_VERDICT_FASTER);
    add(*state, "off", "full", NULL, 20, 2, ASSAY_VERDICT_SLOWER);
    add(*state, "off", "huge", NULL, 4000, 20, ASSAY_VERDICT_SLOWER);
    add(*state, "off", "wal", memory, 10, 0.1, ASSAY_VERDICT_SLOWER);
    add(*state, "off", "full", memory, 1.05, 0.01, ASSAY_VERDICT_SLOWER); /* hardly worth a word */
    add(*state, "off", "huge", memory, 2, 1.1, ASSAY_VERDICT_SLOWER);     /* overlaps with `full` */
    check(*state, "\nranking by wall time, the least first:\n"
                  "  1. wal                    1.30 × as fast as the next, 10.0 × its peak memory\n"
                  "  2. off                    20.0 × as fast as the next\n"
                  "  3. full                   200 × as fast as the next\n"
                  "  4. huge\n");
}

/* `b` lies between two that are told apart, and is told from neither. */
static void what_is_not_told_apart_has_no_rank_of_its_own(void **state)
{
    add(*state, "a", "b", NULL, 1.03, 0.025, ASSAY_VERDICT_INCONCLUSIVE);
    add(*state, "a", "c", NULL, 1.06, 0.02, ASSAY_VERDICT_SLOWER);
    add(*state, "a", "d", NULL, 1.08, 0.02, ASSAY_VERDICT_SLOWER);
    add(*state, "a", "e", NULL, 2, 0.1, ASSAY_VERDICT_SLOWER);
    check(*state, "\nranking by wall time, the least first:\n"
                  "  1. a                      not told apart from the next\n"
                  "  1. b                      not told apart from the next\n"
                  "  2. c                      not told apart from the next\n"
                  "  2. d                      1.85 × as fast as the next\n"
                  "  5. e\n");
}

/* 1.1 and 1.12 do not overlap, but the margin lies between. */
static void the_margin_lies_between(void **state)
{
    add(*state, "a", "b", NULL, 1.1, 0.001, ASSAY_VERDICT_SLOWER);
    add(*state, "a", "c", NULL, 1.112, 0.001, ASSAY_VERDICT_SLOWER);
    add(*state, "a", "d", NULL, 1.0, 0.001, ASSAY_VERDICT_SAME);
    check(*state, "\nranking by wall time, the least first:\n"
                  "  1. a                      the same as the next\n"
                  "  1. d                      1.10 × as fast as the next\n"
                  "  3. b                      not told apart from the next\n"
                  "  3. c\n");
}

/* A comparison that something forbids is no evidence, however far away; neither are two that
 * say nothing. */
static void doubt_gives_no_rank(void **state)
{
    add(*state, "a", "b", NULL, 3, 0.1, ASSAY_VERDICT_INCONCLUSIVE);
    add(*state, "a", "c", NULL, 5, 0.1, ASSAY_VERDICT_SLOWER);
    add(*state, "a", "d", NULL, 0.95, 0.06, ASSAY_VERDICT_INCONCLUSIVE);
    add(*state, "a", "e", NULL, 1.1, 0.2, ASSAY_VERDICT_INCONCLUSIVE);
    add(*state, "a", "f", NULL, NAN, 0, ASSAY_VERDICT_INCONCLUSIVE);
    check(*state, "\nranking by wall time, the least first:\n"
                  "  1. d                      not told apart from the next\n"
                  "  1. a                      not told apart from the next\n"
                  "  1. e                      not told apart from the next\n"
                  "  1. b                      not told apart from the next\n"
                  "  4. c\n"
                  "  –  f\n");
}

static void the_metric_is_one_for_all(void **state)
{
    add(*state, "a", "b", processor, 2, 0.1, ASSAY_VERDICT_SLOWER);
    add(*state, "a", "c", processor, 3, 0.1, ASSAY_VERDICT_SLOWER);
    check(*state, "\nranking by processor time, the least first:\n"
                  "  1. a                      2.00 × as fast as the next\n"
                  "  2. b                      1.50 × as fast as the next\n"
                  "  3. c\n");
}

/* Where processor time leads for one only, wall time is what all have. */
static void where_the_metrics_differ_it_is_wall_time(void **state)
{
    assay_record *record = *state;
    add(record, "a", "b", processor, 2, 0.1, ASSAY_VERDICT_SLOWER);
    add(record, "a", "c", "wall_seconds", 3, 0.1, ASSAY_VERDICT_SLOWER);
    add(record, "a", "b", "wall_seconds", 2, 1.1, ASSAY_VERDICT_INCONCLUSIVE);
    record->comparisons[2].beside = true;
    check(record, "\nranking by wall time, the least first:\n"
                  "  1. a                      not told apart from the next\n"
                  "  1. b                      not told apart from the next\n"
                  "  2. c\n");
}

static void less_memory_comes_first(void **state)
{
    assay_record *record = *state;
    add(record, "a", "b", memory, 0.1, 0.01, ASSAY_VERDICT_FASTER);
    add(record, "a", "c", memory, 2, 0.1, ASSAY_VERDICT_SLOWER);
    for (size_t i = 0; i < record->comparison_count; i++)
        record->comparisons[i].beside = false;
    check(record, "\nranking by peak memory, the least first:\n"
                  "  1. b                      0.10 × as much as the next\n"
                  "  2. a                      0.50 × as much as the next\n"
                  "  3. c\n");
}

/* A sweep of three commands has a ranking for each size; all pairs of three have one. */
static void groups_have_their_own(void **state)
{
    add(*state, "a 1", "b 1", NULL, 2, 0.1, ASSAY_VERDICT_SLOWER);
    add(*state, "a 1", "c 1", NULL, 3, 0.1, ASSAY_VERDICT_SLOWER);
    add(*state, "a 2", "b 2", NULL, 0.5, 0.1, ASSAY_VERDICT_FASTER);
    add(*state, "a 2", "c 2", NULL, 3, 0.1, ASSAY_VERDICT_SLOWER);
    add(*state, "b 2", "c 2", NULL, 6, 0.1, ASSAY_VERDICT_SLOWER);
    check(*state, "\nranking by wall time, the least first:\n"
                  "  1. a 1                    2.00 × as fast as the next\n"
                  "  2. b 1                    1.50 × as fast as the next\n"
                  "  3. c 1\n"
                  "\nranking by wall time, the least first:\n"
                  "  1. b 2                    2.00 × as fast as the next\n"
                  "  2. a 2                    3.00 × as fast as the next\n"
                  "  3. c 2\n");
}

#define WITH_RECORD(test) cmocka_unit_test_setup_teardown(test, make_record, free_record)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RECORD(two_need_no_ranking),
        WITH_RECORD(each_is_compared_with_the_next),
        WITH_RECORD(what_is_not_told_apart_has_no_rank_of_its_own),
        WITH_RECORD(the_margin_lies_between),
        WITH_RECORD(doubt_gives_no_rank),
        WITH_RECORD(the_metric_is_one_for_all),
        WITH_RECORD(where_the_metrics_differ_it_is_wall_time),
        WITH_RECORD(less_memory_comes_first),
        WITH_RECORD(groups_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
