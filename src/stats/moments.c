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
