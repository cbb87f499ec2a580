/* How well the begin of the steady state is found.
 *
 * Bars: on series with a warm-up, a step, a drift, a decay or none of these, the boundary is found
 * within 5 values in 90 % of the series, and "steady" is claimed falsely in at most 5 %. Levels
 * that come and go, the teeth of a saw and random walks are recognised as not steady in 90 %.
 *
 *     steady [REPLICATIONS] */
#include "bench/steady.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    size_t replications = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
    for (size_t i = 0; i < STEADY_CASES; i++) {
        steady_result result;
        if (steady_measure(&steady_cases[i], replications, &result) != 0)
            return 1;
        printf("{\"name\": \"steady state found, %s\", \"value\": %.1f, \"unit\": \"%%\", "
               "\"bar\": 90, \"ok\": %s}\n",
               steady_cases[i].name, result.found_percent,
               result.found_percent >= 90 ? "true" : "false");
        printf("{\"name\": \"steady claimed falsely, %s\", \"value\": %.1f, \"unit\": \"%%\", "
               "\"bar\": 5, \"ok\": %s}\n",
               steady_cases[i].name, result.false_percent,
               result.false_percent <= 5 ? "true" : "false");
    }
    return 0;
}
