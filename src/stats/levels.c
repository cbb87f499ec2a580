/* The values of both series together are cut in two where the sum of squares within the parts is
 * least (Fisher 1958; on a line the best cut is found by trying each). The parts are levels if the
 * distance of their means is more than 4.5 standard deviations within a part: it is 3.5 for the
 * halves of a uniform distribution, and 2.7 for those of a normal one. A series has been on the
 * other level if at least two samples in a row and at least a tenth of all samples are there;
 * single slow runs are outliers. In short series one sample is enough if it lies where the other
 * series usually is: such a sample is the only sign that the difference is one of levels. From 20
 * changes on, the model of the autocorrelation takes care of the levels (location.c).
 *
 * Without this check, if the machine changes its level every ten samples, two equal series of 20
 * samples are called different in one comparison of twelve, because one happened to meet the fast
 * level and the other the slow one. */
#include "stats/levels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stats/sorted.h"

static const double LEVELS_APART = 4.5;
static const double AT_A_LEVEL = 3; /* standard deviations within a level */
enum { CHANGES_ENOUGH = 20, IN_A_ROW = 2, SHARE_LEAST = 10, SHORT = 30 };

/* The cut between the two parts, their means, and the standard deviation within a part. */
typedef struct levels {
    double cut, low, high, within;
} levels;

/* Find the two parts. Returns false if they are no levels. */
static bool find_levels(const double *sorted, size_t count, levels *found)
{
    double n = (double)count, sum = 0, squares = 0, below = 0, best = -INFINITY;
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
        found->cut = (sorted[i] + sorted[i + 1]) / 2;
        found->low = mean + below / left;
        found->high = mean - below / (n - left);
    }
    found->within = sqrt(fmax(squares - best, 0) / fmax(n - 2, 1));
    return found->high - found->low > LEVELS_APART * found->within;
}

/* Whether most of the series is on the high level. */
static bool is_usually_high(const double *values, size_t count, double cut)
{
    size_t above = 0;
    for (size_t i = 0; i < count; i++)
        above += values[i] > cut;
    return 2 * above > count;
}

static size_t count_changes(const double *values, size_t count, double cut)
{
    size_t changes = 0;
    for (size_t i = 1; i < count; i++)
        changes += (values[i] > cut) != (values[i - 1] > cut);
    return changes;
}

/* Whether the series stayed for a while on the level where most of its values are not. */
static bool has_stayed(const double *values, size_t count, double cut, bool usually_high)
{
    size_t row = 0, away = 0;
    for (size_t i = 0; i < count; i++) {
        row = (values[i] > cut) != usually_high ? row + 1 : 0;
        away += row == IN_A_ROW ? IN_A_ROW : row > IN_A_ROW;
    }
    return away >= IN_A_ROW && away * SHARE_LEAST >= count;
}

/* Whether a short series has any value at that level. */
static bool has_visited(const double *values, size_t count, const levels *found, bool usually_high)
{
    double other = usually_high ? found->low : found->high;
    for (size_t i = 0; i < count && count < SHORT; i++)
        if (fabs(values[i] - other) <= AT_A_LEVEL * found->within)
            return true;
    return false;
}

assay_status assay__stats_seldom_levels(const double *a, size_t a_count, const double *b,
                                        size_t b_count, double *apart)
{
    levels found = {0};
    double *all = malloc((a_count + b_count) * sizeof *all);
    *apart = 0;
    if (all == NULL)
        return ASSAY_E_MEMORY;
    memcpy(all, a, a_count * sizeof *all);
    memcpy(all + a_count, b, b_count * sizeof *all);
    assay__stats_sort(all, a_count + b_count);
    bool are_levels = find_levels(all, a_count + b_count, &found);
    free(all);
    if (!are_levels ||
        count_changes(a, a_count, found.cut) + count_changes(b, b_count, found.cut) >=
            CHANGES_ENOUGH)
        return ASSAY_OK;
    bool first = is_usually_high(a, a_count, found.cut);
    bool second = is_usually_high(b, b_count, found.cut);
    if (has_stayed(a, a_count, found.cut, first) || has_stayed(b, b_count, found.cut, second) ||
        (first != second &&
         (has_visited(a, a_count, &found, first) || has_visited(b, b_count, &found, second))))
        *apart = found.high - found.low;
    return ASSAY_OK;
}
