/* A loop that loads and stores as fast as the processor can, because such work suffers from all
 * that slows a processor down: a lower frequency, and another thread on the same core. A chain of
 * operations that wait for each other would not notice the other thread.
 *
 * Two builds must take the same time, although their code lies elsewhere. Without a fixed alignment
 * of the code they did not: one took 10 microseconds and the other 19, because its loop crossed a
 * line of the instruction cache. */
#include "sampling/yardstick.h"

#include <math.h>

enum { VALUES = 1024, REPEATS = 16, PARTS = 4 };

__attribute__((noinline, aligned(64))) static void work(double *values)
{
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        __asm__ volatile("" : : "r"(values) : "memory"); /* not to be computed beforehand */
        for (int i = 0; i < VALUES; i++)
            values[i] = values[i] * 0.999 + 0.5;
    }
}

/* The least part counts: an interrupt takes microseconds, and says nothing about the speed. */
double assay__yardstick_seconds(const assay_clock *clock)
{
    _Alignas(64) double values[VALUES];
    double least = INFINITY;
    for (int i = 0; i < VALUES; i++)
        values[i] = i;
    for (int part = 0; part < PARTS; part++) {
        uint64_t start = assay_clock_now_ns(clock);
        work(values);
        uint64_t end = assay_clock_now_ns(clock);
        least = fmin(least, end > start ? (double)(end - start) * 1e-9 : INFINITY);
    }
    return isfinite(least) ? PARTS * least : 0;
}
