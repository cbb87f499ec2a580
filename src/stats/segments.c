/* Optimal partitioning (Jackson et al. 2005): of all ways to cut the series, take the one with the
 * least sum of squares plus a price for each cut and each slope. Dynamic programming finds it
 * exactly. Slopes are included so that a drift is not mistaken for a staircase whose last step is
 * level.
 *
 * Timings are not Gaussian noise around levels, so the series is prepared in three steps:
 * - The noise is measured on differences of neighbours, by medians. Levels, cuts, outliers and an
 *   even drift do not affect it (Rousseeuw and Croux 1993 for the constant).
 * - Outliers are pulled in to a distance of 3 noises from the running median of 7 (2 noises if only
 *   levels are searched). A stretch of four or more values survives this.
 * - Neighbours may be correlated. The correlation ρ is estimated by the ratio of medians of
 *   differences at distance 2 and 1, which cuts do not affect, and removed (Chakar et al. 2017, "A
 *   robust approach for estimating change-points in the mean of an AR(1) process").
 *
 * The price of a cut is 3.5 log n in units of the noise's variance. If only levels are searched it
 * is 2.2 log n, because no slope then competes with a step; bench/changes.c counts the steps that
 * are found and those that are invented. The price of a slope is 6.6 (χ² with 1 degree of freedom
 * at 1 %). On noise alone either is paid in about one series of 100 (2.2 log n in one of 40). PELT
 * (Killick et al. 2012) would prune the search, but saves nothing on the usual series without cuts.
 * Instead, series of more than 2048 values are averaged in groups first. */
#include "stats/segments.h"

#include "assay/stats.h"
#include "stats/input.h"
#include "stats/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 2048, SHORTEST = 3, SHORTEST_SLOPE = 12, WINDOW = 7 };

static const double SLOPE_PRICE = 6.6, RHO_MAX = 0.9;
static const double MANY = 0.15;              /* 5 % outliers affect 10 % of the differences */
static const double MEDIAN_TO_SIGMA = 1.4826; /* for absolute values of a normal distribution */
static const double WITHIN_3_SIGMA = 0.9733;  /* variance of a normal distribution cut at 3 σ */

/* The result of prepare(). Values are standardised as (value − centre) × scale. */
typedef struct preparation {
    double centre, scale, rho, noise;
} preparation;

/* Sums over the first i values, so that the cost of any stretch takes the same few operations. */
typedef struct totals {
    double *value, *square, *product; /* product: value × index */
    double *first; /* not a sum: each value as the first of a stretch, times √(1 − ρ²) */
    double rho;
    double price;    /* of a cut */
    bool level_only; /* no stretch has a slope */
} totals;

/* The best way to cut the first i values. */
typedef struct cut {
    double cost;
    size_t begin; /* where its last segment begins */
    bool sloped;
} cut;

/* The median change of the values over this distance. `room` needs space for `count` values. */
static double median_change(const double *values, size_t count, size_t distance, double *room)
{
    for (size_t i = 0; i < count - distance; i++)
        room[i] = values[i + distance] - values[i];
    assay__stats_sort(room, count - distance);
    return assay__stats_sorted_median(room, count - distance);
}

/* The usual change from one value to the next: the smallest of the changes at three distances, if
 * all have the same sign. In series that alternate, or that rise and fall like a saw, most
 * neighbours change in the same way although nothing drifts. */
static double usual_change(const double *values, size_t count, double *room)
{
    double least = median_change(values, count, 1, room);
    for (size_t distance = 2; distance <= 3; distance++) {
        double change = median_change(values, count, distance, room) / (double)distance;
        if ((change > 0) != (least > 0))
            return 0;
        if (fabs(change) < fabs(least))
            least = change;
    }
    return least;
}

/* The noise where most differences are 0, as on a coarse clock: the usual deviation of a value that
 * is sometimes read as the neighbouring tick. No outlier counts for more than three times the ninth
 * decile or, if that is 0 too, the smallest step. The noise is at least 1/√12 of the distance
 * between two ticks, the uncertainty of a value between them. */
