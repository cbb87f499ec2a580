#include "sampling/yardstick.h"

enum { VALUES = 1024, REPEATS = 64 };

double assay__yardstick_seconds(const assay_clock *clock)
{
    double values[VALUES];
    volatile double sink;
    double sum = 0;
    uint64_t start = assay_clock_now_ns(clock);
    for (int i = 0; i < VALUES; i++)
        values[i] = i;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        __asm__ volatile("" : "+m"(values)); /* not to be computed beforehand */
        for (int i = 0; i < VALUES; i++)
            values[i] = values[i] * 0.999 + 0.5;
    }
    for (int i = 0; i < VALUES; i++)
        sum += values[i];
    sink = sum;
    (void)sink;
    uint64_t end = assay_clock_now_ns(clock);
    return end > start ? (double)(end - start) * 1e-9 : 0;
}
