/* Measures pairs of lttng-ust tracepoints around nothing, beside two bare readings of the counter:
 * the same floor as in bench/span_cost.h. bench/lttng.sh builds this program. It prints the median
 * of the blocks' ratios. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/peers/lttng_events.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EVENTS = 1000, ROUNDS = 1001 };

static __thread volatile uint64_t sink;

static uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static double ratios[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = ticks();
        for (int i = 0; i < EVENTS; i++) {
            uint64_t begin = ticks();
            __asm__ volatile("" ::: "memory");
            sink = ticks() - begin;
        }
        uint64_t middle = ticks();
        for (int i = 0; i < EVENTS; i++) {
            lttng_ust_tracepoint(assay_bench, begin, i);
            __asm__ volatile("" ::: "memory");
            lttng_ust_tracepoint(assay_bench, end, i);
        }
        ratios[round] = (double)(ticks() - middle) / (double)(middle - start);
    }
    qsort(ratios, ROUNDS, sizeof *ratios, compare);
    printf("%.3f\n", ratios[ROUNDS / 2]);
    return 0;
}
