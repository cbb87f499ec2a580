/* Steps from one level to another: existing steps are found at their place, and no steps are found
 * where there are none. The rates are those of bench/changes.c, with fewer series and an allowance
 * for chance. */
#include "tests/unit/stats_fixture.h"

#include "base/random.h"

enum { COUNT = 200, SERIES = 200, MOST = 8 };

static double values[COUNT];
static size_t points[MOST], found;

static double random_walker; /* of correlated noise */

static void make(assay__random *random, double rho, size_t step, double size)
{
    for (size_t i = 0; i < COUNT; i++) {
        random_walker = rho * random_walker + sqrt(1 - rho * rho) * assay__random_normal(random);
        values[i] = (i >= step ? size : 0) + random_walker;
    }
}

static void find(size_t count)
{
    assert_int_equal(assay_stats_find_steps(values, count, points, MOST, &found), ASSAY_OK);
}

static void steps_are_found_in_their_place(void **state)
{
    assay__random random;
    size_t near = 0;
    (void)state;
    assay__random_init(&random, 1);
    for (size_t i = 0; i < SERIES; i++) {
        size_t step = 50 + assay__random_below(&random, 101);
        make(&random, 0, step, i % 2 == 0 ? 1 : -1);
        find(COUNT);
        for (size_t k = 0; k < found && k < MOST; k++)
            if (points[k] + 10 >= step && points[k] <= step + 10) {
                near++;
                break;
            }
    }
    assert_in_range(near, 172, SERIES); /* 91 % of them, less 2.5 standard deviations */
}

static void noise_has_few(void **state)
{
    static const double correlations[] = {0, 0.3, 0.6};
    static const size_t most[] = {9, 36, 56}; /* 1, 11 and 19 %, and 3 standard deviations */
    (void)state;
    for (size_t k = 0; k < COUNT_OF(correlations); k++) {
        assay__random random;
        size_t alarmed = 0;
        assay__random_init(&random, 2 + k);
        for (size_t i = 0; i < SERIES; i++) {
            make(&random, correlations[k], COUNT, 0);
            find(COUNT);
            alarmed += found > 0;
        }
        assert_in_range(alarmed, 0, most[k]);
    }
}

/* A machine with two speeds changes between them all the time; that is noise, and no level. */
static void modes_are_no_levels(void **state)
{
    assay__random random;
    size_t alarmed = 0;
    (void)state;
    assay__random_init(&random, 12);
    for (size_t i = 0; i < SERIES; i++) {
        make(&random, 0, COUNT, 0);
        for (size_t k = 0; k < COUNT; k++)
            values[k] = 0.2 * values[k] + (assay__random_below(&random, 5) == 0 ? 2.5 : 0);
        find(COUNT);
        alarmed += found > 0;
    }
    assert_in_range(alarmed, 0, 60); /* 21 %, and 3 standard deviations */
}

/* A slope is no reason to overlook a step, as it is to the search for a steady state. */
static void several_steps(void **state)
{
    assay__random random;
    (void)state;
    assay__random_init(&random, 9);
    make(&random, 0, 60, 8);
    for (size_t i = 140; i < COUNT; i++)
        values[i] += 8;
    find(COUNT);
    assert_int_equal(found, 2);
    assert_int_equal(points[0], 60);
    assert_int_equal(points[1], 140);
}

static void outliers_are_no_steps(void **state)
{
    assay__random random;
    (void)state;
    assay__random_init(&random, 10);
    make(&random, 0, COUNT, 0);
    values[50] += 1000;
    values[120] -= 1000;
    values[COUNT - 1] += 1000;
    find(COUNT);
    assert_int_equal(found, 0);
}

static void odd_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        values[i] = 3;
    find(COUNT);
    assert_int_equal(found, 0);
    for (size_t i = 100; i < COUNT; i++)
        values[i] = 4; /* without noise */
    find(COUNT);
    assert_int_equal(found, 1);
    assert_int_equal(points[0], 100);
    find(1);
    assert_int_equal(found, 0);
    find(0);
    assert_int_equal(found, 0);
    values[7] = NAN;
    assert_int_equal(assay_stats_find_steps(values, COUNT, points, MOST, &found), ASSAY_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_found_in_their_place),
        cmocka_unit_test(noise_has_few),
        cmocka_unit_test(modes_are_no_levels),
        cmocka_unit_test(several_steps),
        cmocka_unit_test(outliers_are_no_steps),
        cmocka_unit_test(odd_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
