/* How often the growth class is right, and how often the interval of the exponent covers the truth:
 * 1000 series for each class, with and without overhead, 9 sizes, 3 repeats, 5 % noise. For sizes
 * and noise other than the first the worst class is shown. */
#include <stdio.h>

#include "bench/growth_series.h"

enum { SERIES = 1000 };

static void print_share(const char *what, double share, const char *bar, bool ok)
{
    printf(
        "{\"name\": \"growth %s\", \"value\": %.1f, \"unit\": \"%%\", \"bar\": %s, \"ok\": %s}\n",
        what, 100 * share, bar, ok ? "true" : "false");
    fflush(stdout);
}

typedef struct worst_case {
    double right, covered;
} worst_case;

static double run(const series_kind *kind, worst_case *worst)
{
    uint64_t seed = 20261115 + 2 * (uint64_t)kind->growth_class + kind->overhead;
    series_score score = series_run(kind, SERIES, seed);
    double right = (double)score.right / SERIES;
    worst->right = fmin(worst->right, right);
    if (!isnan(series_exponent(kind)))
        worst->covered = fmin(worst->covered, (double)score.covered / SERIES);
    return right;
}

static worst_case run_classes(double smallest, double largest, double noise, bool each)
{
    worst_case worst = {1, 1};
    for (int c = ASSAY_GROWTH_CONSTANT; c <= ASSAY_GROWTH_CUBIC; c++)
        for (int overhead = 0; overhead < 2; overhead++) {
            series_kind kind = {(assay_growth_class)c, 0, smallest, largest, noise, overhead};
            double right = run(&kind, &worst);
            char what[64];
            snprintf(what, sizeof what, "class right: %s%s",
                     assay_growth_class_name(kind.growth_class), overhead ? " + overhead" : "");
            if (each)
                print_share(what, right, "95", right >= 0.95);
        }
    return worst;
}

static void print_worst(const char *what, worst_case worst, bool held)
{
    char line[96];
    snprintf(line, sizeof line, "class right, worst class: %s", what);
    print_share(line, worst.right, held ? "95" : "null", !held || worst.right >= 0.95);
    snprintf(line, sizeof line, "exponent covered, worst class: %s", what);
    print_share(line, worst.covered, held ? "94" : "null", !held || worst.covered >= 0.94);
}

int main(void)
{
    static const double exponents[] = {0.5, 1.5, 2.5};
    print_worst("n = 100..1e4", run_classes(100, 1e4, 0.05, true), true);
    worst_case worst = {1, 1};
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++)
        for (int overhead = 0; overhead < 2; overhead++) {
            series_kind kind = {ASSAY_GROWTH_POWER, exponents[e], 100, 1e4, 0.05, overhead};
            run(&kind, &worst);
        }
    print_worst("n^0.5, n^1.5, n^2.5", worst, true);
    print_worst("n = 10..1000", run_classes(10, 1e3, 0.05, false), true);
    print_worst("n = 1e3..1e6", run_classes(1e3, 1e6, 0.05, false), true);
    print_worst("2% noise", run_classes(100, 1e4, 0.02, false), true);
    print_worst("10% noise", run_classes(100, 1e4, 0.1, false), false);
    return 0;
}
