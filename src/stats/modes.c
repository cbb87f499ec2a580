/* A slow mode begins at the first gap between neighbours, in order of size, that is too wide for
 * the values below it. A gap is too wide from 4 standard deviations of those values on: among the
 * largest of a normal sample, neighbours are 0.2 apart on average. The standard deviation comes
 * from their lower half (median and first decile), which neither the mode nor a long tail affects.
 * The values above the gap must be a cluster narrower than the gap; the extremes of a large cluster
 * do not count.
 *
 * A mixture of normals is not used, because it needs starting values, can converge to a single
 * value, and explains a skewed distribution by two modes. Hartigan's dip test is not used, because
 * one run in 50 does not make a dip. */
#include "stats/modes.h"
#include "stats/sorted.h"

enum { VALUES_LEAST = 20, CLUSTER_SMALL = 8 };

static const double GAP_LEAST = 4;      /* standard deviations of the values below */
static const double RATIO_LEAST = 1.05; /* a smaller ratio does not matter */
static const double FASTER_LEAST = 0.3; /* least share of the values below the mode */
static const double DECILE_TO_SIGMA = 1.2816;

assay__slow_mode assay__slow_mode_find(const double *sorted, size_t count)
{
    if (count < VALUES_LEAST)
        return (assay__slow_mode){0};
    for (size_t below = (size_t)(FASTER_LEAST * (double)count); below + 1 < count; below++) {
        double median = assay__stats_sorted_median(sorted, below);
        double decile = assay__stats_sorted_quantile(sorted, below, 0.1);
        double slow = assay__stats_sorted_median(sorted + below, count - below);
        double gap = sorted[below] - sorted[below - 1];
        double end = count - below < CLUSTER_SMALL ? 0 : 0.25;
        double width = assay__stats_sorted_quantile(sorted + below, count - below, 1 - end) -
                       assay__stats_sorted_quantile(sorted + below, count - below, end);
        if (gap > GAP_LEAST * (median - decile) / DECILE_TO_SIGMA && gap > width && median > 0 &&
            slow >= RATIO_LEAST * median)
            return (assay__slow_mode){.count = count - below, .ratio = slow / median};
    }
    return (assay__slow_mode){0};
}
