/* Tests by ranks and signs: Mann and Whitney (1947), Wilcoxon (1945), and the sign test. Up to 50
 * values the p values are exact. Above, where the error of the approximation is small, they are
 * normal approximations with the corrections for ties and continuity of Hollander and Wolfe,
 * "Nonparametric Statistical Methods", sections 3.1 and 4.1. */
#include "assay/stats.h"
#include "stats/distribution.h"
#include "stats/input.h"
#include "stats/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_MAX = 50 };

/* The two-sided p value of a sum with this mean and variance, with the continuity correction of
 * half a unit. */
static double normal_p(double sum, double mean, double variance)
{
    double distance = fmax(0, fabs(sum - mean) - 0.5);
    return 2 * assay__stats_normal_cdf(-distance / sqrt(variance));
}

static assay_status exact_p(const size_t *ranks, size_t count, size_t picked, size_t sum,
                            double *p_value)
{
    size_t total;
    double *distribution = assay__stats_rank_sums(ranks, count, picked, &total);
    if (distribution == NULL)
        return ASSAY_E_MEMORY;
    *p_value = assay__stats_two_sided(distribution, total, sum);
    free(distribution);
    return ASSAY_OK;
}

static assay_status judge_ranks(const size_t *ranks, size_t a_count, size_t b_count, double ties,
                                assay_test *test)
{
    size_t count = a_count + b_count, sum = 0;
    double n = (double)count, a = (double)a_count, b = (double)b_count;
    for (size_t i = 0; i < a_count; i++)
        sum += ranks[i];
    assay_test result = {.statistic = (double)sum / 2 - a * (a + 1) / 2,
                         .exact = count <= EXACT_MAX};
    double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));
    if (!(variance > 0))
        return ASSAY_E_DATA;
    assay_status status = ASSAY_OK;
    if (result.exact)
        status = exact_p(ranks, count, a_count, sum, &result.p_value);
    else
        result.p_value = normal_p(result.statistic, a * b / 2, variance);
    if (status == ASSAY_OK)
        *test = result;
    return status;
}

assay_status assay_stats_mann_whitney(const double *a, size_t a_count, const double *b,
                                      size_t b_count, assay_test *test)
{
    if (!assay__stats_finite(a, a_count) || !assay__stats_finite(b, b_count))
        return ASSAY_E_ARGUMENT;
    if (a_count == 0 || b_count == 0)
        return ASSAY_E_DATA;
    assay_status status = ASSAY_E_MEMORY;
    size_t *ranks = NULL;
    double ties, *all = calloc(a_count + b_count, sizeof *all);
    if (all == NULL)
        goto cleanup;
    memcpy(all, a, a_count * sizeof *all);
    memcpy(all + a_count, b, b_count * sizeof *all);
    ranks = assay__stats_double_ranks(all, a_count + b_count, &ties);
    if (ranks != NULL)
        status = judge_ranks(ranks, a_count, b_count, ties, test);
cleanup:
    free(ranks);
    free(all);
    return status;
}

static assay_status judge_signed(const double *sizes, const bool *positive, size_t count,
                                 assay_test *test)
{
    double ties, n = (double)count;
    size_t sum = 0, *ranks = assay__stats_double_ranks(sizes, count, &ties);
    if (ranks == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        sum += positive[i] ? ranks[i] : 0;
    assay_test result = {.statistic = (double)sum / 2, .exact = count <= EXACT_MAX};
    assay_status status = ASSAY_OK;
    if (result.exact)
        status = exact_p(ranks, count, count + 1, sum, &result.p_value);
    else
        result.p_value =
            normal_p(result.statistic, n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24 - ties / 48);
    free(ranks);
    if (status == ASSAY_OK)
        *test = result;
    return status;
}

assay_status assay_stats_signed_rank(const double *differences, size_t count, assay_test *test)
{
    if (!assay__stats_finite(differences, count))
        return ASSAY_E_ARGUMENT;
    if (count == 0)
        return ASSAY_E_DATA;
    assay_status status = ASSAY_E_MEMORY;
    size_t kept = 0;
    double *sizes = calloc(count, sizeof *sizes);
    bool *positive = calloc(count, sizeof *positive);
    if (sizes == NULL || positive == NULL)
        goto cleanup;
    for (size_t i = 0; i < count; i++)
        if (differences[i] != 0) {
            sizes[kept] = fabs(differences[i]);
            positive[kept++] = differences[i] > 0;
        }
    status = kept == 0 ? ASSAY_E_DATA : judge_signed(sizes, positive, kept, test);
cleanup:
    free(positive);
    free(sizes);
    return status;
}

assay_status assay_stats_sign_test(const double *differences, size_t count, assay_test *test)
{
    if (!assay__stats_finite(differences, count))
        return ASSAY_E_ARGUMENT;
    double positive = 0, negative = 0;
    for (size_t i = 0; i < count; i++) {
        positive += differences[i] > 0;
        negative += differences[i] < 0;
    }
    if (positive + negative == 0)
        return ASSAY_E_DATA;
    double tail = assay__stats_binomial_cdf(fmin(positive, negative), positive + negative, 0.5);
    *test = (assay_test){.statistic = positive, .p_value = fmin(1, 2 * tail), .exact = true};
    return ASSAY_OK;
}
