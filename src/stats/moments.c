/* Computes moments without cancellation: deviations are taken from a value near the mean before
 * they are squared. */
#include "stats/moments.h"

#include <math.h>

assay__moments assay__moments_from_shifted(uint64_t count, double shift, double deviation_sum,
                                           double deviation_square_sum)
{
    assay__moments moments = {.count = count};
    if (count == 0)
        return moments;
    double offset = deviation_sum / (double)count;
    moments.mean = shift + offset;
    moments.square_sum = fmax(0.0, deviation_square_sum - deviation_sum * offset);
    return moments;
}

assay__moments assay__sample_moments(const double *values, size_t count)
{
    double mean = 0, rest = 0, square = 0, n = (double)count;
    if (count == 0)
        return (assay__moments){0};
    for (size_t i = 0; i < count; i++)
        mean += values[i] / n;
    for (size_t i = 0; i < count; i++) {
        rest += values[i] - mean;
        square += (values[i] - mean) * (values[i] - mean);
    }
    return (assay__moments){
        .count = count, .mean = mean + rest / n, .square_sum = fmax(0, square - rest * rest / n)};
}

void assay__moments_merge(assay__moments *into, assay__moments other)
{
    if (other.count == 0)
        return;
    double n = (double)into->count, m = (double)other.count;
    double delta = other.mean - into->mean;
    into->square_sum += other.square_sum + delta * delta * n * m / (n + m);
    into->mean += delta * m / (n + m);
    into->count += other.count;
}

double assay__moments_deviation(assay__moments moments)
{
    return moments.count < 2 ? 0.0 : sqrt(moments.square_sum / (double)(moments.count - 1));
}
