/* The values of both series are cut in two where the sums of squares within the parts are least
 * (Fisher 1958; on a line the best of all cuts is found by trying each). The parts are levels if
 * their means are more than 4.5 standard deviations within a part apart: 3.5 is the distance of the
 * halves of a uniform distribution, 2.7 of a normal one. A series has been on the other level if at
 * least two samples in a row are, and at least a tenth of all: single slow runs are outliers. From
 * 20 changes on, the autocorrelation says what is needed (location.c).
 *
 * Without this, one series that happened to meet a fast machine and one that met a slow one differ
 * in one comparison of twelve with 20 samples each, if the machine changes every ten samples. */
#include "stats/levels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stats/sorted.h"

static const double LEVELS_APART = 4.5;
enum { CHANGES_ENOUGH = 20, IN_A_ROW = 2, SHARE_LEAST = 10 };

/* The cut between the two parts, and how far apart their means are; 0 if they are no levels. */
static double find_levels(const double *sorted, size_t count, double *cut)
{
    double n = (double)count, sum = 0, squares = 0, below = 0, best = -INFINITY, apart = 0;
    for (size_t i = 0; i < count; i++)
        sum += (sorted[i] - sorted[0]) / n;
    double mean = sorted[0] + sum;
    for (size_t i = 0; i < count; i++)
        squares += (sorted[i] - mean) * (sorted[i] - mean);
    for (size_t i = 0; i + 1 < count; i++) {
        below += sorted[i] - mean;
        double left = (double)i + 1, between = below * below * n / (left * (n - left));
        if (!(between > best))
            continue;
        best = between;
        apart = -below / left - below / (n - left);
        apart = fabs(apart);
        *cut = (sorted[i] + sorted[i + 1]) / 2;
    }
    double within = sqrt(fmax(squares - best, 0) / fmax(n - 2, 1));
    return apart > LEVELS_APART * within ? apart : 0;
}

/* Has the series been on the level where most of it is not? Its changes are counted. */
static bool has_visited(const double *values, size_t count, double cut, size_t *changes)
{
    size_t above = 0, row = 0, away = 0;
    for (size_t i = 0; i < count; i++)
        above += values[i] > cut;
    bool usual = 2 * above > count;
    for (size_t i = 0; i < count; i++) {
        bool is_away = (values[i] > cut) != usual;
        *changes += i > 0 && (values[i] > cut) != (values[i - 1] > cut);
        row = is_away ? row + 1 : 0;
        away += row == IN_A_ROW ? IN_A_ROW : row > IN_A_ROW;
    }
    return away >= IN_A_ROW && away * SHARE_LEAST >= count;
}

assay_status assay__stats_seldom_levels(const double *a, size_t a_count, const double *b,
                                        size_t b_count, double *apart)
{
    double cut = 0, *all = malloc((a_count + b_count) * sizeof *all);
    size_t changes = 0;
    *apart = 0;
    if (all == NULL)
        return ASSAY_E_MEMORY;
    memcpy(all, a, a_count * sizeof *all);
    memcpy(all + a_count, b, b_count * sizeof *all);
    assay__stats_sort(all, a_count + b_count);
    double distance = find_levels(all, a_count + b_count, &cut);
    free(all);
    bool first = has_visited(a, a_count, cut, &changes);
    bool second = has_visited(b, b_count, cut, &changes);
    if ((first || second) && changes < CHANGES_ENOUGH)
        *apart = distance;
    return ASSAY_OK;
}