static double tick_noise(const double *sorted, size_t count)
{
    double step = 0, square = 0;
    for (size_t i = 0; i < count && !(step > 0); i++)
        step = sorted[i];
    double most = 3 * fmax(step, assay__stats_sorted_quantile(sorted, count, 0.9));
    for (size_t i = 0; i < count; i++)
        square += fmin(sorted[i], most) * fmin(sorted[i], most);
    return fmax(sqrt(square / (double)count / 2), step / sqrt(12));
}

/* The standard deviation of a difference of neighbours at this distance, divided by √2. `room`
 * needs space for `count` values. The median says which differences are noise; their mean square is
 * then more exact than the median. A change that they all share is not noise but a drift. If only
 * levels are searched and more than MANY of the differences are too large for noise, these are no
 * outliers: the values have two modes, as on a machine with two speeds, and going from one to the
 * other is part of the noise. */
static double difference_noise(const double *values, size_t count, size_t distance, bool level_only,
                               double *room)
{
    size_t differences = count - distance, kept = 0;
    double square = 0, change = usual_change(values, count, room) * (double)distance;
    for (size_t i = 0; i < differences; i++)
        room[i] = fabs(values[i + distance] - values[i] - change);
    assay__stats_sort(room, differences);
    double sigma = assay__stats_sorted_median(room, differences) * MEDIAN_TO_SIGMA;
    if (!(sigma > 0))
        return tick_noise(room, differences);
    for (; kept < differences && room[kept] <= 3 * sigma; kept++)
        square += room[kept] * room[kept];
    if (!level_only || (double)(differences - kept) <= MANY * (double)differences)
        return sqrt(square / (double)kept / WITHIN_3_SIGMA / 2);
    double most = assay__stats_sorted_quantile(room, differences, 0.95);
    square = 0;
    for (size_t i = 0; i < differences; i++)
        square += fmin(room[i], most) * fmin(room[i], most);
    return sqrt(square / (double)differences / 2);
}

/* The median of the window around `middle`. At the ends of the series the window lies to one side,
 * and the usual change corrects for this. Otherwise the ends of a steep drift would be cut off as
 * outliers and look level. */
static double running_median(const double *values, size_t count, size_t middle, double change)
{
    double window[WINDOW];
    size_t width = count < WINDOW ? count : WINDOW;
    size_t begin = middle < width / 2 ? 0 : middle - width / 2;
    if (begin + width > count)
        begin = count - width;
    memcpy(window, values + begin, width * sizeof *window);
    assay__stats_sort(window, width);
    double off = (double)middle - (double)begin - (double)(width - 1) / 2;
    return assay__stats_sorted_median(window, width) + change * off;
}

/* Find the noise and the correlation of the series, and write its values without outliers to
 * `target`. */
static preparation prepare(const double *values, size_t count, bool level_only, double *target,
                           double *room)
{
    preparation found = {.centre = values[count / 2]};
    memcpy(target, values, count * sizeof *target);
    if (count < 2 * SHORTEST)
        return found;
    double near = difference_noise(values, count, 1, level_only, room);
    double change = usual_change(values, count, room), clip = level_only ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        double middle = running_median(values, count, i, change);
        target[i] = fmin(fmax(values[i], middle - clip * near), middle + clip * near);
    }
    near = difference_noise(target, count, 1, level_only, room);
    double far = difference_noise(target, count, 2, level_only, room);
    if (near > 0)
        found.rho = fmin(fmax(far * far / (near * near) - 1, 0), RHO_MAX);
    /* A difference of neighbours has the variance 2 σ² (1 − ρ), an innovation has σ² (1 − ρ²). */
    found.noise = near / sqrt(1 - found.rho);
    found.scale = near > 0 ? 1 / (near * sqrt(1 + found.rho)) : 0;
    return found;
}

/* Compute the sums. Values are scaled so that innovations have variance 1. */
static void accumulate(const double *values, size_t count, const preparation *how, totals *sums)
{
    double before = 0, first_weight = sqrt(1 - how->rho * how->rho);
    sums->rho = how->rho;
    for (size_t i = 0; i < count; i++) {
        double now = (values[i] - how->centre) * how->scale, fresh = now - how->rho * before;
        sums->first[i] = first_weight * now;
        sums->value[i + 1] = sums->value[i] + fresh;
        sums->square[i + 1] = sums->square[i] + fresh * fresh;
        sums->product[i + 1] = sums->product[i] + fresh * (double)i;
        before = now;
    }
}

