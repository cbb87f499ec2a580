/* Sorts by qsort() and interpolates between sorted values. */
#include "stats/sorted.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void assay__stats_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
}

double *assay__stats_sorted_copy(const double *values, size_t count)
{
    double *copy = calloc(count, sizeof *copy);
    if (copy == NULL)
        return NULL;
    memcpy(copy, values, count * sizeof *copy);
    assay__stats_sort(copy, count);
    return copy;
}

double assay__stats_sorted_quantile(const double *sorted, size_t count, double q)
{
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    double share = position - (double)below; /* 0 at the last value, which has no successor */
    return share == 0 ? sorted[below] : (1 - share) * sorted[below] + share * sorted[below + 1];
}

double assay__stats_sorted_median(const double *sorted, size_t count)
{
    size_t middle = count / 2;
    return count % 2 == 1 ? sorted[middle] : 0.5 * sorted[middle - 1] + 0.5 * sorted[middle];
}
