#include "stats/sample.h"

#include <math.h>

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
