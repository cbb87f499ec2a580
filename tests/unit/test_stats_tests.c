/* Tests of differences, against SciPy 1.10.1, R's documentation and full enumeration. */
#include "tests/unit/stats_fixture.h"

/* Permeability of the human placenta at term and at 12 to 26 weeks (Hollander and Wolfe 1973, page
 * 69; example(wilcox.test) in R: W = 35, one-sided p = 0.1272). */
static const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};

/* Depression scale at two visits, second minus first (Hollander and Wolfe, page 29; R: V = 40 for
 * first minus second, one-sided p = 0.01953). */
static const double depression[] = {0.878 - 1.83, 0.647 - 0.50, 0.598 - 1.62,
                                    2.05 - 2.48,  1.06 - 1.68,  1.29 - 1.88,
                                    1.06 - 1.55,  3.14 - 3.06,  1.29 - 1.30};

/* Extra sleep under two drugs (Student 1908; `sleep` in R). */
static const double drug_1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug_2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void mann_whitney(void **state)
{
    double first[60], second[45];
    assay_test test;
    (void)state;
    assert_int_equal(assay_stats_mann_whitney(term, 10, early, 5, &test), ASSAY_OK);
    assert_true(test.exact);
    assert_close(test.statistic, 35, 0);
    assert_close(test.p_value, 0.2544122544122544, 1e-12);
    /* ties, by enumeration of all 184 756 ways to pick 10 of 20 */
    assert_int_equal(assay_stats_mann_whitney(drug_1, 10, drug_2, 10, &test), ASSAY_OK);
    assert_close(test.statistic, 25.5, 0);
    assert_close(test.p_value, 0.0658165364047717, 1e-12);
    /* scipy.stats.mannwhitneyu(method="asymptotic") */
    for (int i = 0; i < 60; i++)
        first[i] = (i * 37) % 101;
    for (int i = 0; i < 45; i++)
        second[i] = (i * 53) % 97 + 5;
    assert_int_equal(assay_stats_mann_whitney(first, 60, second, 45, &test), ASSAY_OK);
    assert_false(test.exact);
    assert_close(test.statistic, 1330, 0);
    assert_close(test.p_value, 0.8995131952083523, 1e-10);
    assert_int_equal(assay_stats_mann_whitney(first, 60, first, 60, &test), ASSAY_OK);
    assert_close(test.p_value, 1, 1e-12); /* at the mean */
}

