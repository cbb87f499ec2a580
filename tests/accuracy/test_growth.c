/* The growth fit on series whose growth is known; bench/growth.c is the long form. The bars are
 * those of the full form minus three standard errors, so that only a real loss fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "bench/growth_series.h"

enum { SERIES = 60 };

static const struct {
    double smallest, largest;
} grids[] = {{10, 1000}, {100, 10000}, {16, 65536}};

static void named_classes(void **state)
{
    (void)state;
    for (int c = ASSAY_GROWTH_CONSTANT; c <= ASSAY_GROWTH_CUBIC; c++)
        for (int overhead = 0; overhead < 2; overhead++) {
            series_score sum = {0};
            for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
                series_kind kind = {.growth_class = (assay_growth_class)c,
                                    .smallest = grids[g].smallest,
                                    .largest = grids[g].largest,
                                    .noise = 0.05,
                                    .overhead = overhead};
                series_score score = series_run(&kind, SERIES, 1000 * g + (uint64_t)c);
                sum.drawn += score.drawn;
                sum.right += score.right;
                sum.powers += score.powers;
                sum.covered += score.covered;
            }
            print_message("%-8s %s: right %d of %d, power %d\n",
                          assay_growth_class_name((assay_growth_class)c),
                          overhead ? "with overhead" : "without", sum.right, sum.drawn, sum.powers);
            assert_int_equal(sum.drawn, 3 * SERIES);
            assert_true(sum.right >= 0.95 * sum.drawn - 3 * sqrt(0.05 * 0.95 * sum.drawn));
            assert_true(sum.powers <= 0.01 * sum.drawn + 3 * sqrt(0.01 * 0.99 * sum.drawn));
            if (c != ASSAY_GROWTH_LOG && c != ASSAY_GROWTH_LINEAR_LOG)
                assert_true(sum.covered >= 0.95 * sum.drawn - 3 * sqrt(0.05 * 0.95 * sum.drawn));
        }
}

static void powers_between(void **state)
{
    (void)state;
    static const double exponents[] = {0.5, 1.5, 2.5};
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++)
        for (int overhead = 0; overhead < 2; overhead++) {
            series_kind kind = {.growth_class = ASSAY_GROWTH_POWER,
                                .exponent = exponents[e],
                                .smallest = 10,
                                .largest = 1000,
                                .noise = 0.05,
                                .overhead = overhead};
            series_score score = series_run(&kind, SERIES, 7);
            assert_true(score.right >= 0.95 * SERIES - 3 * sqrt(0.05 * 0.95 * SERIES));
            assert_true(score.covered >= 0.95 * SERIES - 3 * sqrt(0.05 * 0.95 * SERIES));
        }
}

/* Over one decade a power may be too near a named class for that to be rejected, and is then not
 * called; but the class that is left is not to be sure of either. */
static void a_power_that_hides_is_said(void **state)
{
    (void)state;
    for (int overhead = 0; overhead < 2; overhead++) {
        series_kind kind = {.growth_class = ASSAY_GROWTH_POWER,
                            .exponent = 0.5,
                            .smallest = 1000,
                            .largest = 10000,
                            .noise = 0.05,
                            .overhead = overhead};
        series_score score = series_run(&kind, SERIES, 5);
        print_message("n^0.5 over a decade: right %d of %d, sure and wrong %d\n", score.right,
                      SERIES, score.conclusive_wrong);
        assert_true(score.conclusive_wrong <= 0.03 * SERIES);
    }
}

/* Hopeless data: half as much noise as signal. Guessing is fine, being sure of it is not. */
static void hopeless_is_said(void **state)
{
    (void)state;
    for (int c = ASSAY_GROWTH_LOG; c <= ASSAY_GROWTH_LINEAR_LOG; c++) {
        series_kind kind = {.growth_class = (assay_growth_class)c,
                            .smallest = 1e6,
                            .largest = 1e8,
                            .noise = 0.3,
                            .overhead = true};
        series_score score = series_run(&kind, SERIES, 11);
        print_message("%s, 30 %% noise: right %d of %d, sure and wrong %d\n",
                      assay_growth_class_name((assay_growth_class)c), score.right, SERIES,
                      score.conclusive_wrong);
        assert_true(score.right < 0.9 * SERIES);
        assert_true(score.conclusive_wrong <= 0.1 * SERIES);
    }
}

/* Without repeats the noise is not known, and a curve that fits nearly must not pass for the truth.
 */
static void outsiders_are_not_classes(void **state)
{
    (void)state;
    static const double noises[] = {0.005, 0.05};
    for (int outsider = OUTSIDER_NONE + 1; outsider < OUTSIDERS; outsider++)
        for (int i = 0; i < 2; i++) {
            series_kind kind = {.smallest = 100,
                                .largest = 1e4,
                                .noise = noises[i],
                                .once = true,
                                .outsider = (series_outsider)outsider};
            series_score score = series_run(&kind, SERIES, 3);
            if (score.conclusive > 0.05 * SERIES + 3 * sqrt(0.05 * 0.95 * SERIES))
                fail_msg("%s, %g %% noise: conclusive %d of %d", series_outsider_names[outsider],
                         100 * noises[i], score.conclusive, SERIES);
        }
}

/* A rule that never answers would pass the test above. */
static void classes_stay_conclusive_without_repeats(void **state)
{
    (void)state;
    for (int c = ASSAY_GROWTH_CONSTANT; c <= ASSAY_GROWTH_CUBIC; c++) {
        series_kind kind = {.growth_class = (assay_growth_class)c,
                            .smallest = 100,
                            .largest = 1e4,
                            .noise = 0.01,
                            .once = true};
        series_score score = series_run(&kind, SERIES, 13);
        print_message("%s, once: conclusive %d of %d, wrong %d\n",
                      assay_growth_class_name((assay_growth_class)c), score.conclusive, SERIES,
                      score.conclusive_wrong);
        assert_true(score.conclusive >= 0.7 * SERIES);
        assert_true(score.conclusive_wrong <= 0.05 * SERIES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_classes),
        cmocka_unit_test(powers_between),
        cmocka_unit_test(a_power_that_hides_is_said),
        cmocka_unit_test(hopeless_is_said),
        cmocka_unit_test(outsiders_are_not_classes),
        cmocka_unit_test(classes_stay_conclusive_without_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
