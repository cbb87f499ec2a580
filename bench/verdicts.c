/* The operating characteristic of verdicts, simulated with the truth known: how often are equals
 * called different, and how many samples does it take to see a difference, against an oracle that
 * knows the noise?
 *
 *     verdicts [REPLICATIONS]        default 2000; 10000 take some 20 minutes
 *
 * The oracle takes a fixed number of samples, knows kind and size of the noise, and says "slower"
 * if the 99 % interval of the ratio lies beyond the margin of 1 %. An efficiency is its number of
 * samples for 90 % power over ours: over our mean number where samples are taken until they answer,
 * and for series that are given over the number at which we have 90 % power, found between sizes.
 */
#include <stdio.h>
#include <string.h>

#include "bench/verdict_simulation.h"

static size_t replications = 2000;

static bool show(const char *name, double value, const char *unit, double bar, bool below)
{
    bool ok = below ? value <= bar : value >= bar;
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"bar\": %g, \"ok\": %s}\n", name,
           value, unit, bar, ok ? "true" : "false");
    fflush(stdout);
    return ok;
}

static double called_different(const simulation *it, uint64_t seed)
{
    simulation_counts counts = simulation_run(it, replications, seed);
    return 100 * (simulation_share(&counts, ASSAY_VERDICT_FASTER) +
                  simulation_share(&counts, ASSAY_VERDICT_SLOWER));
}

static double found(const simulation *it, size_t runs, uint64_t seed, double *pairs)
{
    simulation_counts counts = simulation_run(it, runs, seed);
    if (pairs != NULL)
        *pairs = counts.pairs;
    return simulation_share(&counts, ASSAY_VERDICT_SLOWER);
}

/* ---- the oracle ---- */

/* The variance of the mean of n values of noise of size 1, times n, as an estimator that knows the
 * kind reaches it: for t with 3 degrees of freedom and for spikes that of the best estimator. */
static double known_variance(noise_kind kind, double n)
{
    double rho = kind == NOISE_STICKY ? 0.8 : noise_correlation(kind), white = 0, size = 1;
    if (kind == NOISE_T3)
        return 0.5;
    if (kind == NOISE_SPIKES)
        return 0.36 / 0.95;
    if (kind == NOISE_BIMODAL)
        return 0.84 + 0.09;
    if (kind == NOISE_STICKY) {
        size = 0.9025 + 0.09;
        white = 0.09 / size;
    }
    if (kind == NOISE_MIXTURE)
        white = 0.7;
    double sum = 1;
    for (double k = 1; k < n; k++)
        sum += 2 * (1 - k / n) * (1 - white) * pow(rho, k);
    return size * sum;
}

static const double NEEDED = 2.5758 + 1.2816; /* errors: 99 % two-sided, and 90 % power */

/* The slowdown that the oracle finds in 90 % with n samples of each. */
static double findable(noise_kind kind, double n, double size)
{
    double error = size * sqrt(2 * known_variance(kind, n) / n);
    return expm1(log(1.01) + NEEDED * error);
}

/* Pairs take turns in slots: the variance of a pair's log ratio, as it is met. */
static double pair_variance(noise_kind kind)
{
    enum { BLOCKS = 20000 };
    noise source = noise_begin(kind, 1);
    double sum = 0;
    if (kind == NOISE_T3 || kind == NOISE_SPIKES)
        return 2 * known_variance(kind, 1);
    for (int i = 0; i < BLOCKS; i++) {
        double a = noise_next(&source), b = noise_next(&source), c = noise_next(&source),
               d = noise_next(&source);
        double block = (a - b - c + d) / 2; /* mean of two pairs */
        sum += 2 * block * block / BLOCKS;
    }
    return sum;
}

/* ---- the figures ---- */

static bool equals(bool paired)
{
    static const size_t sizes[] = {20, 40, 60, 80, 200};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    double worst = 0, sticky = 0, few = 0, many = 0;
    fprintf(stderr, "\nequals called different, %% (%s), noise 5 %% and 20 %%\n%-16s",
            paired ? "taking turns" : "one after the other", "");
    for (size_t i = 0; i < SIZES; i++)
        fprintf(stderr, "      n = %-5zu", sizes[i]);
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        fprintf(stderr, "\n%-16s", noise_names[kind]);
        for (size_t i = 0; i < SIZES; i++) {
            simulation it = {(noise_kind)kind, sizes[i], 0.05, 0, paired, 0};
            double small = called_different(&it, 11 * i + 1);
            it.size = 0.2;
            double large = called_different(&it, 11 * i + 2);
            fprintf(stderr, "  %5.2f %5.2f", small, large);
            if (kind == NOISE_MIXTURE)
                *(sizes[i] < 80 ? &few : &many) = fmax(sizes[i] < 80 ? few : many, small);
            else if (kind == NOISE_STICKY && sizes[i] < 80)
                sticky = fmax(sticky, small);
            else
                worst = fmax(worst, small);
        }
    }
    fputc('\n', stderr);
    bool ok = show(paired ? "equals that took turns called different, worst of 40 cells"
                          : "equals one after the other called different, worst of 37 cells",
                   paired ? fmax(worst, sticky) : worst, "%", 1, true);
    if (!paired)
        ok &= show("... sticky levels, fewer than 80 samples", sticky, "%", 1.5, true);
    ok &= show("... white and AR 0.9, 20 to 60 samples", few, "%", paired ? 1 : 3, true);
    return show("... white and AR 0.9, from 80 samples on", many, "%", 1, true) && ok;
}

