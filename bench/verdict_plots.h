/* The plots of docs/trust.md. They are drawn from the tables of bench/verdicts.c, which are found
 * by their names. */
#ifndef ASSAY_BENCH_VERDICT_PLOTS_H
#define ASSAY_BENCH_VERDICT_PLOTS_H

#include <string.h>

#include "bench/svg_plot.h"
#include "bench/verdict_peers.h"
#include "bench/verdict_table.h"

static const char *const slowdown_names[] = {"0", "1", "2", "3", "4", "5", "6", "8", "10", "12"};
enum { SLOWDOWNS = sizeof slowdown_names / sizeof *slowdown_names };

static inline const table *table_named(const tables *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].name, name) == 0)
            return &all->list[i];
    abort();
}

static inline void plot_power(const tables *all, const char *name, const char *title, FILE *out)
{
    const table *it = table_named(all, name);
    svg_plot plot = {.out = out,
                     .x = {.label = "true slowdown, %", .high = 12, .step = 2},
                     .y = {.label = "called slower, %", .high = 100, .step = 20}};
    svg_plot_begin(&plot, title);
    for (size_t m = 0; m < it->column_count; m++) {
        double x[TABLE_ROWS], y[TABLE_ROWS];
        for (size_t i = 0; i < it->row_count; i++) {
            x[i] = strtod(it->rows[i], NULL);
            y[i] = it->cells[i][m];
        }
        svg_plot_points(&plot, it->columns[m], x, y, it->row_count, true);
    }
    svg_plot_end(&plot);
}

static inline void plot_independent_power(const tables *all, FILE *out)
{
    plot_power(all, "power by method, independent",
               "Slowdowns found: 40 samples of each, independent noise of 5 %", out);
}

static inline void plot_autocorrelated_power(const tables *all, FILE *out)
{
    plot_power(all, "power by method, AR 0.5",
               "Slowdowns found: 40 samples of each, AR(0.5) noise of 5 %", out);
}

static inline void plot_false_alarms(const tables *all, FILE *out)
{
    const table *it = table_named(all, "equals by method");
    double groups = (double)it->row_count - 0.5;
    svg_plot plot = {
        .out = out,
        .x = {.label = "kind of noise", .low = -0.5, .high = groups, .names = it->rows},
        .y = {.label = "called different, %; dashed: our bar, 1 %", .high = 60, .step = 10}};
    svg_plot_begin(&plot, "False alarms: 40 samples of each of two equals, noise of 5 %");
    for (size_t m = 0; m < it->column_count; m++) {
        double values[TABLE_ROWS];
        for (size_t i = 0; i < it->row_count; i++)
            values[i] = it->cells[i][m];
        svg_plot_bars(&plot, it->columns[m], values, it->row_count, (int)it->column_count);
    }
    svg_plot_rule(&plot, -0.5, 1, groups, 1, "");
    svg_plot_end(&plot);
}

/* Draws every cell of a table of efficiencies as a point: the oracle's samples, and the efficiency.
 * A shift other than 1 keeps the points of two tables from hiding each other. */
static inline void plot_efficiencies(svg_plot *plot, const table *it, size_t columns, double shift,
                                     const char *name)
{
    double x[TABLE_ROWS * TABLE_COLUMNS], y[TABLE_ROWS * TABLE_COLUMNS];
    size_t count = 0;
    for (size_t i = 0; i < it->row_count; i++)
        for (size_t k = 0; k < columns; k++) {
            double needed = strtod(it->columns[k], NULL);
            x[count] = shift * needed;
            y[count++] = needed / it->cells[i][k];
        }
    svg_plot_points(plot, name, x, y, count, false);
}

static inline void plot_samples(const tables *all, FILE *out)
{
    svg_plot plot = {
        .out = out,
        .x = {"samples of each side that the oracle needs", 10, 320, 2, true, NULL},
        .y = {"samples that assay needs", 10, 640, 2, true, NULL},
    };
    svg_plot_begin(&plot, "Samples for 90 % power: a point for each kind of noise");
    plot_efficiencies(&plot, table_named(all, "efficiency, turns"), 3, 0.98, "taking turns (mean)");
    plot_efficiencies(&plot, table_named(all, "efficiency, series"), 4, 1.02,
                      "one after the other");
    svg_plot_rule(&plot, 10, 10, 320, 320, "as many");
    svg_plot_rule(&plot, 10, 20, 320, 640, "twice as many");
    svg_plot_end(&plot);
}

static inline FILE *plots_open(const char *folder, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = length < (int)sizeof path ? fopen(path, "w") : NULL;
    if (out == NULL)
        fprintf(stderr, "verdicts: cannot write %s/%s\n", folder, name);
    return out;
}

static inline bool plots_close(FILE *out)
{
    bool ok = ferror(out) == 0;
    return fclose(out) == 0 && ok;
}

/* Writes tables.csv and the plots into an existing folder. */
static inline bool plots_write(const tables *all, const char *folder)
{
    static const struct {
        const char *name;
        void (*draw)(const tables *, FILE *);
    } files[] = {{"tables.csv", tables_print_csv},
                 {"power.svg", plot_independent_power},
                 {"power-autocorrelated.svg", plot_autocorrelated_power},
                 {"false-alarms.svg", plot_false_alarms},
                 {"samples.svg", plot_samples}};
    bool ok = true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *out = plots_open(folder, files[i].name);
        if (out == NULL)
            return false;
        files[i].draw(all, out);
        ok &= plots_close(out);
    }
    return ok;
}

#endif
