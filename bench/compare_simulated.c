/* How often are identical subjects called different, and a slower one found? Simulated, with the
 * truth known: 10 000 comparisons of two series of 40 to 200 samples with memory, the same for
 * pairs, pairs with a true slowdown of 2 %, and what is left of both with 5 to 20 samples. */
#include <stdio.h>

#include "bench/compare_simulation.h"

static const size_t sizes[] = {40, 60, 100, 200}, few[] = {5, 10, 15, 20};
static const double correlations[] = {0, 0.3, 0.5, 0.8};
enum { SIZES = 4, CORRELATIONS = 4, REPLICATIONS = 10000 };

/* One figure, as tools/run-bench wants it. */
static bool show(const char *name, double value, double bar, bool below)
{
    bool ok = below ? value <= bar : value >= bar;
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%%\", \"bar\": %g, \"ok\": %s}\n", name,
           value, bar, ok ? "true" : "false");
    fflush(stdout);
    return ok;
}

/* Called different, in percent: over the whole grid, and in its worst cell. */
static void run_identical(bool paired, const size_t *counts, double *overall, double *worst)
{
    size_t different = 0;
    size_t each = REPLICATIONS / (SIZES * CORRELATIONS);
    *worst = 0;
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < CORRELATIONS; k++) {
            /* the worst cell needs more than its share to be seen */
            const simulation it = {counts[i], correlations[k], 0.05, 0, paired};
            simulation_counts grid = simulation_run(&it, each, 1000 + 16 * i + k);
            simulation_counts cell = simulation_run(&it, REPLICATIONS, 2000 + 16 * i + k);
            double share = 100.0 * (double)(cell.faster + cell.slower) / REPLICATIONS;
            different += grid.faster + grid.slower;
            fprintf(stderr, "  %s, %3zu samples, correlation %.1f: %.2f %% called different\n",
                    paired ? "pairs" : "series", counts[i], correlations[k], share);
            *worst = share > *worst ? share : *worst;
        }
    *overall = 100.0 * (double)different / (double)(each * SIZES * CORRELATIONS);
}

static double found(const simulation *it, size_t replications)
{
    return 100.0 * (double)simulation_run(it, replications, 7).slower / (double)replications;
}

/* Slowdowns that few samples of 2 % noise show; no bar, this is what the caution costs. */
static void show_power(void)
{
    static const double slowdowns[] = {0.05, 0.1, 0.2};
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < sizeof slowdowns / sizeof *slowdowns; k++) {
            const simulation series = {few[i], 0, 0.02, slowdowns[k], false};
            const simulation pairs = {few[i], 0, 0.02, slowdowns[k], true};
            fprintf(stderr,
                    "  %2zu samples, %2.0f %% slower: found %.1f %% in series, %.1f in pairs\n",
                    few[i], 100 * slowdowns[k], found(&series, 2000), found(&pairs, 2000));
        }
}

int main(void)
{
    double overall, worst;
    bool ok = true;
    run_identical(false, sizes, &overall, &worst);
    ok &= show("identical series called different, 10000 of 40 to 200 samples, correlation to 0.8",
               overall, 1, true);
    ok &= show("the same, worst of 16 cells", worst, 1, true);
    run_identical(true, sizes, &overall, &worst);
    ok &= show("identical pairs called different, 10000 of 40 to 200 pairs, correlation to 0.8",
               overall, 1, true);
    ok &= show("the same, worst of 16 cells", worst, 1, true);
    run_identical(false, few, &overall, &worst);
    ok &= show("identical series of 5 to 20 samples, worst of 16 cells", worst, 1, true);
    run_identical(true, few, &overall, &worst);
    ok &= show("identical pairs, 5 to 20 of them, worst of 16 cells", worst, 1, true);
    show_power();
    const simulation slow = {1000, 0, 0.05, 0.02, true}; /* 10 s of pairs of 5 ms */
    const simulation slow_correlated = {1000, 0.3, 0.05, 0.02, true};
    ok &= show("2 % slowdown found, 1000 pairs, 5 % paired noise", found(&slow, 2000), 90, false);
    ok &= show("the same, correlation 0.3", found(&slow_correlated, 2000), 90, false);
    return ok ? 0 : 1;
}