static void signed_rank_and_signs(void **state)
{
    double differences[60];
    assay_test test;
    (void)state;
    assert_int_equal(assay_stats_signed_rank(depression, 9, &test), ASSAY_OK);
    assert_true(test.exact);
    assert_close(test.statistic, 5, 0);
    assert_close(test.p_value, 0.0390625, 1e-12);
    /* scipy.stats.binomtest(2, 9) */
    assert_int_equal(assay_stats_sign_test(depression, 9, &test), ASSAY_OK);
    assert_close(test.statistic, 2, 0);
    assert_close(test.p_value, 0.1796875, 1e-12);
    /* a zero left out; by enumeration of the 512 signs */
    double sleep[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
    assert_int_equal(assay_stats_signed_rank(sleep, 10, &test), ASSAY_OK);
    assert_close(test.statistic, 45, 0);
    assert_close(test.p_value, 0.00390625, 1e-12);
    /* scipy.stats.wilcoxon(correction=True, mode="approx") */
    for (int i = 0; i < 60; i++)
        differences[i] = (i * 37) % 101 - 45;
    assert_int_equal(assay_stats_signed_rank(differences, 60, &test), ASSAY_OK);
    assert_false(test.exact);
    assert_close(test.statistic, 1066.5, 0);
    assert_close(test.p_value, 0.26628823437850624, 1e-10);
    /* one difference proves nothing, nor do two that cancel */
    assert_int_equal(assay_stats_signed_rank(sleep, 1, &test), ASSAY_OK);
    assert_true(test.statistic == 1 && test.p_value == 1);
    double balanced[] = {3, -2};
    assert_int_equal(assay_stats_sign_test(balanced, 2, &test), ASSAY_OK);
    assert_true(test.statistic == 1 && test.p_value == 1);
}

static void up_to_fifty_values_are_exact(void **state)
{
    double values[51];
    assay_test test;
    (void)state;
    for (int i = 0; i < 51; i++)
        values[i] = (i * 37) % 101 - 45;
    assert_int_equal(assay_stats_mann_whitney(values, 20, values + 20, 30, &test), ASSAY_OK);
    assert_true(test.exact);
    assert_int_equal(assay_stats_mann_whitney(values, 20, values + 20, 31, &test), ASSAY_OK);
    assert_false(test.exact);
    assert_int_equal(assay_stats_signed_rank(values, 50, &test), ASSAY_OK);
    assert_true(test.exact);
    assert_int_equal(assay_stats_signed_rank(values, 51, &test), ASSAY_OK);
    assert_false(test.exact);
}

static void tests_of_means(void **state)
{
    double differences[10];
    assay_test test;
    (void)state;
    for (size_t i = 0; i < 10; i++)
        differences[i] = drug_2[i] - drug_1[i];
    /* R: t = 4.0621, df = 9, p = 0.002833; SciPy to more digits */
    assert_int_equal(assay_stats_paired_t(differences, 10, &test), ASSAY_OK);
    assert_close(test.statistic, 4.062127683382037, 1e-10);
    assert_close(test.p_value, 0.00283289019738427, 1e-9);
    /* R: t = -1.8608, df = 17.776, p = 0.07939 */
    assert_int_equal(assay_stats_welch_t(drug_1, 10, drug_2, 10, &test), ASSAY_OK);
    assert_close(test.statistic, -1.8608134674868526, 1e-10);
    assert_close(test.p_value, 0.07939414018735823, 1e-9);
    /* scipy.stats.ttest_ind(equal_var=False), as few as can be and sides of different sizes */
    double few[] = {1, 2}, more[] = {3, 5, 4.5};
    assert_int_equal(assay_stats_welch_t(few, 2, more, 2, &test), ASSAY_OK);
    assert_close(test.p_value, 0.19872738893452604, 1e-9);
    assert_int_equal(assay_stats_welch_t(few, 2, more, 3, &test), ASSAY_OK);
    assert_close(test.statistic, -3.411211461689767, 1e-10);
    assert_close(test.p_value, 0.04377411729552227, 1e-9);
}

/* Nanoseconds, in seconds: no test has a size in mind below which all is equal. */
static void small_values_are_values(void **state)
{
    double first[10], second[10], differences[10];
    assay_test test;
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        first[i] = 1e-9 * drug_1[i];
        second[i] = 1e-9 * drug_2[i];
        differences[i] = second[i] - first[i];
    }
    assert_int_equal(assay_stats_paired_t(differences, 10, &test), ASSAY_OK);
    assert_close(test.p_value, 0.00283289019738427, 1e-9);
    assert_int_equal(assay_stats_welch_t(first, 10, second, 10, &test), ASSAY_OK);
    assert_close(test.p_value, 0.07939414018735823, 1e-9);
    assert_int_equal(assay_stats_permutation(first, 10, second, 10, 200000, 1, &test), ASSAY_OK);
    assert_close(test.p_value, 0.08144796380090498, 1e-12);
}

