/* Steady states and change points of series that the test makes. */
#include "tests/unit/stats_fixture.h"

#include "base/random.h"
#include "stats/segments.h"

enum { COUNT = 200 };

static double series[COUNT];

/* Noise of 1 % around 1 before `boundary` times `before`, after it around 1. */
static void make(size_t boundary, double before)
{
    assay__random random;
    assay__random_init(&random, 11);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = (i < boundary ? before : 1) + 0.01 * assay__random_normal(&random);
}

static assay_steady find(size_t count)
{
    assay_steady steady;
    assert_int_equal(assay_stats_find_steady(series, count, &steady), ASSAY_OK);
    return steady;
}

static void the_end_of_a_warm_up(void **state)
{
    (void)state;
    make(40, 1.5);
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
    assert_int_equal(find(COUNT).from, 40);
    assert_int_equal(find(COUNT).segments, 2);
    assert_close(find(COUNT).noise, 0.01, 0.2);
}

static void steady_from_the_start(void **state)
{
    (void)state;
    make(0, 1);
    assert_int_equal(find(COUNT).from, 0);
    series[0] = 3; /* a cold first run */
    assert_int_equal(find(COUNT).from, 1);
    series[0] = 1;
    series[100] = 3; /* an outlier is no step */
    assert_int_equal(find(COUNT).from, 0);
}

/* Of as few as can be judged, too: nine of these ten are steady. */
static void a_slow_start_of_a_short_series(void **state)
{
    (void)state;
    make(0, 1);
    for (size_t slow = 1; slow <= 3; slow++) {
        series[slow - 1] = 3;
        assert_int_equal(find(10).state, ASSAY_STEADY);
        assert_int_equal(find(10).from, slow);
    }
}

/* Times in ticks, one in seven of them the next one: no pattern. */
static void ticks_are_no_steps(void **state)
{
    (void)state;
    size_t steady = 0;
    assay__random random;
    assay__random_init(&random, 5);
    for (int trial = 0; trial < 100; trial++) {
        for (size_t i = 0; i < COUNT; i++)
            series[i] = 10 + (assay__random_uniform(&random) < 1.0 / 7);
        steady += find(COUNT).from == 0;
    }
    assert_in_range(steady, 95, 100);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = i == 120 ? 90 : 10;
    assert_int_equal(find(COUNT).from, 0); /* a spike is none either */
    for (size_t i = 0; i < COUNT; i++)
        series[i] = i < 12 ? 11 : 10;
    assert_int_equal(find(COUNT).from, 12);
}

/* Most neighbours change by the same, and yet nothing drifts. */
static void turns_and_teeth_are_steady(void **state)
{
    (void)state;
    for (size_t period = 2; period <= 5; period++)
        for (size_t count = 40; count <= 42; count++) {
            make(0, 1);
            for (size_t i = 0; i < count; i++)
                series[i] += 0.3 * (double)(i % period);
            assert_int_equal(find(count).state, ASSAY_STEADY);
            assert_in_range(find(count).from, 0, 5);
        }
}

/* Levels that come and go: the last is as long as any. */
static void levels_that_come_back_are_not_steady(void **state)
{
    (void)state;
    make(0, 1);
    for (size_t i = 0; i < COUNT; i++)
        series[i] += i / 25 % 2 == 0 ? 0.1 : 0;
    assert_int_equal(find(COUNT).state, ASSAY_STEADY_STEPS);
    make(0, 1); /* one disturbance long ago is forgotten */
    for (size_t i = 10; i < 20; i++)
        series[i] += 0.1;
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
    assert_int_equal(find(COUNT).from, 20);
    make(60, 1.2); /* a warm-up in stages comes nearer and nearer */
    for (size_t i = 0; i < 20; i++)
        series[i] += 0.2;
    for (size_t i = 60; i < 110; i++)
        series[i] += 0.1;
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
    assert_int_equal(find(COUNT).from, 110);
}

