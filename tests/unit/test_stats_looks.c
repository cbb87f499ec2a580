/* Looks at growing data, compared with published boundaries and with simulations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/looks.h"

static double nominal(double z)
{
    return erfc(z / sqrt(2));
}

/* Five even looks, two-sided 5 %: Jennison and Turnbull (2000), "Group sequential methods with
 * applications to clinical trials"; the values are those of gsDesign 3.6 as well. */
static void test_published_boundaries(void **state)
{
    (void)state;
    static const double pocock[] = {2.438, 2.427, 2.410, 2.397, 2.386};
    static const double obrien_fleming[] = {4.877, 3.357, 2.680, 2.290, 2.031};
    assay__look looks[5];
    for (size_t k = 0; k < 5; k++) {
        double t = (double)(k + 1) / 5;
        looks[k] = (assay__look){t, log(1 + (exp(1) - 1) * t)};
        assert_true(fabs(assay__looks_risk(looks, k + 1, 0.05) / nominal(pocock[k]) - 1) < 0.004);
    }
    for (size_t k = 0; k < 5; k++) {
        double t = (double)(k + 1) / 5;
        looks[k] = (assay__look){t, 2 * erfc(2.2414 / sqrt(t) / sqrt(2)) / 0.05};
        double own = assay__looks_risk(looks, k + 1, 0.05);
        assert_true(fabs(own / nominal(obrien_fleming[k]) - 1) < 0.02);
    }
}

static void test_one_look_has_all_of_the_risk(void **state)
{
    (void)state;
    const assay__look look = {17, 1};
    assert_true(fabs(assay__looks_risk(&look, 1, 0.01) - 0.01) < 1e-8);
}

/* Thirty looks, each a quarter later: a walk without drift crosses with the risk that was given. */
static void test_the_risk_is_kept(void **state)
{
    (void)state;
    enum { LOOKS = 30, WALKS = 20000 };
    const double risk = 0.05;
    double seen[LOOKS], boundary[LOOKS];
    assay__looks looks = {0};
    for (int k = 0; k < LOOKS; k++) {
        seen[k] = 6 * pow(1.25, k);
        double own =
            assay__looks_next(&looks, (assay__look){seen[k], (double)(k + 1) / LOOKS}, risk);
        double low = 0, high = 10;
        for (int i = 0; i < 60; i++)
            *(nominal((low + high) / 2) > own ? &low : &high) = (low + high) / 2;
        boundary[k] = low;
    }
    assay__random random;
    assay__random_init(&random, 1);
    int crossed = 0;
    for (int i = 0; i < WALKS; i++) {
        double at = 0, before = 0;
        for (int k = 0; k < LOOKS; k++) {
            at += sqrt(seen[k] - before) * assay__random_normal(&random);
            before = seen[k];
            if (fabs(at) > boundary[k] * sqrt(before)) {
                crossed++;
                break;
            }
        }
    }
    assert_in_range(crossed, (int)(WALKS * 0.0455), (int)(WALKS * 0.0545));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_boundaries),
        cmocka_unit_test(test_one_look_has_all_of_the_risk),
        cmocka_unit_test(test_the_risk_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