static bool equals_until_answered(void)
{
    double worst = 0, edge = 0;
    fprintf(stderr,
            "\ntaking turns until there is an answer, 200 pairs at most, noise 5 %%\n"
            "%-16s  different    same  slower at the margin\n",
            "");
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        simulation it = {(noise_kind)kind, 0, 0.05, 0, true, 200};
        simulation_counts counts = simulation_run(&it, replications, 31);
        double different = 100 * (simulation_share(&counts, ASSAY_VERDICT_FASTER) +
                                  simulation_share(&counts, ASSAY_VERDICT_SLOWER));
        it.slowdown = 0.01;
        double slower = 100 * found(&it, replications, 32, NULL);
        fprintf(stderr, "%-16s  %9.2f  %6.1f  %20.2f\n", noise_names[kind], different,
                100 * simulation_share(&counts, ASSAY_VERDICT_SAME), slower);
        worst = fmax(worst, different);
        edge = fmax(edge, slower);
    }
    bool ok =
        show("equals called different, looked at until answered, worst of 9", worst, "%", 1, true);
    return show("'slower' at a true 1.01, worst of 9", edge, "%", 0.8, true) && ok;
}

static bool efficiency_of_turns(void)
{
    static const double sizes[] = {20, 50, 200};
    size_t runs = replications / 10 > 50 ? replications / 10 : 50;
    double worst = INFINITY;
    fprintf(stderr,
            "\ntaking turns: efficiency (power %%) where an oracle needs so many pairs\n"
            "%-16s          20          50         200\n",
            "");
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        double variance = pair_variance((noise_kind)kind);
        fprintf(stderr, "%-16s", noise_names[kind]);
        for (int i = 0; i < 3; i++) {
            double slowdown = expm1(log(1.01) + NEEDED * 0.05 * sqrt(variance / sizes[i])), pairs;
            simulation it = {(noise_kind)kind, 0, 0.05, slowdown, true, (size_t)(20 * sizes[i])};
            double power = found(&it, runs, 41, &pairs), efficiency = sizes[i] / pairs;
            fprintf(stderr, "  %4.2f (%3.0f)", efficiency, 100 * power);
            worst = fmin(worst, power >= 0.9 ? efficiency : 0);
        }
        fputc('\n', stderr);
    }
    simulation tenth = {NOISE_INDEPENDENT, 0, 0.05, 0.1, true, 1000};
    double pairs;
    found(&tenth, runs, 42, &pairs);
    bool ok = show("efficiency of taking turns, worst of 27 cells", worst, "x", 0.75, false);
    return show("pairs for a slowdown of 10 % in 5 % noise, mean", pairs, "", 40, true) && ok;
}

/* Our number of samples for 90 % power, where the oracle needs n: tried at growing sizes, between
 * which the power is taken to grow evenly. */
static double samples_needed(noise_kind kind, double n)
{
    size_t runs = replications / 4 > 100 ? replications / 4 : 100;
    double slowdown = findable(kind, n, 0.05), before = 0, at = n * 0.8;
    for (double size = n; size < 8 * n; size *= 1.15) {
        simulation it = {kind, (size_t)size, 0.05, slowdown, false, 0};
        double power = found(&it, runs, 51, NULL);
        if (power >= 0.9)
            return at + (size - at) * (power > before ? (0.9 - before) / (power - before) : 1);
        before = power;
        at = size;
    }
    return INFINITY;
}

static bool efficiency_of_series(void)
{
    static const double sizes[] = {20, 50, 100, 200};
    double worst[3] = {INFINITY, INFINITY, INFINITY};
    fprintf(stderr,
            "\none after the other: efficiency where an oracle needs so many samples\n"
            "%-16s     20     50    100    200\n",
            "");
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        fprintf(stderr, "%-16s", noise_names[kind]);
        for (int i = 0; i < 4; i++) {
            double needed = samples_needed((noise_kind)kind, sizes[i]), reached = sizes[i] / needed;
            int row = kind == NOISE_INDEPENDENT && needed >= 200 ? 2 : needed >= 100;
            fprintf(stderr, "  %5.2f", reached);
            if (kind != NOISE_MIXTURE)
                worst[row] = fmin(worst[row], reached);
        }
        fputc('\n', stderr);
    }
    bool ok = show("efficiency of series, from 20 samples on, worst", worst[0], "x", 0.5, false);
    ok &= show("... from 100 samples on", worst[1], "x", 0.65, false);
    return show("... independent, from 200 samples on", worst[2], "x", 0.9, false) && ok;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        replications = (size_t)strtoul(argv[1], NULL, 10);
    bool ok = equals(true);
    ok &= equals(false);
    ok &= equals_until_answered();
    ok &= efficiency_of_turns();
    ok &= efficiency_of_series();
    return ok ? 0 : 1;
}
