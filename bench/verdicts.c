/* The operating characteristic of verdicts, by simulation with a known truth: how often are equals
 * called different, and how many samples does it take to see a difference, compared with an oracle
 * that knows the noise?
 *
 *     verdicts [REPLICATIONS] [--plots DIR]      default 2000, which take some 20 minutes
 *
 * The tables go to stderr as Markdown. With --plots they also go to DIR/tables.csv, and plots of
 * them to DIR/NAME.svg. docs/trust.md shows both.
 *
 * The oracle takes a fixed number of samples, knows the kind and the size of the noise, and says
 * "slower" if the 99 % interval of the ratio lies beyond the margin of 1 %. An efficiency is the
 * oracle's number of samples for 90 % power divided by ours. If samples are taken until they give
 * an answer, ours is the mean number of samples. For given series, ours is the number at which we
 * have 90 % power, interpolated between sizes. */
#include <stdio.h>
#include <string.h>

#include "bench/verdict_peers.h"
#include "bench/verdict_plots.h"
#include "bench/verdict_simulation.h"
#include "bench/verdict_table.h"

static size_t replications = 2000;
static tables all_tables;

static table *by_noise(const char *name, const char *title, const char *const *columns,
                       size_t column_count, int decimals)
{
    table begun = {.name = name,
                   .title = title,
                   .corner = "noise",
                   .row_count = NOISE_KINDS,
                   .column_count = column_count,
                   .decimals = decimals};
    return tables_add(&all_tables, begun, noise_names, columns);
}

static size_t at_least(size_t count, size_t least)
{
    return count > least ? count : least;
}

/* A figure without a bar. */
static void tell(const char *name, double value, const char *unit)
{
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"bar\": null, \"ok\": true}\n",
           name, value, unit);
    fflush(stdout);
}

static bool show(const char *name, double value, const char *unit, double bar, bool below)
{
    bool ok = below ? value <= bar : value >= bar;
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"bar\": %g, \"ok\": %s}\n", name,
           value, unit, bar, ok ? "true" : "false");
    fflush(stdout);
    return ok;
}

