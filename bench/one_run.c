/* A single run compared with several runs: how often is an equal run called different, and how
 * large must a slowdown be to be found?
 *
 *     one_run [REPLICATIONS]      default 4000, which take some seconds
 *
 * `assay compare` takes the spread of the several runs for the spread of the single one (a
 * prediction interval). The simulated runs spread by 5 %, each with noise of its own. The oracle
 * knows the spread. It says "slower" if the run exceeds the margin of 1 % by the distance that 99 %
 * of equals stay within. The slowdowns are those that the oracle finds in 90 %.
 *
 * The interval assumes that runs spread normally, and the bars are for such runs. No rule can meet
 * the bars if one run in twenty is disturbed as a whole, if tails are heavy, or if a machine has
 * two speeds and five runs met one of them. Such cases are shown without a bar. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/verdict_simulation.h"

static const double SPREAD = 0.05;

/* The percentage of the replications with one of two verdicts. */
static double share(noise_kind kind, size_t runs, double slowdown, size_t replications,
                    assay_verdict one, assay_verdict other)
{
    uint64_t seed = 1 + runs;
    size_t hits = 0;
    for (size_t i = 0; i < replications; i++) {
        assay_verdict verdict = simulate_one_run(kind, runs, SPREAD, slowdown, &seed);
        hits += verdict == one || verdict == other;
    }
    return 100 * (double)hits / (double)replications;
}

/* Prints a figure. Its bar is null if `bar` is NaN. */
static bool show(const char *name, size_t runs, noise_kind kind, double value, double bar,
                 bool below)
{
    bool ok = isnan(bar) || (below ? value <= bar : value >= bar);
    char text[32] = "null";
    if (!isnan(bar))
        snprintf(text, sizeof text, "%g", bar);
    printf(
        "{\"name\": \"one run against %zu, %s, %s\", \"value\": %.2f, \"unit\": \"%%\", \"bar\": "
        "%s, \"ok\": %s}\n",
        runs, noise_names[kind], name, value, text, ok ? "true" : "false");
    fflush(stdout);
    return ok;
}

int main(int argc, char **argv)
{
    static const noise_kind kinds[] = {NOISE_INDEPENDENT, NOISE_SPIKES, NOISE_BIMODAL, NOISE_STICKY,
                                       NOISE_T3};
    static const size_t counts[] = {5, 10, SIMULATED_RUNS_MOST};
    /* The power that Student's quantile leaves with 4, 9 and 19 degrees of freedom, less an
     * allowance for chance. */
    static const double powers[] = {38, 67, 79};
    size_t replications = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 4000;
    bool ok = replications > 0;
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            bool normal = kinds[k] == NOISE_INDEPENDENT;
            double error = SPREAD * sqrt(1 + 1 / (double)counts[n]);
            double findable = expm1(log(1.01) + (2.5758 + 1.2816) * error);
            double alarms = share(kinds[k], counts[n], 0, replications, ASSAY_VERDICT_SLOWER,
                                  ASSAY_VERDICT_FASTER);
            double power = share(kinds[k], counts[n], findable, replications, ASSAY_VERDICT_SLOWER,
                                 ASSAY_VERDICT_SLOWER);
            ok &= show("equals called different", counts[n], kinds[k], alarms, normal ? 1 : NAN,
                       true);
            ok &= show("named where an oracle names 90 %", counts[n], kinds[k], power,
                       normal ? powers[n] : NAN, false);
        }
    return ok ? 0 : 1;
}