/* The same levels, but each value has its own. */
static void modes_are_steady(void **state)
{
    assay__random random;
    size_t steady = 0;
    (void)state;
    assay__random_init(&random, 3);
    for (int trial = 0; trial < 100; trial++) {
        make(0, 1);
        for (size_t i = 0; i < COUNT; i++)
            series[i] += assay__random_uniform(&random) < 0.5 ? 0.1 : 0;
        steady += find(COUNT).state == ASSAY_STEADY;
    }
    assert_in_range(steady, 90, 100);
}

static void a_walk_is_not_steady(void **state)
{
    assay__random random;
    size_t steady = 0;
    (void)state;
    assay__random_init(&random, 4);
    for (int trial = 0; trial < 100; trial++) {
        for (size_t i = 0; i < COUNT; i++)
            series[i] = i == 0 ? 1 : series[i - 1] + 0.001 * assay__random_normal(&random);
        steady += find(COUNT).state == ASSAY_STEADY;
    }
    assert_in_range(steady, 0, 9);
}

static void a_step_near_the_end_is_not_steady(void **state)
{
    (void)state;
    make(190, 1.5);
    assert_int_equal(find(COUNT).state, ASSAY_STEADY_STEPS);
    assert_int_equal(find(COUNT).from, COUNT);
    make(182, 1.5);
    assert_int_equal(find(COUNT).state, ASSAY_STEADY_STEPS);
    make(180, 1.5); /* a tenth of the series is enough */
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
    assert_int_equal(find(COUNT).from, 180);
}

static void a_drift_is_not_steady(void **state)
{
    (void)state;
    make(0, 1);
    for (size_t i = 0; i < COUNT; i++)
        series[i] += 0.1 * (double)i / COUNT;
    assert_int_equal(find(COUNT).state, ASSAY_STEADY_DRIFTS);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = 1 + (series[i] - 1) / 16; /* by 0.6 % */
    assert_int_equal(find(COUNT).state, ASSAY_STEADY_DRIFTS);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = 1 + (series[i] - 1) * 2 / 3; /* as clearly sloped, but of no consequence */
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
}

/* Half as slow again at first, which fades with τ = 10: it passes the noise after 39 values. */
static void a_warm_up_that_fades(void **state)
{
    (void)state;
    make(0, 1);
    for (size_t i = 0; i < COUNT; i++)
        series[i] += 0.5 * exp(-(double)i / 10);
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
    assert_in_range(find(COUNT).from, 33, 46);
    make(0, 1);
    for (size_t i = 0; i < COUNT; i++)
        series[i] +=
            0.04 * exp(-(double)i / 8); /* too little for a cut; passes the noise after 11 */
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
    assert_in_range(find(COUNT).from, 8, 15);
}

/* An even fall for 60 values, which meets the level or is cut off above it. */
static void a_warm_up_that_falls_evenly(void **state)
{
    (void)state;
    for (int way = -1; way <= 1; way += 2) {
        make(0, 1);
        for (size_t i = 0; i < 60; i++)
            series[i] += way * 0.5 * (double)(60 - i) / 60;
        assert_int_equal(find(COUNT).state, ASSAY_STEADY);
        assert_in_range(find(COUNT).from, 57, 61);
        assert_int_equal(find(COUNT).segments, 2);
        for (size_t i = 0; i < 60; i++)
            series[i] += way * 0.5;
        assert_int_equal(find(COUNT).from, 60);
        for (size_t i = 0; i < 60; i++)
            series[i] -= way * 0.75; /* half of it is beyond the level */
        assert_int_equal(find(COUNT).from, 60);
    }
}