static double called_different(const simulation *it, size_t runs, uint64_t seed)
{
    simulation_counts counts = simulation_run(it, runs, seed);
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

/* The variance of the mean of n values of noise of size 1, times n, for an estimator that knows the
 * kind of noise. For t with 3 degrees of freedom and for spikes it is the variance of the best
 * estimator. */
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

static const double NEEDED = 2.5758 + 1.2816; /* standard errors: 99 % two-sided, and 90 % power */

/* The slowdown that the oracle finds in 90 % with n samples of each side. */
static double findable(noise_kind kind, double n, double size)
{
    double error = size * sqrt(2 * known_variance(kind, n) / n);
    return expm1(log(1.01) + NEEDED * error);
}

/* The variance of a pair's log ratio, found by simulation: the two sides of a pair take turns in
 * slots of time. */
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

static const size_t equal_sizes[] = {20, 40, 60, 80, 200};
enum { EQUAL_SIZES = sizeof equal_sizes / sizeof *equal_sizes };

static void fill_equals(table *it, simulated_order order, double size, size_t runs)
{
    for (int kind = 0; kind < NOISE_KINDS; kind++)
        for (size_t i = 0; i < EQUAL_SIZES; i++) {
            simulation equal = {(noise_kind)kind, equal_sizes[i], size, 0, order, 0};
            it->cells[kind][i] = called_different(&equal, runs, 11 * i + (size < 0.1 ? 1 : 2));
        }
    table_finish(it, stderr);
}

/* Equals in one order: the titles of their tables, and the bars for noise of 5 %. Two kinds of
 * noise have bars of their own where they are too short to show what they are. */
typedef struct equals_in_order {
    const char *name, *name_in_more_noise, *title, *figure;
    double few, sticky; /* white + AR 0.9, and sticky levels: bars of fewer than 80 samples */
} equals_in_order;

static const equals_in_order equals_of[] = {
    [IN_SERIES] = {"equals, series, noise 5 %", "equals, series, noise 20 %",
                   "Equals one after the other called different, %, noise of 5 %",
                   "equals one after the other called different, worst of 37 cells", 3, 1.5},
    [TAKING_TURNS] = {"equals, turns, noise 5 %", "equals, turns, noise 20 %",
                      "Equals that took turns called different, %, noise of 5 %",
                      "equals that took turns called different, worst of 37 cells", 1, 1},
    [INPUT_BY_INPUT] = {"equals, inputs, noise 5 %", "equals, inputs, noise 20 %",
                        "Equals compared input by input called different, %, noise of 5 %",
                        "equals compared input by input called different, worst of 37 cells", 3,
                        1.5}};

static bool equals(simulated_order order)
{
    static const char *const columns[] = {"n = 20", "n = 40", "n = 60", "n = 80", "n = 200"};
    const equals_in_order *those = &equals_of[order];
    table *small = by_noise(those->name, those->title, columns, EQUAL_SIZES, 2);
    fill_equals(small, order, 0.05, replications);
    fill_equals(
        by_noise(those->name_in_more_noise, "The same, noise of 20 %", columns, EQUAL_SIZES, 2),
        order, 0.2, at_least(replications / 4, 100));
    double worst = 0, sticky = 0, few = 0, many = 0;
    for (int kind = 0; kind < NOISE_KINDS; kind++)
        for (size_t i = 0; i < EQUAL_SIZES; i++) {
            bool short_series = equal_sizes[i] < 80;
            double *cell = kind == NOISE_MIXTURE                  ? (short_series ? &few : &many)
                           : kind == NOISE_STICKY && short_series ? &sticky
                                                                  : &worst;
            *cell = fmax(*cell, small->cells[kind][i]);
        }
    bool ok = show(those->figure, worst, "%", 1, true);
    ok &= show("... sticky levels, fewer than 80 samples", sticky, "%", those->sticky, true);
    ok &= show("... white and AR 0.9, 20 to 60 samples", few, "%", those->few, true);
    return show("... white and AR 0.9, from 80 samples on", many, "%", 1, true) && ok;
}

/* Equals with fewer pairs than the bars are for. Series of fewer than 20 samples get no verdict. */
static void equals_with_few_pairs(void)
{
    static const char *const columns[] = {"n = 6", "n = 10", "n = 15"};
    static const size_t pairs[] = {6, 10, 15};
    table *it = by_noise("equals, few pairs",
                         "Equals that took turns called different with fewer than 20 pairs, %, "
                         "noise of 5 %",
                         columns, 3, 2);
    double worst = 0;
    for (int kind = 0; kind < NOISE_KINDS; kind++)
        for (size_t i = 0; i < 3; i++) {
            simulation equal = {(noise_kind)kind, pairs[i], 0.05, 0, TAKING_TURNS, 0};
            it->cells[kind][i] = called_different(&equal, at_least(replications / 2, 100), 21 + i);
            worst = fmax(worst, it->cells[kind][i]);
        }
    table_finish(it, stderr);
    tell("equals called different, 6 to 15 pairs, worst of 27 cells", worst, "%");
}

static bool equals_until_answered(void)
{
    static const char *const columns[] = {"different", "same", "slower at a true 1.01"};
    table *it = by_noise("until answered",
                         "Taking turns until there is an answer, 200 pairs at most, noise of 5 %: "
                         "verdicts on equals, and on a slowdown of the margin, %",
                         columns, 3, 2);
    double worst = 0, edge = 0;
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        simulation equal = {(noise_kind)kind, 0, 0.05, 0, TAKING_TURNS, 200};
        simulation_counts counts = simulation_run(&equal, replications, 31);
        double *row = it->cells[kind];
        row[0] = 100 * (simulation_share(&counts, ASSAY_VERDICT_FASTER) +
                        simulation_share(&counts, ASSAY_VERDICT_SLOWER));
        row[1] = 100 * simulation_share(&counts, ASSAY_VERDICT_SAME);
        equal.slowdown = 0.01;
        row[2] = 100 * found(&equal, replications, 32, NULL);
        worst = fmax(worst, row[0]);
        edge = fmax(edge, row[2]);
    }
    table_finish(it, stderr);
    bool ok =
        show("equals called different, looked at until answered, worst of 9", worst, "%", 1, true);
    return show("'slower' at a true 1.01, worst of 9", edge, "%", 0.8, true) && ok;
}

