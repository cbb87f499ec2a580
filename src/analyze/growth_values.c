/* Groups times by size and sets outliers aside.
 *
 * A disturbance of the machine makes one of several repeats slow. A value is set aside if it is
 * further from the median of its size than five robust standard deviations (median absolute
 * deviation, Hampel 1974), both by the deviations of all sizes together and by those of its own
 * size. Noise that is merely heavy-tailed must not look calm: if more than a quarter of the values
 * lie that far out, all are kept. */
#include <math.h>
#include <stdlib.h>

#include "analyze/growth.h"
#include "base/error.h"
#include "stats/sorted.h"

enum { MIN_REPEATS = 3 };               /* needed for a median that one value cannot move */
static const double MAD_TO_SD = 1.4826; /* for a normal distribution */
static const double OUTLIER_SD = 5;
static const double OUTLIER_SHARE = 0.25;

typedef struct pair {
    double n, seconds, log_seconds;
} pair;

static int by_size_then_time(const void *left, const void *right)
{
    const pair *a = left, *b = right;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return (a->log_seconds > b->log_seconds) - (a->log_seconds < b->log_seconds);
}

static size_t group_length(const pair *first, size_t left)
{
    size_t length = 1;
    while (length < left && first[length].n == first->n)
        length++;
    return length;
}

static double group_median(const pair *first, size_t length)
{
    return 0.5 * (first[(length - 1) / 2].log_seconds + first[length / 2].log_seconds);
}

/* The distance from the median of its size beyond which a value is an outlier. Infinite if none is.
 */
static double outlier_distance(const pair *pairs, size_t count, double *deviations)
{
    size_t used = 0, outside = 0;
    for (size_t i = 0, length; i < count; i += length) {
        length = group_length(pairs + i, count - i);
        double median = group_median(pairs + i, length);
        for (size_t j = 0; length >= MIN_REPEATS && j < length; j++)
            if (length % 2 == 0 || j != length / 2) /* the median itself does not deviate */
                deviations[used++] = fabs(pairs[i + j].log_seconds - median);
    }
    if (used == 0)
        return INFINITY;
    assay__stats_sort(deviations, used);
    double middle = assay__stats_sorted_median(deviations, used);
    double distance = OUTLIER_SD * fmax(MAD_TO_SD * middle, ASSAY__GROWTH_LEAST_NOISE);
    while (outside < used && deviations[used - 1 - outside] > distance)
        outside++;
    return (double)outside > OUTLIER_SHARE * (double)count ? INFINITY : distance;
}

/* The same distance by the deviations of one size alone, so that a size whose values all scatter
 * has no outliers. Of two middle deviations the smaller one counts, because with three repeats the
 * larger one belongs to the suspected outlier. */
static double own_distance(const pair *first, size_t length, double *deviations)
{
    double median = group_median(first, length);
    size_t used = 0;
    for (size_t j = 0; j < length; j++)
        if (length % 2 == 0 || j != length / 2)
            deviations[used++] = fabs(first[j].log_seconds - median);
    assay__stats_sort(deviations, used);
    return used == 0 ? 0 : OUTLIER_SD * MAD_TO_SD * deviations[(used - 1) / 2];
}

/* Take one size: its row in `growth`, and its mean without outliers. */
static void take_group(assay__growth_values *values, const pair *first, size_t length,
                       double distance, double *deviations, assay_growth_size *size)
{
    double median = group_median(first, length), mean = 0, squares = 0, kept = 0;
    distance = fmax(distance, own_distance(first, length, deviations));
    for (size_t j = 0; j < length; j++) {
        double value = first[j].log_seconds;
        if (length >= MIN_REPEATS && fabs(value - median) > distance) {
            values->outlier_count++;
            continue;
        }
        double change = value - mean;
        kept++;
        mean += change / kept;
        squares += change * (value - mean);
    }
    size_t i = values->count++;
    values->log_n[i] = log(first->n);
    values->mean_log[i] = mean;
    values->weight[i] = kept;
    values->value_count += kept;
    values->within_squares += squares;
    *size = (assay_growth_size){
        .n = first->n,
        .count = length,
        .median_seconds = 0.5 * (first[(length - 1) / 2].seconds + first[length / 2].seconds),
    };
}

static size_t count_sizes(const pair *pairs, size_t count)
{
    size_t sizes = 0;
    for (size_t i = 0; i < count; i += group_length(pairs + i, count - i))
        sizes++;
    return sizes;
}

static assay_status allocate(assay__growth_values *values, size_t sizes, assay_growth *growth)
{
    double *numbers = calloc(6 * sizes, sizeof *numbers);
    growth->sizes = calloc(sizes, sizeof *growth->sizes);
    values->log_n = numbers;
    if (numbers == NULL || growth->sizes == NULL)
        return ASSAY_E_MEMORY;
    values->mean_log = numbers + sizes;
    values->weight = numbers + 2 * sizes;
    values->scratch = numbers + 3 * sizes;
    return ASSAY_OK;
}

static assay_status group(assay__growth_values *values, const pair *pairs, size_t count,
                          double *deviations, assay_error *error, assay_growth *growth)
{
    size_t sizes = count_sizes(pairs, count);
    if (sizes > ASSAY_GROWTH_MAX_SIZES)
        return assay__fail(error, ASSAY_E_LIMIT,
                           "%zu different sizes; at most %d can be fitted, take a part of them",
                           sizes, ASSAY_GROWTH_MAX_SIZES);
    if (allocate(values, sizes, growth) != ASSAY_OK)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %zu sizes", sizes);
    double distance = outlier_distance(pairs, count, deviations);
    for (size_t i = 0, length; i < count; i += length) {
        length = group_length(pairs + i, count - i);
        take_group(values, pairs + i, length, distance, deviations, &growth->sizes[values->count]);
    }
    growth->size_count = values->count;
    growth->value_count = count;
    growth->outlier_count = values->outlier_count;
    return ASSAY_OK;
}

assay_status assay__growth_values_init(assay__growth_values *values, const double *sizes,
                                       const double *seconds, size_t count, assay_error *error,
                                       assay_growth *growth)
{
    *values = (assay__growth_values){0};
    if (count == 0)
        return ASSAY_OK;
    pair *pairs = calloc(count, sizeof *pairs);
    double *deviations = calloc(count, sizeof *deviations);
    assay_status status = ASSAY_OK;
    if (pairs == NULL || deviations == NULL) {
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory for %zu values", count);
        goto cleanup;
    }
    for (size_t i = 0; i < count; i++)
        pairs[i] = (pair){sizes[i], seconds[i], log(seconds[i])};
    qsort(pairs, count, sizeof *pairs, by_size_then_time);
    status = group(values, pairs, count, deviations, error, growth);

cleanup:
    free(pairs);
    free(deviations);
    return status;
}

void assay__growth_values_release(assay__growth_values *values)
{
    free(values->log_n);
    *values = (assay__growth_values){0};
}

assay__fit_points assay__growth_points(const assay__growth_values *values)
{
    return (assay__fit_points){.log_x = values->log_n,
                               .mean_log_y = values->mean_log,
                               .weight = values->weight,
                               .count = values->count};
}
