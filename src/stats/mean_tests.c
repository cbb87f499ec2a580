/* Tests of means: Student's t test of pairs, Welch's test (1947), and a permutation test.
 *
 * A random permutation test counts the observed labelling among the drawn ones (Phipson and Smyth
 * 2010, "Permutation p-values should never be zero"). If there are few enough labellings, all of
 * them are enumerated instead. */
#include "assay/stats.h"
#include "base/random.h"
#include "stats/distribution.h"
#include "stats/input.h"
#include "stats/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double two_sided_t(double t, double degrees_of_freedom)
{
    return 2 * assay__stats_student_cdf(-fabs(t), degrees_of_freedom);
}

assay_status assay_stats_paired_t(const double *differences, size_t count, assay_test *test)
{
    if (!assay__stats_finite(differences, count))
        return ASSAY_E_ARGUMENT;
    assay__moments moments = assay__sample_moments(differences, count);
    double deviation = assay__moments_deviation(moments);
    if (count < 2 || !(deviation > 0))
        return ASSAY_E_DATA;
    double t = moments.mean / (deviation / sqrt((double)count));
    *test = (assay_test){.statistic = t, .p_value = two_sided_t(t, (double)count - 1)};
    return ASSAY_OK;
}

assay_status assay_stats_welch_t(const double *a, size_t a_count, const double *b, size_t b_count,
                                 assay_test *test)
{
    if (!assay__stats_finite(a, a_count) || !assay__stats_finite(b, b_count))
        return ASSAY_E_ARGUMENT;
    if (a_count < 2 || b_count < 2)
        return ASSAY_E_DATA;
    assay__moments left = assay__sample_moments(a, a_count);
    assay__moments right = assay__sample_moments(b, b_count);
    double n = (double)a_count, m = (double)b_count;
    double u = left.square_sum / (n - 1) / n, v = right.square_sum / (m - 1) / m;
    if (!(u + v > 0))
        return ASSAY_E_DATA;
    double t = (left.mean - right.mean) / sqrt(u + v);
    double share = u / (u + v); /* the squares of variances could overflow */
    double df = 1 / (share * share / (n - 1) + (1 - share) * (1 - share) / (m - 1));
    *test = (assay_test){.statistic = t, .p_value = two_sided_t(t, df)};
    return ASSAY_OK;
}

/* n over k, or infinity as soon as it exceeds `limit`. */
static double choose(size_t n, size_t k, double limit)
{
    double ways = 1;
    for (size_t i = 1; i <= k; i++) {
        ways = ways * (double)(n - k + i) / (double)i;
        if (ways > limit * (double)n)
            return INFINITY;
    }
    return ways > limit ? INFINITY : round(ways);
}

/* A permutation test in progress. The values are centred, so that sums of parts can be compared
 * without loss. */
typedef struct relabelling {
    double *values;
    size_t *picks; /* indices of the part that is labelled a, ascending */
    size_t count, a_count;
    double at_least; /* |sum of part a| as observed, less the rounding error */
} relabelling;

static double picked_sum(const relabelling *what)
{
    double sum = 0;
    for (size_t i = 0; i < what->a_count; i++)
        sum += what->values[what->picks[i]];
    return sum;
}

/* The next combination in lexical order; false after the last. */
static bool next_combination(relabelling *what)
{
    size_t i = what->a_count;
    while (i > 0 && what->picks[i - 1] == what->count - what->a_count + i - 1)
        i--;
    if (i == 0)
        return false;
    what->picks[i - 1]++;
    for (; i < what->a_count; i++)
        what->picks[i] = what->picks[i - 1] + 1;
    return true;
}

static double enumerate(relabelling *what)
{
    double all = 0, extreme = 0;
    for (size_t i = 0; i < what->a_count; i++)
        what->picks[i] = i;
    do {
        all++;
        extreme += fabs(picked_sum(what)) >= what->at_least;
    } while (next_combination(what));
    return extreme / all;
}

static double draw_relabellings(relabelling *what, size_t permutations, uint64_t seed)
{
    assay__random random;
    double extreme = 1;
    assay__random_init(&random, seed);
    for (size_t round_number = 0; round_number < permutations; round_number++) {
        double sum = 0;
        for (size_t i = 0; i < what->a_count; i++) {
            size_t j = i + (size_t)assay__random_below(&random, what->count - i);
            double value = what->values[j];
            what->values[j] = what->values[i];
            what->values[i] = value;
            sum += value;
        }
        extreme += fabs(sum) >= what->at_least;
    }
    return extreme / ((double)permutations + 1);
}

assay_status assay_stats_permutation(const double *a, size_t a_count, const double *b,
                                     size_t b_count, size_t permutations, uint64_t seed,
                                     assay_test *test)
{
    if (!assay__stats_finite(a, a_count) || !assay__stats_finite(b, b_count) || permutations == 0)
        return ASSAY_E_ARGUMENT;
    if (a_count == 0 || b_count == 0)
        return ASSAY_E_DATA;
    size_t count = a_count + b_count;
    assay_status status = ASSAY_E_MEMORY;
    relabelling what = {.values = calloc(count, sizeof *what.values),
                        .picks = calloc(a_count, sizeof *what.picks),
                        .count = count,
                        .a_count = a_count};
    if (what.values == NULL || what.picks == NULL)
        goto cleanup;
    memcpy(what.values, a, a_count * sizeof *a);
    memcpy(what.values + a_count, b, b_count * sizeof *b);
    double centre = assay__sample_moments(what.values, count).mean, sum = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        what.values[i] -= centre;
        size += fabs(what.values[i]);
        sum += i < a_count ? what.values[i] : 0;
    }
    what.at_least = fabs(sum) - 1e-12 * size;
    bool exact = choose(count, a_count, (double)permutations) <= (double)permutations;
    double p = exact ? enumerate(&what) : draw_relabellings(&what, permutations, seed);
    double difference =
        assay__sample_moments(a, a_count).mean - assay__sample_moments(b, b_count).mean;
    *test = (assay_test){.statistic = difference, .p_value = p, .exact = exact};
    status = ASSAY_OK;
cleanup:
    free(what.picks);
    free(what.values);
    return status;
}