/* The mean number of pairs with the budget that gives 90 % power; a larger budget would give more
 * power than the oracle has. The range of budgets is halved until its ends are close, and the pairs
 * are interpolated between them, as for series. Where few pairs are needed, chance moves the result
 * more; there, more replications are made, which cost less. */
static double pairs_needed(noise_kind kind, double n, double *power)
{
    size_t runs = at_least((size_t)((double)replications / 8 * sqrt(200 / n)), 50);
    double slowdown = expm1(log(1.01) + NEEDED * 0.05 * sqrt(pair_variance(kind) / n));
    double low = 0.8 * n, high = 4 * n, below = 0, pairs_below = low, pairs_above = INFINITY;
    *power = 0;
    while (high > 1.03 * low) {
        double budget = sqrt(low * high), pairs;
        simulation slow = {kind, 0, 0.05, slowdown, TAKING_TURNS, (size_t)budget};
        double reached = found(&slow, runs, 41, &pairs);
        if (reached < 0.9) {
            low = budget;
            below = reached;
            pairs_below = pairs;
        } else {
            high = budget;
            pairs_above = pairs;
            *power = reached;
        }
    }
    double way = *power > below ? (0.9 - below) / (*power - below) : 1;
    return pairs_below + (pairs_above - pairs_below) * way;
}

static bool efficiency_of_turns(void)
{
    static const double sizes[] = {20, 50, 200};
    static const char *const columns[] = {"20 pairs",       "50 pairs", "200 pairs",
                                          "power at 20, %", "at 50, %", "at 200, %"};
    double worst = INFINITY;
    table *it = by_noise("efficiency, turns",
                         "Taking turns: efficiency where the oracle needs so many pairs, and power",
                         columns, 6, 2);
    for (int kind = 0; kind < NOISE_KINDS; kind++)
        for (int i = 0; i < 3; i++) {
            double power, pairs = pairs_needed((noise_kind)kind, sizes[i], &power);
            it->cells[kind][i] = sizes[i] / pairs;
            it->cells[kind][3 + i] = 100 * power;
            worst = fmin(worst, sizes[i] / pairs);
        }
    table_finish(it, stderr);
    size_t runs = at_least(replications / 10, 50);
    simulation tenth = {NOISE_INDEPENDENT, 0, 0.05, 0.1, TAKING_TURNS, 1000};
    double pairs;
    found(&tenth, runs, 42, &pairs);
    bool ok = show("efficiency of taking turns, worst of 27 cells", worst, "x", 0.75, false);
    return show("pairs for a slowdown of 10 % in 5 % noise, mean", pairs, "", 40, true) && ok;
}

/* Our number of samples for 90 % power, if the oracle needs n. Growing sizes are tried, and the
 * power is interpolated linearly between them. */
