/* The end of a series, compared with generalised least squares by full covariance matrices in
 * NumPy, with the grid, the prices and the correction of ρ that tail.c names. */
#include "tests/unit/stats_fixture.h"

#include "stats/tail.h"

enum { COUNT = 50 };

/* 10, a slope or a decay, and noise with memory. */
typedef struct recipe {
    uint32_t seed;
    double slope, height, tau, memory;
} recipe;

static void cook(const recipe *what, double *series)
{
    uint32_t random = what->seed;
    double noise = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        random = (random * 1103515245U + 12345U) % (1U << 31);
        noise = what->memory * noise + (random >> 8) % 65536 / 65536.0 - 0.5;
        series[i] = 10 + what->slope * i + what->height * exp(-(double)i / what->tau) + noise;
    }
}

/* In units of 1, and of seconds where that is a microsecond. */
static void check(recipe what, double before, size_t settled, double change)
{
    double series[COUNT];
    cook(&what, series);
    assay__tail tail = assay__tail_judge(series, COUNT, before);
    assert_int_equal(tail.settled, settled);
    assert_close(tail.change, change, 1e-9);
    for (size_t i = 0; i < COUNT; i++)
        series[i] *= 1e-6;
    tail = assay__tail_judge(series, COUNT, 1e-6 * before);
    assert_int_equal(tail.settled, settled);
    assert_close(tail.change, 1e-6 * change, 1e-9);
}

static void level_with_memory_is_level(void **state)
{
    (void)state;
    check((recipe){152, -0.004, 0, 1, 0}, NAN, 0, 0); /* a slope of 95 % of what counts */
}

/* ρ is 0.46, 0.72 beside a slope, and at its most of 0.9, where the slope is just clear. */
static void drifts_go_on(void **state)
{
    (void)state;
    check((recipe){749, 0.027, 0, 1, 0.6}, NAN, COUNT, 0.7916485150696972);
    check((recipe){1, 0.15, 0, 1, 0.7}, NAN, COUNT, 6.633457702460227);
    check((recipe){871, -0.052, 0, 1, 0.97}, NAN, COUNT, -2.384647639303626);
}

static void decays_settle(void **state)
{
    (void)state;
    check((recipe){421, 0, -2.3, 7, 0.8}, NAN, 17, 2.895183407330678);
}

/* What goes on where the stretch before came from needs less to be called a decay: the first is
 * better than a slope by 7.8 variances, the second better than a level by 14.7, the third better
 * than a slope by 2.1. */
static void what_is_continued_fades_sooner(void **state)
{
    (void)state;
    const recipe rises = {749, 0.027, 0, 1, 0.6}, falls = {221, 0, 2.04, 10, 0.8};
    check(rises, 0, 8, 1.2165963770766854);
    check(rises, 20, COUNT, 0.7916485150696972);
    check(falls, 20, 7, -1.1890131302665041);
    check(falls, 0, 0, 0);
    check(falls, NAN, 0, 0);
    const recipe fades = {912, 0, 1.93, 9, 0.8};
    check(fades, 20, 14, -1.627411847804828);
    check(fades, NAN, COUNT, -1.451521834367118);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_with_memory_is_level),
        cmocka_unit_test(drifts_go_on),
        cmocka_unit_test(decays_settle),
        cmocka_unit_test(what_is_continued_fades_sooner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