static void permutations(void **state)
{
    assay_test test, again;
    (void)state;
    /* scipy.stats.permutation_test, all relabellings. It doubles the smaller tail, this counts both
     * as they are; with equal sides (drugs) that is the same. */
    assert_int_equal(assay_stats_permutation(drug_1, 10, drug_2, 10, 200000, 1, &test), ASSAY_OK);
    assert_true(test.exact);
    assert_close(test.statistic, -1.58, 1e-12);
    assert_close(test.p_value, 0.08144796380090498, 1e-12);
    assert_int_equal(assay_stats_permutation(drug_1, 10, drug_2, 10, 20000, 1, &test), ASSAY_OK);
    assert_false(test.exact);
    assert_close(test.p_value, 0.0814, 0.08);
    assert_int_equal(assay_stats_permutation(drug_1, 10, drug_2, 10, 20000, 1, &again), ASSAY_OK);
    assert_true(again.p_value == test.p_value);
    double low[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
           high[] = {101, 102, 103, 104, 105, 106, 107};
    assert_int_equal(assay_stats_permutation(low, 11, high, 7, 999, 1, &test), ASSAY_OK);
    assert_close(test.p_value, 0.001, 1e-12); /* never 0 */
    /* sides of different sizes, by itertools.combinations: 396 of 3003 */
    assert_int_equal(assay_stats_permutation(term, 10, early, 5, 3003, 1, &test), ASSAY_OK);
    assert_true(test.exact);
    assert_close(test.p_value, 396.0 / 3003, 1e-12);
    assert_int_equal(assay_stats_permutation(term, 10, early, 5, 3002, 1, &test), ASSAY_OK);
    assert_false(test.exact);
    double same[20] = {0};
    assert_int_equal(assay_stats_permutation(same, 10, same + 10, 10, 50, 1, &test), ASSAY_OK);
    assert_true(!test.exact && test.p_value == 1);
    assert_int_equal(assay_stats_permutation(low, 3, high, 1, 100, 1, &test), ASSAY_OK);
    assert_close(test.p_value, 0.25, 1e-12);
    /* two of many, where one less or one more would tell; NumPy, all 45 451 pairs */
    double two[] = {290, 240}, many[300];
    for (int i = 0; i < 300; i++)
        many[i] = i;
    assert_int_equal(assay_stats_permutation(two, 2, many, 300, 45450, 1, &test), ASSAY_OK);
    assert_false(test.exact);
    assert_close(test.p_value, 2557.0 / 45451, 0.1);
}

static void too_little_or_broken_input(void **state)
{
    double same[] = {1, 1, 1}, zeros[] = {0, 0}, broken[] = {1, NAN, 3};
    assay_test test;
    (void)state;
    assert_int_equal(assay_stats_mann_whitney(same, 0, same, 3, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_mann_whitney(same, 3, same, 0, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_mann_whitney(same, 3, broken, 3, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_mann_whitney(same, 3, same, 3, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_mann_whitney(broken, 3, same, 3, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_signed_rank(zeros, 2, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_signed_rank(NULL, 0, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_signed_rank(broken, 3, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_sign_test(zeros, 2, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_sign_test(broken, 3, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_paired_t(same, 3, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_paired_t(same, 1, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_paired_t(broken, 3, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_welch_t(same, 3, same, 3, &test), ASSAY_E_DATA);
    const double uneven[] = {1, 2, 4};
    assert_int_equal(assay_stats_welch_t(uneven, 1, uneven, 3, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_welch_t(uneven, 3, uneven, 1, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_welch_t(broken, 3, uneven, 3, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_welch_t(uneven, 3, broken, 3, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_permutation(broken, 3, uneven, 3, 9, 1, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_permutation(uneven, 3, broken, 3, 9, 1, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_permutation(uneven, 3, uneven, 0, 9, 1, &test), ASSAY_E_DATA);
    const double far[] = {1e100, -1e100, 1e100}; /* the same as of 1, -1, 1 and 0, 0, 1 */
    const double near[] = {0, 0, 1e100};
    assert_int_equal(assay_stats_welch_t(far, 3, near, 3, &test), ASSAY_OK);
    assert_close(test.p_value, 1, 1e-12);
    assert_int_equal(assay_stats_permutation(same, 0, same, 3, 10, 1, &test), ASSAY_E_DATA);
    assert_int_equal(assay_stats_permutation(same, 3, same, 3, 0, 1, &test), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_permutation(same, 3, same, 3, 100, 1, &test), ASSAY_OK);
    assert_close(test.p_value, 1, 1e-12);
    assert_int_equal(assay_stats_mann_whitney(same, 1, zeros, 1, &test), ASSAY_OK);
    assert_close(test.p_value, 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mann_whitney),
        cmocka_unit_test(signed_rank_and_signs),
        cmocka_unit_test(up_to_fifty_values_are_exact),
        cmocka_unit_test(tests_of_means),
        cmocka_unit_test(small_values_are_values),
        cmocka_unit_test(permutations),
        cmocka_unit_test(too_little_or_broken_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