static double samples_needed(noise_kind kind, double n)
{
    size_t runs = at_least(replications / 4, 100);
    double slowdown = findable(kind, n, 0.05), before = 0, at = n * 0.8;
    for (double size = n; size < 8 * n; size *= 1.15) {
        simulation it = {kind, (size_t)size, 0.05, slowdown, IN_SERIES, 0};
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
    static const char *const columns[] = {"20 samples", "50 samples", "100 samples", "200 samples"};
    double worst[3] = {INFINITY, INFINITY, INFINITY};
    table *it = by_noise("efficiency, series",
                         "One after the other: efficiency where the oracle needs so many samples",
                         columns, 4, 2);
    for (int kind = 0; kind < NOISE_KINDS; kind++)
        for (int i = 0; i < 4; i++) {
            double needed = samples_needed((noise_kind)kind, sizes[i]), reached = sizes[i] / needed;
            int row = kind == NOISE_INDEPENDENT && needed >= 200 ? 2 : needed >= 100;
            it->cells[kind][i] = reached;
            if (kind != NOISE_MIXTURE)
                worst[row] = fmin(worst[row], reached);
        }
    table_finish(it, stderr);
    bool ok = show("efficiency of series, from 20 samples on, worst", worst[0], "x", 0.5, false);
    ok &= show("... from 100 samples on", worst[1], "x", 0.65, false);
    return show("... independent, from 200 samples on", worst[2], "x", 0.9, false) && ok;
}

typedef struct forecasts {
    double runs, open;           /* open: number without a verdict */
    double named[2], decided[2]; /* for slowdowns below 3 %, and from 3 % on */
} forecasts;

/* Comparisons of 20 pairs that were inconclusive and named a number of pairs are repeated with that
 * many pairs in all. The slowdown is drawn uniformly between 0 and 10 %. */
static forecasts forecast_in(noise_kind kind, uint64_t seed)
{
    enum { PAIRS = 20 };
    forecasts it = {.runs = (double)at_least(replications / 2, 100)};
    uint64_t seed_of_truth = seed + 1;
    for (double run = 0; run < it.runs; run++) {
        simulation slow = {kind, PAIRS, 0.05, 0.1 * draw_uniform(&seed_of_truth), TAKING_TURNS, 0};
        simulated_outcome first = simulate_turns(&slow, &seed);
        bool large = slow.slowdown >= 0.03;
        it.open += first.verdict == ASSAY_VERDICT_INCONCLUSIVE;
        if (first.verdict != ASSAY_VERDICT_INCONCLUSIVE || first.more == 0)
            continue;
        it.named[large]++;
        slow.samples += (size_t)first.more;
        it.decided[large] += simulate_turns(&slow, &seed).verdict != ASSAY_VERDICT_INCONCLUSIVE;
    }
    return it;
}

static bool forecast(void)
{
    static const char *const columns[] = {"inconclusive, %", "of these with a number, %",
                                          "then decided, %", "slowdowns below 3 %: decided, %",
                                          "from 3 %: decided, %"};
    table *it = by_noise("forecast",
                         "'About N more pairs may decide': 20 pairs, noise of 5 %, slowdowns "
                         "between 0 and 10 %, made anew with 20 + N pairs",
                         columns, 5, 1);
    double all_named = 0, all_decided = 0, worst = 100;
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        forecasts counts = forecast_in((noise_kind)kind, 61);
        double named = counts.named[0] + counts.named[1];
        double decided = counts.decided[0] + counts.decided[1], *row = it->cells[kind];
        row[0] = 100 * counts.open / counts.runs;
        row[1] = 100 * named / fmax(counts.open, 1);
        row[2] = 100 * decided / fmax(named, 1);
        row[3] = 100 * counts.decided[0] / fmax(counts.named[0], 1);
        row[4] = 100 * counts.decided[1] / fmax(counts.named[1], 1);
        all_named += named;
        all_decided += decided;
        worst = fmin(worst, row[2]);
    }
    table_finish(it, stderr);
    tell("'about N more pairs may decide' comes true, worst of 9", worst, "%");
    return show("'about N more pairs may decide' comes true, all kinds of noise",
                100 * all_decided / fmax(all_named, 1), "%", 80, false);
}

/* ---- beside other tools' methods ---- */

enum { PEER_SAMPLES = 40 };

