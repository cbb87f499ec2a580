/* The bar: 95 % intervals after adaptive stopping cover in 94 to 97 % of 10 000 replications a
 * case, and stopping takes at most 1.2 times the values of an oracle that knows the noise. coverage
 * [REPLICATIONS] */
#include "bench/coverage.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    size_t replications = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    double oracle_ratio = NAN;
    for (size_t i = 0; i < COVERAGE_CASES; i++) {
        const coverage_case *what = &coverage_cases[i];
        coverage_result result;
        if (coverage_measure(what, replications, &result) != 0)
            return 1;
        int ok = result.covered_percent >= 94 && result.covered_percent <= 97;
        printf("{\"name\": \"coverage (94 to 97), %s\", \"value\": %.2f, \"unit\": \"%%\", "
               "\"bar\": 94, \"ok\": %s}\n",
               what->name, result.covered_percent, ok ? "true" : "false");
        fprintf(stderr, "%-34s %6.2f %%, %.0f values, oracle %.0f\n", what->name,
                result.covered_percent, result.mean_count, result.oracle_count);
        if (i == 0)
            oracle_ratio = result.mean_count / result.oracle_count;
    }
    printf("{\"name\": \"values until 1 %% precision, against an oracle's\", \"value\": %.3f, "
           "\"unit\": \"x\", \"bar\": 1.2, \"ok\": %s}\n",
           oracle_ratio, oracle_ratio <= 1.2 ? "true" : "false");
    return 0;
}