/* A line through a stretch, by the exact likelihood of an AR(1) around it: the first value counts
 * with weight √(1 − ρ²), the others after their autocorrelation is removed. */
typedef struct line {
    double level; /* the fit without a slope */
    double cost;  /* sum of squares around it */
    double slope; /* per value */
    double start; /* the sloped line at the first value */
    double gain;  /* reduction of the sum of squares by the slope */
} line;

static line fit_line(const totals *sums, size_t begin, size_t end)
{
    double rho = sums->rho, weight = 1 - rho, others = (double)(end - begin - 1);
    double first = sums->first[begin], first_weight = sqrt(1 - rho * rho);
    double value = sums->value[end] - sums->value[begin + 1];
    double square = sums->square[end] - sums->square[begin + 1];
    double product = sums->product[end] - sums->product[begin + 1] - (double)begin * value;
    /* Sums over the places 1 … others. The whitened places are weight × place + ρ. */
    double places = others * (others + 1) / 2, squares = places * (2 * others + 1) / 3;
    double cc = first_weight * first_weight + weight * weight * others;
    double cs = weight * (weight * places + rho * others);
    double ss = weight * weight * squares + 2 * rho * weight * places + rho * rho * others;
    double cy = first_weight * first + weight * value, sy = weight * product + rho * value;
    double across = ss - cs * cs / cc, along = sy - cs * cy / cc;
    line found = {.level = cy / cc, .cost = fmax(0, first * first + square - cy * cy / cc)};
    found.slope = across > 0 ? along / across : 0;
    found.start = (cy - found.slope * cs) / cc;
    found.gain = found.slope * along;
    return found;
}

/* The cost of fit_line alone. */
static double level_cost(const totals *sums, size_t begin, size_t end)
{
    double rho = sums->rho, weight = 1 - rho, others = (double)(end - begin - 1);
    double first = sums->first[begin], first_weight = sqrt(1 - rho * rho);
    double value = sums->value[end] - sums->value[begin + 1];
    double square = sums->square[end] - sums->square[begin + 1];
    double cy = first_weight * first + weight * value;
    double cc = first_weight * first_weight + weight * weight * others;
    return fmax(0, first * first + square - cy * cy / cc);
}

static double stretch_cost(const totals *sums, size_t begin, size_t end, bool *sloped)
{
    *sloped = false;
    if (sums->level_only)
        return level_cost(sums, begin, end);
    line found = fit_line(sums, begin, end);
    *sloped = end - begin >= SHORTEST_SLOPE && found.gain > SLOPE_PRICE;
    return *sloped ? fmax(0, found.cost - found.gain) + SLOPE_PRICE : found.cost;
}

static double cut_price(size_t count, bool level_only)
{
    return (level_only ? 2.2 : 3.5) * log((double)count);
}

static void find_cuts(const totals *sums, size_t count, cut *cuts)
{
    double price = sums->price;
    cuts[0] = (cut){.cost = -price};
    for (size_t end = 1; end <= count; end++) {
        cuts[end] = (cut){.cost = INFINITY};
        for (size_t begin = 0; begin < end; begin++) {
            if (begin > 0 && (end - begin < SHORTEST || begin < SHORTEST))
                continue;
            bool sloped;
            double cost = cuts[begin].cost + price + stretch_cost(sums, begin, end, &sloped);
            if (cost < cuts[end].cost)
                cuts[end] = (cut){cost, begin, sloped};
        }
    }
}

/* Join the last stretches into one slope where that is plausible. The last stretch is the one that
 * is called steady, so the cut before it needs more evidence: a single even slope across the cut
 * must be worse by twice the penalty. Otherwise autocorrelated noise around a slope would be taken
 * for a staircase. */
static void join_slopes(const totals *sums, size_t count, cut *cuts)
{
    double price = sums->price;
    while (cuts[count].begin > 0) {
        size_t begin = cuts[cuts[count].begin].begin;
        bool sloped;
        double joined = cuts[begin].cost + price + stretch_cost(sums, begin, count, &sloped);
        if (!sloped || joined > cuts[count].cost + price)
            return;
        cuts[count] = (cut){joined, begin, true};
    }
}

