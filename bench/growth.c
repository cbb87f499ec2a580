/* How often is the growth class right, and how often does the interval of the exponent cover the
 * truth? 1000 series are drawn for each class, with and without overhead: 9 sizes, 3 repeats, 5 %
 * noise. For other sizes and noise, only the worst class is shown. Then, without repeats, the
 * benchmark shows how often growth that belongs to no class is called conclusive, and how often
 * growth that belongs to a class still is. */
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
            series_kind kind = {.growth_class = (assay_growth_class)c,
                                .smallest = smallest,
                                .largest = largest,
                                .noise = noise,
                                .overhead = overhead};
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

static double conclusive_share(series_kind kind)
{
    return (double)series_run(&kind, SERIES, 20261115).conclusive / SERIES;
}

/* Shows the largest share over three noises. */
static void run_outsider(series_outsider outsider, bool once)
{
    static const double noises[] = {0.005, 0.02, 0.05};
    double worst = 0;
    char what[96];
    for (int i = 0; i < 3; i++)
        worst = fmax(worst, conclusive_share((series_kind){.smallest = 100,
                                                           .largest = 1e4,
                                                           .noise = noises[i],
                                                           .once = once,
                                                           .outsider = outsider}));
    snprintf(what, sizeof what, "conclusive, %s: %s", once ? "no repeats" : "3 repeats",
             series_outsider_names[outsider]);
    print_share(what, worst, once ? "5" : "null", !once || worst <= 0.05);
}

static void run_once(double noise)
{
    double conclusive = 1, wrong = 0;
    char what[96];
    for (int c = ASSAY_GROWTH_CONSTANT; c <= ASSAY_GROWTH_CUBIC; c++)
        for (int overhead = 0; overhead < 2; overhead++) {
            series_kind kind = {.growth_class = (assay_growth_class)c,
                                .smallest = 100,
                                .largest = 1e4,
                                .noise = noise,
                                .overhead = overhead,
                                .once = true};
            series_score score = series_run(&kind, SERIES, 20261115);
            conclusive = fmin(conclusive, (double)score.conclusive / SERIES);
            wrong = fmax(wrong, (double)score.conclusive_wrong / SERIES);
        }
    snprintf(what, sizeof what, "conclusive, no repeats, worst class, %g%% noise", 100 * noise);
    print_share(what, conclusive, "null", true);
    snprintf(what, sizeof what, "conclusive and wrong, no repeats, worst class, %g%% noise",
             100 * noise);
    print_share(what, wrong, "5", wrong <= 0.05);
}

int main(void)
{
    static const double exponents[] = {0.5, 1.5, 2.5};
    print_worst("n = 100..1e4", run_classes(100, 1e4, 0.05, true), true);
    worst_case worst = {1, 1};
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++)
        for (int overhead = 0; overhead < 2; overhead++) {
            series_kind kind = {.growth_class = ASSAY_GROWTH_POWER,
                                .exponent = exponents[e],
                                .smallest = 100,
                                .largest = 1e4,
                                .noise = 0.05,
                                .overhead = overhead};
            run(&kind, &worst);
        }
    print_worst("n^0.5, n^1.5, n^2.5", worst, true);
    print_worst("n = 10..1000", run_classes(10, 1e3, 0.05, false), true);
    print_worst("n = 1e3..1e6", run_classes(1e3, 1e6, 0.05, false), true);
    print_worst("2% noise", run_classes(100, 1e4, 0.02, false), true);
    print_worst("10% noise", run_classes(100, 1e4, 0.1, false), false);
    run_once(0.01);
    run_once(0.05);
    for (int once = 1; once >= 0; once--)
        for (int i = OUTSIDER_NONE + 1; i < OUTSIDERS; i++)
            run_outsider((series_outsider)i, once);
    return 0;
}
