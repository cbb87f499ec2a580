/* The cost of a span if reading the counter waits for all older work: every reading, also that of
 * the floor, follows a fence. So a processor that does not wait shows the cost on one that does. */
#if defined(__x86_64__)
#include <x86intrin.h>

static inline unsigned long long fenced_counter(void)
{
    _mm_lfence();
    return __rdtsc();
}
#define __rdtsc fenced_counter
#endif

#include "bench/span_cost.h"

int main(void)
{
    static const subject subjects[] = {
        {"span behind fences, one operation", 1.1, one_block, 0, 1, ENABLED},
        {"span behind fences, two siblings", 1.1, two_block, 0, 1, ENABLED},
        {"span behind fences, twenty siblings", 1.1, twenty_block, 0, 1, ENABLED},
        {"span behind fences, two threads", 1.1, one_block, 0, 2, ENABLED},
    };
#if !defined(__x86_64__)
    fprintf(stderr, "span_cost_fenced: for x86 only\n");
    return 77;
#endif
    int status = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        status |= measure(&subjects[i]);
    return status;
}
