/* Slow modes that are clearly separated, and series whose mean cannot be trusted. */
#include "tests/unit/stats_fixture.h"

#include "base/random.h"
#include "stats/doubt.h"

#include <string.h>

enum { COUNT = 200 };

static double series[COUNT];

static void make(double noise)
{
    assay__random random;
    assay__random_init(&random, 21);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = 1 + noise * assay__random_normal(&random);
}

static assay_summary summarize(size_t count)
{
    assay_summary summary;
    assert_int_equal(assay_stats_summarize(series, count, &summary), ASSAY_OK);
    return summary;
}

static void a_slow_mode_has_a_share_and_a_size(void **state)
{
    (void)state;
    make(0.02);
    for (size_t i = 7; i < COUNT; i += 50)
        series[i] *= 2;
    assert_int_equal(summarize(COUNT).slow_count, 4);
    assert_close(summarize(COUNT).slow_ratio.value, 2, 0.05);
    make(0.02);
    for (size_t i = 0; i < COUNT; i += 2)
        series[i] *= 1.2; /* half of them is a mode, too */
    assert_int_equal(summarize(COUNT).slow_count, COUNT / 2);
    assert_close(summarize(COUNT).slow_ratio.value, 1.2, 0.02);
}

static void what_is_no_slow_mode(void **state)
{
    (void)state;
    make(0.02);
    assert_int_equal(summarize(COUNT).slow_count, 0);
    assert_int_equal(summarize(COUNT).slow_ratio.validity, ASSAY_NOT_ENOUGH_DATA);
    series[9] = 3; /* one alone */
    assert_int_equal(summarize(COUNT).slow_count, 0);
    series[19] = 1.5; /* two that do not resemble each other */
    assert_int_equal(summarize(COUNT).slow_count, 0);
    make(0.002);
    for (size_t i = 7; i < COUNT; i += 50)
        series[i] *= 1.03; /* of no consequence */
    assert_int_equal(summarize(COUNT).slow_count, 0);
    make(0.02);
    series[3] = series[4] = 2;
    assert_int_equal(summarize(19).slow_count, 0); /* too few */
    assert_int_equal(summarize(20).slow_count, 2);
    for (size_t i = 0; i < COUNT; i++)
        series[i] -= 3; /* a ratio to what is below 0 says nothing */
    assert_int_equal(summarize(COUNT).slow_count, 0);
}

/* Exponential and log-normal values have tails, which rarely look like a cluster. */
static void tails_are_no_modes(void **state)
{
    assay__random random;
    size_t modes = 0;
    (void)state;
    assay__random_init(&random, 22);
    for (int trial = 0; trial < 200; trial++) {
        for (size_t i = 0; i < COUNT; i++)
            series[i] = exp(0.5 * assay__random_normal(&random));
        modes += summarize(COUNT).slow_count > 0;
    }
    assert_in_range(modes, 0, 10);
}

static const char *doubt(size_t count)
{
    const char *found = "untouched";
    assert_int_equal(assay__stats_mean_doubt(series, count, &found), ASSAY_OK);
    return found;
}

static void a_mean_needs_a_level(void **state)
{
    (void)state;
    make(0.02);
    assert_null(doubt(COUNT));
    for (size_t i = 0; i < COUNT; i++)
        series[i] += 0.2 * (double)i / COUNT;
    assert_non_null(strstr(doubt(COUNT), "wander"));
    make(0.02);
    for (size_t i = 0; i < COUNT; i++)
        series[i] += i / 25 % 2 == 0 ? 0.2 : 0;
    assert_non_null(strstr(doubt(COUNT), "comes and goes"));
    make(0.02);
    for (size_t i = 0; i < 130; i++)
        series[i] += 0.2; /* a level that has lasted for a third of the series */
    assert_non_null(strstr(doubt(COUNT), "comes and goes"));
    assert_null(doubt(19));
    series[3] = NAN;
    const char *found;
    assert_int_equal(assay__stats_mean_doubt(series, COUNT, &found), ASSAY_E_ARGUMENT);
}

/* Long series are looked at in groups; the last, which may be incomplete, is left out. */
static void long_series_are_grouped(void **state)
{
    enum { LONG = 1000 };
    static double values[LONG];
    assay__random random;
    const char *found;
    (void)state;
    assay__random_init(&random, 23);
    for (size_t i = 0; i < LONG; i++)
        values[i] = 1 + 0.02 * assay__random_normal(&random);
    assert_int_equal(assay__stats_mean_doubt(values, LONG, &found), ASSAY_OK);
    assert_null(found);
    for (size_t i = 0; i < LONG; i++)
        values[i] += 0.1 * (double)i / LONG;
    assert_int_equal(assay__stats_mean_doubt(values, LONG, &found), ASSAY_OK);
    assert_non_null(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_mode_has_a_share_and_a_size),
        cmocka_unit_test(what_is_no_slow_mode),
        cmocka_unit_test(tails_are_no_modes),
        cmocka_unit_test(a_mean_needs_a_level),
        cmocka_unit_test(long_series_are_grouped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