static assay__segment describe(const totals *sums, const preparation *how, cut last, size_t end)
{
    double back = how->scale > 0 ? 1 / how->scale : 0;
    line found = fit_line(sums, last.begin, end);
    double start = last.sloped ? found.start : found.level;
    double rise = last.sloped ? found.slope * (double)(end - last.begin - 1) : 0;
    return (assay__segment){.begin = last.begin,
                            .end = end,
                            .sloped = last.sloped,
                            .first = how->centre + start * back,
                            .last = how->centre + (start + rise) * back};
}

/* Follow the cuts back from the end. */
static assay_status collect(const totals *sums, const preparation *how, const cut *cuts,
                            size_t count, assay__segments *segments)
{
    size_t pieces = 0;
    for (size_t end = count; end > 0; end = cuts[end].begin)
        pieces++;
    segments->items = calloc(pieces, sizeof *segments->items);
    if (segments->items == NULL)
        return ASSAY_E_MEMORY;
    segments->count = pieces;
    segments->noise = how->noise;
    for (size_t end = count; end > 0; end = cuts[end].begin)
        segments->items[--pieces] = describe(sums, how, cuts[end], end);
    return ASSAY_OK;
}

static assay_status cut_points(const double *points, size_t count, bool level_only,
                               assay__segments *segments)
{
    assay_status status = ASSAY_E_MEMORY;
    size_t size = count + 1;
    double *room = calloc(5 * size, sizeof *room);
    cut *cuts = calloc(size, sizeof *cuts);
    segments->points = calloc(count, sizeof *segments->points);
    segments->point_count = count;
    if (room == NULL || cuts == NULL || segments->points == NULL)
        goto cleanup;
    totals sums = {room + size,
                   room + 2 * size,
                   room + 3 * size,
                   room + 4 * size,
                   0,
                   cut_price(count, level_only),
                   level_only};
    preparation how = prepare(points, count, level_only, segments->points, room);
    accumulate(segments->points, count, &how, &sums);
    find_cuts(&sums, count, cuts);
    join_slopes(&sums, count, cuts);
    status = collect(&sums, &how, cuts, count, segments);
cleanup:
    free(cuts);
    free(room);
    return status;
}

assay_status assay__segments_find(const double *values, size_t count, bool level_only,
                                  assay__segments *segments)
{
    size_t group = (count + POINTS_MAX - 1) / POINTS_MAX, points = count / group;
    *segments = (assay__segments){.group = group};
    if (group == 1)
        return cut_points(values, count, level_only, segments);
    double *means = calloc(points, sizeof *means);
    if (means == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < points * group; i++)
        means[i / group] += values[i] / (double)group;
    assay_status status = cut_points(means, points, level_only, segments);
    free(means);
    for (size_t i = 0; i < segments->count; i++) {
        segments->items[i].begin *= group;
        segments->items[i].end *= group;
    }
    if (segments->count > 0)
        segments->items[segments->count - 1].end = count;
    segments->noise *= sqrt((double)group);
    return status;
}

void assay__segments_release(assay__segments *segments)
{
    free(segments->items);
    free(segments->points);
    *segments = (assay__segments){0};
}

/* Find the first value of each stretch except the first. */
static assay_status find_begins(const double *values, size_t count, bool level_only, size_t *points,
                                size_t capacity, size_t *point_count)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    *point_count = 0;
    if (count == 0)
        return ASSAY_OK;
    assay__segments segments;
    assay_status status = assay__segments_find(values, count, level_only, &segments);
    if (status == ASSAY_OK) {
        for (size_t i = 1; i < segments.count && i - 1 < capacity; i++)
            points[i - 1] = segments.items[i].begin;
        *point_count = segments.count - 1;
    }
    assay__segments_release(&segments);
    return status;
}

assay_status assay__stats_change_points(const double *values, size_t count, size_t *points,
                                        size_t capacity, size_t *point_count)
{
    return find_begins(values, count, false, points, capacity, point_count);
}

assay_status assay_stats_find_steps(const double *values, size_t count, size_t *points,
                                    size_t capacity, size_t *point_count)
{
    return find_begins(values, count, true, points, capacity, point_count);
}
