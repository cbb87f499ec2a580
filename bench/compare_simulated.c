/* How often are identical subjects called different, and a slower one found? Simulated, with the
 * truth known: 10 000 comparisons of two series of 40 to 200 samples with memory, the same for
 * pairs, and pairs with a true slowdown of 2 %. */
#include <stdio.h>

#include "compare_simulation.h"

static const size_t sizes[] = {40, 60, 100, 200};
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
static void run_identical(bool paired, double *overall, double *worst)
{
    size_t different = 0;
    size_t each = REPLICATIONS / (SIZES * CORRELATIONS);
    *worst = 0;
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < CORRELATIONS; k++) {
            /* the worst cell needs more than its share to be seen */
            const simulation it = {sizes[i], correlations[k], 0.05, 0, paired};
            simulation_counts grid = simulation_run(&it, each, 1000 + 16 * i + k);
            simulation_counts cell = simulation_run(&it, REPLICATIONS, 2000 + 16 * i + k);
            double share = 100.0 * (double)(cell.faster + cell.slower) / REPLICATIONS;
            different += grid.faster + grid.slower;
            fprintf(stderr, "  %s, %3zu samples, correlation %.1f: %.2f %% called different\n",
                    paired ? "pairs" : "series", sizes[i], correlations[k], share);
            *worst = share > *worst ? share : *worst;
        }
    *overall = 100.0 * (double)different / (double)(each * SIZES * CORRELATIONS);
}

static double found(const simulation *it, size_t replications)
{
    return 100.0 * (double)simulation_run(it, replications, 7).slower / (double)replications;
}

int main(void)
{
    double overall, worst;
    bool ok = true;
    run_identical(false, &overall, &worst);
    ok &= show("identical series called different, 10000 of 40 to 200 samples, correlation to 0.8",
               overall, 1, true);
    ok &= show("the same, worst of 16 cells", worst, 1, true);
    run_identical(true, &overall, &worst);
    ok &= show("identical pairs called different, 10000 of 40 to 200 pairs, correlation to 0.8",
               overall, 1, true);
    ok &= show("the same, worst of 16 cells", worst, 1, true);
    const simulation slow = {1000, 0, 0.05, 0.02, true}; /* 10 s of pairs of 5 ms */
    const simulation slow_correlated = {1000, 0.3, 0.05, 0.02, true};
    ok &= show("2 % slowdown found, 1000 pairs, 5 % paired noise", found(&slow, 2000), 90, false);
    ok &= show("the same, correlation 0.3", found(&slow_correlated, 2000), 90, false);
    return ok ? 0 : 1;
}