static void change_points_are_listed(void **state)
{
    size_t points[4] = {0, 0, 7}, count;
    (void)state;
    make(150, 1.2);
    for (size_t i = 0; i < 60; i++)
        series[i] += 0.3;
    assert_int_equal(assay__stats_change_points(series, COUNT, points, 4, &count), ASSAY_OK);
    assert_int_equal(count, 2);
    assert_int_equal(points[0], 60);
    assert_int_equal(points[1], 150);
    assert_int_equal(points[2], 7);
    points[0] = points[1] = 0;
    assert_int_equal(assay__stats_change_points(series, COUNT, points, 2, &count), ASSAY_OK);
    assert_int_equal(points[0], 60);
    assert_int_equal(points[1], 150);
    points[0] = 0;
    points[1] = 7;
    assert_int_equal(assay__stats_change_points(series, COUNT, points, 1, &count), ASSAY_OK);
    assert_int_equal(count, 2);
    assert_int_equal(points[0], 60);
    assert_int_equal(points[1], 7); /* capacity respected */
}

static void a_coarse_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        series[i] = i < 30 ? 5 : i % 10 == 5 ? 4 : 3; /* most neighbours are equal */
    assert_int_equal(find(COUNT).state, ASSAY_STEADY);
    assert_int_equal(find(COUNT).from, 30);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = 3;
    assert_int_equal(find(COUNT).from, 0);
}

static void long_series_are_grouped(void **state)
{
    enum { LONG = 10000 };
    static double values[LONG];
    assay__random random;
    (void)state;
    assay__random_init(&random, 12);
    for (size_t i = 0; i < LONG; i++)
        values[i] = (i < 3000 ? 1.1 : 1) + 0.01 * assay__random_normal(&random);
    assay_steady steady;
    assert_int_equal(assay_stats_find_steady(values, LONG, &steady), ASSAY_OK);
    assert_in_range(steady.from, 2995, 3005);
    /* means of five have 0.45 % of noise, which this passes after 300 ln(4 / 0.45) = 657 */
    for (size_t i = 0; i < LONG; i++)
        values[i] = 1 + 0.04 * exp(-(double)i / 300) + 0.01 * assay__random_normal(&random);
    assert_int_equal(assay_stats_find_steady(values, LONG, &steady), ASSAY_OK);
    assert_in_range(steady.from, 450, 900);
}

static void broken_input(void **state)
{
    assay_steady steady;
    size_t points;
    (void)state;
    make(0, 1);
    assert_int_equal(find(9).state, ASSAY_STEADY_UNKNOWN);
    assert_int_equal(find(9).from, 9);
    assert_int_equal(find(0).state, ASSAY_STEADY_UNKNOWN);
    assert_int_equal(find(1).from, 1);
    assert_int_equal(find(10).state, ASSAY_STEADY);
    series[3] = NAN;
    assert_int_equal(assay_stats_find_steady(series, COUNT, &steady), ASSAY_E_ARGUMENT);
    assert_int_equal(assay__stats_change_points(series, COUNT, NULL, 0, &points), ASSAY_E_ARGUMENT);
    assert_int_equal(assay__stats_change_points(NULL, 0, NULL, 0, &points), ASSAY_OK);
    assert_int_equal(points, 0);
    assert_int_equal(assay__stats_change_points(series, 3, NULL, 0, &points), ASSAY_OK);
    assert_int_equal(points, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_warm_up),
        cmocka_unit_test(steady_from_the_start),
        cmocka_unit_test(a_slow_start_of_a_short_series),
        cmocka_unit_test(ticks_are_no_steps),
        cmocka_unit_test(turns_and_teeth_are_steady),
        cmocka_unit_test(levels_that_come_back_are_not_steady),
        cmocka_unit_test(modes_are_steady),
        cmocka_unit_test(a_walk_is_not_steady),
        cmocka_unit_test(a_step_near_the_end_is_not_steady),
        cmocka_unit_test(a_drift_is_not_steady),
        cmocka_unit_test(a_warm_up_that_fades),
        cmocka_unit_test(a_warm_up_that_falls_evenly),
        cmocka_unit_test(change_points_are_listed),
        cmocka_unit_test(a_coarse_clock),
        cmocka_unit_test(long_series_are_grouped),
        cmocka_unit_test(broken_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