static void equals_by_method(void)
{
    static const char *const figures[METHODS] = {
        "equals called different, 40 samples, worst of 9: assay, taking turns",
        "... assay, one after the other", "... peer method: Welch's t test at 5 %",
        "... peer method: U test at 5 %"};
    double worst[METHODS] = {0};
    table *it =
        by_noise("equals by method", "Equals called different, %, 40 samples of each, noise of 5 %",
                 method_names, METHODS, 2);
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        simulation equal = {(noise_kind)kind, PEER_SAMPLES, 0.05, 0, IN_SERIES, 0};
        method_counts counts = methods_run(&equal, replications, 71);
        for (int m = 0; m < METHODS; m++) {
            it->cells[kind][m] =
                100 * (double)(counts.slower[m] + counts.faster[m]) / (double)replications;
            worst[m] = fmax(worst[m], it->cells[kind][m]);
        }
    }
    table_finish(it, stderr);
    for (int m = 0; m < METHODS; m++)
        tell(figures[m], worst[m], "%");
}

static void power_by_method(noise_kind kind, const char *name, const char *title)
{
    table begun = {.name = name,
                   .title = title,
                   .corner = "slowdown, %",
                   .row_count = SLOWDOWNS,
                   .column_count = METHODS,
                   .decimals = 1};
    table *it = tables_add(&all_tables, begun, slowdown_names, method_names);
    size_t runs = at_least(replications / 2, 100);
    for (int i = 0; i < SLOWDOWNS; i++) {
        simulation slow = {
            kind, PEER_SAMPLES, 0.05, strtod(slowdown_names[i], NULL) / 100, IN_SERIES, 0};
        method_counts counts = methods_run(&slow, runs, 81);
        for (int m = 0; m < METHODS; m++)
            it->cells[i][m] = 100 * (double)counts.slower[m] / (double)runs;
    }
    table_finish(it, stderr);
}

/* Checks that the power does not fall when there are more samples. Simulated shares differ by some
 * points by chance, so the bar is not 0. */
static bool power_by_samples(void)
{
    static const size_t sizes[] = {10, 20, 40, 80, 160};
    static const char *const columns[] = {"n = 10", "n = 20", "n = 40", "n = 80", "n = 160"};
    static const simulated_order orders[] = {TAKING_TURNS, IN_SERIES, INPUT_BY_INPUT};
    static const char *const names[] = {"power, turns", "power, series", "power, inputs"};
    static const char *const titles[] = {"A slowdown of 10 % found, %, noise of 5 %, taking turns",
                                         "The same, one after the other",
                                         "The same, input by input"};
    double fall = 0;
    for (size_t order = 0; order < sizeof orders / sizeof *orders; order++) {
        table *it = by_noise(names[order], titles[order], columns, 5, 1);
        for (int kind = 0; kind < NOISE_KINDS; kind++)
            for (int i = 0; i < 5; i++) {
                simulation slow = {(noise_kind)kind, sizes[i], 0.05, 0.1, orders[order], 0};
                double *row = it->cells[kind];
                row[i] = 100 * found(&slow, at_least(replications / 2, 100), 91, NULL);
                fall = i > 0 ? fmax(fall, row[i - 1] - row[i]) : fall;
            }
        table_finish(it, stderr);
    }
    return show("largest fall of the power when samples double", fall, "points", 3, true);
}

int main(int argc, char **argv)
{
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--plots") == 0 && i + 1 < argc)
            folder = argv[++i];
        else if ((replications = (size_t)strtoul(argv[i], NULL, 10)) == 0) {
            fprintf(stderr, "usage: verdicts [REPLICATIONS] [--plots DIR]\n");
            return 2;
        }
    }
    power_by_method(NOISE_INDEPENDENT, "power by method, independent",
                    "Called slower, %, 40 samples of each, independent noise of 5 %");
    power_by_method(NOISE_AR5, "power by method, AR 0.5",
                    "Called slower, %, 40 samples of each, AR(0.5) noise of 5 %");
    equals_by_method();
    bool ok = forecast();
    ok &= power_by_samples();
    ok &= efficiency_of_turns();
    ok &= efficiency_of_series();
    ok &= equals_until_answered();
    ok &= equals(TAKING_TURNS);
    ok &= equals(IN_SERIES);
    ok &= equals(INPUT_BY_INPUT);
    equals_with_few_pairs();
    if (folder != NULL && !plots_write(&all_tables, folder))
        return 2;
    return ok ? 0 : 1;
}
