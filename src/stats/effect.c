/* How large a difference is: Hodges and Lehmann (1963), Cohen (1988), Cliff (1993).
 *
 * The interval of the shift inverts the Mann-Whitney test: its ends are those of the sorted
 * differences between which the test would not reject (Hollander and Wolfe, section 4.3). Exact up
 * to 50 values in all, normal beyond. */
#include "assay/stats.h"
#include "stats/check.h"
#include "stats/order.h"
#include "stats/ranks.h"
#include "stats/sample.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_MAX = 50 };

/* The largest k with P(U < k) ≤ outside, so that the k-th difference from either end bounds the
 * shift; 0 when there is none. Ranks without ties: 1 … count. */
static assay_status exact_bound(size_t a_count, size_t b_count, double outside, size_t *bound)
{
    size_t ranks[EXACT_MAX], count = a_count + b_count, total;
    for (size_t i = 0; i < count; i++)
        ranks[i] = 2 * (i + 1);
    double *distribution = assay__stats_rank_sums(ranks, count, a_count, &total);
    if (distribution == NULL)
        return ASSAY_E_MEMORY;
    size_t least = a_count * (a_count + 1); /* of a doubled rank sum, where U is 0 */
    double below = 0;
    *bound = 0;
    for (size_t u = 0; u <= a_count * b_count; u++) {
        below += distribution[least + 2 * u];
        if (below > outside)
            break;
        *bound = u + 1;
    }
    free(distribution);
    return ASSAY_OK;
}

static size_t normal_bound(size_t a_count, size_t b_count, double outside)
{
    double a = (double)a_count, b = (double)b_count;
    double bound =
        floor(a * b / 2 + assay_stats_normal_quantile(outside) * sqrt(a * b * (a + b + 1) / 12));
    return bound < 1 ? 0 : (size_t)bound;
}

assay_status assay_stats_shift(const double *a, size_t a_count, const double *b, size_t b_count,
                               double level, assay_interval *interval)
{
    if (!assay__stats_finite(a, a_count) || !assay__stats_finite(b, b_count) ||
        !assay__stats_level(level))
        return ASSAY_E_ARGUMENT;
    assay_interval result = {.level = level, .validity = ASSAY_NOT_ENOUGH_DATA};
    if (a_count != 0 && b_count > ASSAY_SHIFT_PAIRS_MAX / a_count)
        return ASSAY_E_LIMIT;
    size_t pairs = a_count * b_count, bound = 0;
    double outside = (1 - level) / 2, *differences = NULL;
    assay_status status = ASSAY_OK;
    if (pairs > 0 && a_count + b_count <= EXACT_MAX)
        status = exact_bound(a_count, b_count, outside, &bound);
    else if (pairs > 0)
        bound = normal_bound(a_count, b_count, outside);
    if (status != ASSAY_OK || bound == 0)
        goto cleanup;
    status = ASSAY_E_MEMORY;
    differences = calloc(pairs, sizeof *differences);
    if (differences == NULL)
        goto cleanup;
    for (size_t i = 0; i < pairs; i++)
        differences[i] = a[i / b_count] - b[i % b_count];
    assay__stats_sort(differences, pairs);
    result.estimate = assay__stats_sorted_median(differences, pairs);
    result.low = differences[bound - 1];
    result.high = differences[pairs - bound];
    result.validity = ASSAY_VALID;
    status = ASSAY_OK;
cleanup:
    if (status == ASSAY_OK)
        *interval = result;
    free(differences);
    return status;
}

assay_status assay_stats_cohen_d(const double *a, size_t a_count, const double *b, size_t b_count,
                                 double *d)
{
    if (!assay__stats_finite(a, a_count) || !assay__stats_finite(b, b_count))
        return ASSAY_E_ARGUMENT;
    if (a_count < 2 || b_count < 2)
        return ASSAY_E_DATA;
    assay__moments left = assay__sample_moments(a, a_count);
    assay__moments right = assay__sample_moments(b, b_count);
    double pooled = sqrt((left.square_sum + right.square_sum) / (double)(a_count + b_count - 2));
    if (!(pooled > 0))
        return ASSAY_E_DATA;
    *d = (left.mean - right.mean) / pooled;
    return ASSAY_OK;
}

assay_status assay_stats_cliff_delta(const double *a, size_t a_count, const double *b,
                                     size_t b_count, double *delta)
{
    if (!assay__stats_finite(a, a_count) || !assay__stats_finite(b, b_count))
        return ASSAY_E_ARGUMENT;
    if (a_count == 0 || b_count == 0)
        return ASSAY_E_DATA;
    double *sorted = assay__stats_sorted_copy(b, b_count), balance = 0;
    if (sorted == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < a_count; i++) {
        size_t below = assay__stats_count_below(sorted, b_count, a[i], false);
        size_t not_above = assay__stats_count_below(sorted, b_count, a[i], true);
        balance += (double)below - (double)(b_count - not_above);
    }
    free(sorted);
    *delta = balance / ((double)a_count * (double)b_count);
    return ASSAY_OK;
}
