/* Sums of ranks are counted by adding one rank after the other to all sums reached so far. This is
 * exact, also with ties, while the recurrences of Mann and Whitney (1947) need distinct values. */
#include "stats/ranks.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct place {
    double value;
    size_t index;
} place;

static int by_value(const void *left, const void *right)
{
    double a = ((const place *)left)->value, b = ((const place *)right)->value;
    return (a > b) - (a < b);
}

size_t *assay__stats_double_ranks(const double *values, size_t count, double *ties)
{
    size_t *ranks = calloc(count, sizeof *ranks);
    place *places = calloc(count, sizeof *places);
    *ties = 0;
    if (ranks == NULL || places == NULL) {
        free(ranks);
        ranks = NULL;
        goto cleanup;
    }
    for (size_t i = 0; i < count; i++)
        places[i] = (place){values[i], i};
    qsort(places, count, sizeof *places, by_value);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && places[end].value == places[begin].value;)
            end++;
        for (size_t i = begin; i < end; i++)
            ranks[places[i].index] = begin + 1 + end;
        double equal = (double)(end - begin);
        *ties += equal * equal * equal - equal;
    }
cleanup:
    free(places);
    return ranks;
}

/* ways[k × width + s] is the number of ways to reach the sum s with k ranks; in
 * add_optional_rank(), ways[s] is the number of ways with any number of ranks. */
static void add_rank(double *ways, size_t width, size_t rank, size_t picked)
{
    for (size_t k = picked; k > 0; k--)
        for (size_t s = rank; s < width; s++)
            ways[k * width + s] += ways[(k - 1) * width + s - rank];
}

static void add_optional_rank(double *ways, size_t width, size_t rank)
{
    for (size_t s = width; s-- > rank;)
        ways[s] += ways[s - rank];
}

double *assay__stats_rank_sums(const size_t *double_ranks, size_t count, size_t picked,
                               size_t *total)
{
    size_t sum = 0, rows = picked > count ? 1 : picked + 1;
    for (size_t i = 0; i < count; i++)
        sum += double_ranks[i];
    size_t width = sum + 1;
    double *ways = calloc(rows * width, sizeof *ways), all = 0;
    if (ways == NULL)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++) {
        if (picked > count)
            add_optional_rank(ways, width, double_ranks[i]);
        else
            add_rank(ways, width, double_ranks[i], picked);
    }
    const double *last = ways + (rows - 1) * width;
    for (size_t s = 0; s < width; s++)
        all += last[s];
    for (size_t s = 0; s < width; s++)
        ways[s] = last[s] / all;
    *total = sum;
    return ways;
}

double assay__stats_two_sided(const double *distribution, size_t total, size_t sum)
{
    double below = 0, above = 0;
    for (size_t s = 0; s <= total; s++) {
        below += s <= sum ? distribution[s] : 0;
        above += s >= sum ? distribution[s] : 0;
    }
    return fmin(1, 2 * fmin(below, above));
}
