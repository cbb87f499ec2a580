/* Random numbers for simulated series, reproducible from any seed. */
#ifndef ASSAY_BENCH_DRAW_H
#define ASSAY_BENCH_DRAW_H

#include <math.h>
#include <stdint.h>

/* A uniform number in (0, 1), by splitmix64 (Steele, Lea and Flood 2014). */
static inline double draw_uniform(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* A standard normal number, by the method of Box and Muller (1958). */
static inline double draw_normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(draw_uniform(seed)));
    return radius * cos(6.283185307179586 * draw_uniform(seed));
}

#endif
