/* The cost of a span in ordinary use. span_cost.h describes the method. */
#include "bench/span_cost.h"

int main(void)
{
    static const subject subjects[] = {
        {"span, one operation", 1.2, one_block, 0, 1, ENABLED},
        {"span, two siblings alternating", 1.2, two_block, 0, 1, ENABLED},
        {"span, twenty siblings alternating", 1.2, twenty_block, 0, 1, ENABLED},
        {"span, two threads", 1.2, one_block, 0, 2, ENABLED},
        {"span, twenty siblings, two threads", 1.2, twenty_block, 0, 2, ENABLED},
        {"span, event ring on", 1.3, one_block, 65536, 1, ENABLED},
        {"span, event ring on, twenty siblings", 1.3, twenty_block, 65536, 1, ENABLED},
        {"span, monitor disabled", 0.3, one_block, 0, 1, DISABLED},
        {"span, monitor NULL", 0.3, one_block, 0, 1, ABSENT},
    };
    int status = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        status |= measure(&subjects[i]);
    return status;
}
