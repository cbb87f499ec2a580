/* How well steps in a history of runs are found.
 *
 * Bars: in series of 200 runs whose level rises by 5 %, with noise of 5 %, the step is found within
 * 10 runs of its place in 90 % of the series. Series of 200 runs without a step have at most one
 * false change point. The step is at least 50 runs from either end. The bar of 90 % is for
 * independent noise. Other noise is shown beside it, because 200 runs of it carry less information:
 * a method that knows the noise and that there is one step, but not the levels, places the step
 * within 10 runs in 82 % (correlation 0.3), 55 % (0.6) and 90 % (spikes) of the series.
 *
 *     changes [REPLICATIONS] */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/stats.h"
#include "bench/draw.h"

enum { RUNS = 200, POINTS_MAX = 64, NEAR = 10, EDGE = 50 };

typedef struct noise {
    const char *name;
    double correlation; /* of neighbours */
    double freedom;     /* of Student's distribution; 0 for a normal one */
    double skewness;    /* σ of the logarithm of a lognormal; 0 if not skewed */
    double spikes;      /* share of runs that are up to 8 standard deviations slower */
    double slow;        /* share of runs in a slower mode, 2.5 away, with little noise */
    bool has_bar_of_finding;
} noise;

static const noise noises[] = {
    {.name = "independent", .has_bar_of_finding = true},
    {.name = "correlation 0.3", .correlation = 0.3},
    {.name = "correlation 0.6", .correlation = 0.6},
    {.name = "Student's t, 3 degrees", .freedom = 3, .has_bar_of_finding = true},
    {.name = "lognormal", .skewness = 0.8, .has_bar_of_finding = true},
    {.name = "5 % spikes", .spikes = 0.05},
    {.name = "two modes", .slow = 0.2},
};

/* One value with standard deviation 1. */
static double draw(const noise *kind, uint64_t *seed, double *state)
{
    double z = draw_normal(seed);
    if (kind->correlation > 0) {
        double rho = kind->correlation;
        return *state = rho * *state + sqrt(1 - rho * rho) * z;
    }
    if (kind->freedom > 0) {
        double squares = 0;
        for (int i = 0; i < (int)kind->freedom; i++)
            squares += pow(draw_normal(seed), 2);
        return z / sqrt(squares / kind->freedom) / sqrt(kind->freedom / (kind->freedom - 2));
    }
    if (kind->skewness > 0) {
        double variance = kind->skewness * kind->skewness;
        return (exp(kind->skewness * z) - exp(variance / 2)) /
               sqrt((exp(variance) - 1) * exp(variance));
    }
    if (kind->slow > 0)
        return (draw_uniform(seed) < kind->slow ? 2 : -0.5) + 0.2 * z;
    return draw_uniform(seed) < kind->spikes ? z + 8 * draw_uniform(seed) : z;
}

/* Finds the change points of one series. If `step` is RUNS, the series has no step. */
static int simulate(const noise *kind, uint64_t *seed, size_t step, size_t points[POINTS_MAX],
                    size_t *found)
{
    double values[RUNS], state = draw_normal(seed);
    for (size_t i = 0; i < RUNS; i++) {
        double level = i >= step ? 1.05 : 1;
        values[i] = log(fmax(1e-3, level * (1 + 0.05 * draw(kind, seed, &state))));
    }
    return assay_stats_find_steps(values, RUNS, points, POINTS_MAX, found);
}

static bool is_near(const size_t *points, size_t count, size_t step)
{
    for (size_t i = 0; i < count; i++)
        if (points[i] + NEAR >= step && points[i] <= step + NEAR)
            return true;
    return false;
}

static void print_figure(const char *what, const char *name, double value, const char *unit,
                         const char *bar, bool ok)
{
    printf("{\"name\": \"%s, %s\", \"value\": %.3g, \"unit\": \"%s\", \"bar\": %s, \"ok\": %s}\n",
           what, name, value, unit, bar, ok ? "true" : "false");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    size_t replications = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000;
    for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
        size_t points[POINTS_MAX], count, near = 0, alarmed = 0, alarms = 0;
        uint64_t seed = 100 + k;
        for (size_t i = 0; i < replications; i++) {
            size_t step = EDGE + (size_t)(draw_uniform(&seed) * (RUNS - 2 * EDGE + 1));
            if (simulate(&noises[k], &seed, step, points, &count) != 0)
                return 1;
            near += is_near(points, count < POINTS_MAX ? count : POINTS_MAX, step);
            if (simulate(&noises[k], &seed, RUNS, points, &count) != 0)
                return 1;
            alarmed += count > 0;
            alarms += count;
        }
        double all = (double)replications, found = 100 * (double)near / all;
        double series = 100 * (double)alarmed / all, each = (double)alarms / all;
        bool bar = noises[k].has_bar_of_finding;
        print_figure("a step of 5 % in 5 % noise found within 10 of 200 runs", noises[k].name,
                     found, "%", bar ? "90" : "null", !bar || found >= 90);
        print_figure("series of 200 runs with a false change point", noises[k].name, series, "%",
                     "null", true);
        print_figure("false change points in 200 runs", noises[k].name, each, "", "1", each <= 1);
    }
    return 0;
}
