/* Distribution functions compared with SciPy 1.10.1 (scipy.stats norm, t, f, chi2: ppf and cdf).
 * The exception is t(29, 0.6), where SciPy's ppf is wrong in the tenth digit; that value was
 * integrated numerically. */
#include "tests/unit/stats_fixture.h"

#include "stats/distribution.h"

static void normal_quantiles(void **state)
{
    (void)state;
    assert_close(assay__stats_normal_quantile(1e-300), -37.0470962993612, 1e-13);
    assert_close(assay__stats_normal_quantile(1e-10), -6.361340902404056, 1e-13);
    assert_close(assay__stats_normal_quantile(0.001), -3.090232306167813, 1e-13);
    assert_close(assay__stats_normal_quantile(0.3), -0.5244005127080409, 1e-13);
    assert_close(assay__stats_normal_quantile(0.975), 1.959963984540054, 1e-13);
    assert_close(assay__stats_normal_quantile(0.5), 0, 1e-15);
    assert_close(assay__stats_normal_cdf(1.959963984540054), 0.975, 1e-14);
    assert_true(assay__stats_normal_quantile(0) == -INFINITY);
}

static void student_quantiles(void **state)
{
    static const struct {
        double df, p, t;
    } known[] = {
        {1, 0.975, 12.706204736432095},   {1, 0.995, 63.65674116287399},
        {1.6, 0.975, 5.517245440726716},  {1.6, 0.995, 15.330932576554343},
        {1.6, 0.6, 0.2977250098669101},   {2.5, 0.995, 7.16372813402124},
        {5, 0.55, 0.13217517523165695},   {5, 0.975, 2.5705818366147395},
        {29, 0.975, 2.045229642132703},   {29, 0.6, 0.2556836345712570},
        {1000, 0.995, 2.580754698065942}, {1000000, 0.975, 1.959966356814107},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        assert_close(assay__stats_student_quantile(known[i].p, known[i].df), known[i].t, 1e-9);
        assert_close(assay__stats_student_quantile(1 - known[i].p, known[i].df), -known[i].t, 1e-9);
        assert_close(assay__stats_student_cdf(known[i].t, known[i].df), known[i].p, 1e-9);
    }
    assert_close(assay__stats_student_cdf(-1.3, 29), 0.10191959183101489, 1e-11);
    assert_close(assay__stats_student_cdf(40, 1.2), 0.9959956118548687, 1e-11);
    assert_close(assay__stats_student_quantile(0.975, INFINITY), 1.959963984540054, 1e-12);
    assert_close(assay__stats_student_quantile(0.5, 3), 0, 0);
}

static void other_distributions(void **state)
{
    (void)state;
    assert_close(assay__stats_f_cdf(3.5, 2, 27), 0.9554912460535997, 1e-11);
    assert_close(assay__stats_f_cdf(0.4, 7.5, 3.25), 0.13622778909936933, 1e-11);
    assert_close(assay__stats_chi_square_cdf(3.84, 1), 0.9499564787512949, 1e-11);
    assert_close(assay__stats_chi_square_cdf(50, 40), 0.8664251659143496, 1e-11);
    assert_close(assay__stats_chi_square_cdf(0.5, 3.5), 0.04696397883043818, 1e-11);
}

/* Where series and fractions run out of digits: normal with the terms in 1/df and 1/df² of
 * Abramowitz and Stegun 26.7.8, and SciPy. */
static void many_degrees_of_freedom(void **state)
{
    (void)state;
    assert_close(assay__stats_student_cdf(-2.3, 12000), 0.010732648703652726, 1e-11); /* mpmath */
    assert_close(assay__stats_student_cdf(-2.3, 1e6), 0.010724212473638032, 1e-12);
    assert_close(assay__stats_student_cdf(-2.3, 1e9), 0.010724110124127623, 1e-12);
    assert_close(assay__stats_student_quantile(0.005, 1e6), -2.5758342201053344, 1e-12);
    assert_close(assay__stats_chi_square_cdf(1e8, 1e8), 0.5000188063194537, 1e-6);
    assert_close(assay__stats_chi_square_cdf(1e8, INFINITY), 0, 0);
    assert_close(assay__stats_f_cdf(2, 3, INFINITY), 0.8883897749052874, 1e-12);
    assert_close(assay__stats_f_cdf(2, INFINITY, 3), 0.6822703303362125, 1e-12);
    assert_close(assay__stats_f_cdf(2, INFINITY, INFINITY), 1, 0);
    assert_true(isinf(assay__stats_student_quantile(0.9, 1e-3))); /* 10 to the power of 698 */
}

/* Of 5 tosses of a coin. */
static void binomial(void **state)
{
    (void)state;
    assert_close(assay__stats_binomial_cdf(-1, 5, 0.5), 0, 0);
    assert_close(assay__stats_binomial_cdf(0, 5, 0.5), 1.0 / 32, 1e-12);
    assert_close(assay__stats_binomial_cdf(2.7, 5, 0.5), 0.5, 1e-12);
    assert_close(assay__stats_binomial_cdf(4, 5, 0.5), 31.0 / 32, 1e-12);
    assert_close(assay__stats_binomial_cdf(5, 5, 0.5), 1, 0);
    assert_close(assay__stats_binomial_cdf(1, 5, 0.1), 0.91854, 1e-12);
}

static void outside_the_domain(void **state)
{
    (void)state;
    assert_true(isnan(assay__stats_normal_quantile(-0.1)));
    assert_true(isnan(assay__stats_normal_quantile(NAN)));
    assert_true(isinf(assay__stats_normal_quantile(1)));
    assert_true(isnan(assay__stats_student_quantile(0.9, 0)));
    assert_true(isnan(assay__stats_student_quantile(1.1, 3)));
    assert_true(isinf(assay__stats_student_quantile(0, 3)));
    assert_true(isnan(assay__stats_student_cdf(NAN, 3)));
    assert_close(assay__stats_student_cdf(INFINITY, 3), 1, 0);
    assert_close(assay__stats_f_cdf(-1, 2, 3), 0, 0);
    assert_true(isnan(assay__stats_chi_square_cdf(1, -2)));
    assert_true(isnan(assay__stats_f_cdf(NAN, 2, 3)));
    assert_true(isnan(assay__stats_f_cdf(1, 0, 3)));
    assert_true(isnan(assay__stats_f_cdf(1, 2, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_quantiles),
        cmocka_unit_test(student_quantiles),
        cmocka_unit_test(other_distributions),
        cmocka_unit_test(many_degrees_of_freedom),
        cmocka_unit_test(binomial),
        cmocka_unit_test(outside_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
