/* How often intervals cover the mean after adaptive stopping.
 *
 * Bars: of 10 000 replications in each case, 95 % intervals cover the mean in 94 to 97 % if the
 * values are independent or an autoregression, and in 92 to 97 % in other noise; a series also
 * counts if it is flagged, that is, if the summary says that its interval cannot be trusted. At
 * most 10 % of series of independent values are flagged. Stopping takes at most 1.2 times the
 * values of an oracle that knows the noise, if the oracle needs more than the 200 values that are
 * always taken.
 *
 *     coverage [REPLICATIONS] */
#include "bench/coverage.h"

#include <stdio.h>

static void print_figure(const char *what, const char *name, double value, double bar, int ok)
{
    printf("{\"name\": \"%s, %s\", \"value\": %.2f, \"unit\": \"%%\", \"bar\": %g, \"ok\": "
           "%s}\n",
           what, name, value, bar, ok ? "true" : "false");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    size_t replications = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    double oracle_ratio = NAN;
    for (size_t i = 0; i < COVERAGE_CASES; i++) {
        const coverage_case *what = &coverage_cases[i];
        coverage_result result;
        if (coverage_measure(what, replications, &result) != 0)
            return 1;
        print_figure("covered or flagged", what->name, result.safe_percent, what->bar,
                     result.safe_percent >= what->bar && result.covered_percent <= 97);
        if (what->kind == COVERAGE_NORMAL)
            print_figure("flagged", what->name, result.flagged_percent, 10,
                         result.flagged_percent <= 10);
        fprintf(stderr, "%-34s %6.2f %% covered, %5.1f %% flagged, %.0f values, oracle %.0f\n",
                what->name, result.covered_percent, result.flagged_percent, result.mean_count,
                result.oracle_count);
        if (i == 0)
            oracle_ratio = result.mean_count / result.oracle_count;
    }
    printf("{\"name\": \"values until 1 %% precision, against an oracle's\", \"value\": %.3f, "
           "\"unit\": \"x\", \"bar\": 1.2, \"ok\": %s}\n",
           oracle_ratio, oracle_ratio <= 1.2 ? "true" : "false");
    return 0;
}
