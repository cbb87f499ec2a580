/* The yardstick is a loop that loads and stores as fast as the processor can. Everything that slows
 * a processor down affects such work: a lower frequency as well as another thread on the same core.
 * A chain of dependent operations would not be affected by the other thread.
 *
 * Two builds must take the same time, although their code is at different addresses. Without a
 * fixed alignment of the code they did not: one build took 10 microseconds and another one 19,
 * because its loop crossed a line of the instruction cache. */
#include "sampling/yardstick.h"

#include <math.h>

enum { VALUES = 1024, REPEATS = 16, PARTS = 4 };

__attribute__((noinline, aligned(64))) static void work(double *values)
{
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        __asm__ volatile("" : : "r"(values) : "memory"); /* the compiler must not precompute it */
        for (int i = 0; i < VALUES; i++)
            values[i] = values[i] * 0.999 + 0.5;
    }
}

/* The work is timed in parts, and the shortest part counts for all. An interrupt in one part takes
 * microseconds and says nothing about the speed of the machine. */
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
