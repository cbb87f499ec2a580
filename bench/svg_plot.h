/* Draws small plots as SVG for pages of the documentation: points, joined points and grouped bars
 * over two axes, with a title, a legend and dashed reference lines.
 *
 *     svg_plot plot = {.out = file, .x = {"slowdown, %", 0, 10, 2}, .y = {"found, %", 0, 100, 20}};
 *     svg_plot_begin(&plot, "How often a slowdown is found");
 *     svg_plot_points(&plot, "assay", slowdowns, shares, count, true);
 *     svg_plot_end(&plot);
 *
 * The colours follow the reader's preference for light or dark. The background is drawn, so that
 * the text is legible on any page. All text is escaped. Values that are not finite are left out.
 * The stream remembers errors. */
#ifndef ASSAY_BENCH_SVG_PLOT_H
#define ASSAY_BENCH_SVG_PLOT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SVG_WIDTH = 680, SVG_HEIGHT = 420 };
enum { SVG_LEFT = 70, SVG_RIGHT = 660, SVG_TOP = 92, SVG_BOTTOM = 350 };

typedef struct svg_axis {
    const char *label;
    double low, high;
    double step;              /* between ticks; their ratio on a logarithmic axis */
    bool logarithmic;         /* low > 0 */
    const char *const *names; /* names of the groups of bars at 0, 1, …, or NULL for numbers */
} svg_axis;

typedef struct svg_plot {
    FILE *out;
    svg_axis x, y;
    int series; /* number begun so far; the first four have different colours */
} svg_plot;

/* Writes an escaped text. Characters that XML does not allow become question marks. */
static inline void svg_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else
            fputc(c < 0x20 && c != '\t' && c != '\n' ? '?' : c, out);
    }
}

static inline double svg_place(const svg_axis *axis, double value, double from, double to)
{
    double share = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
                                     : (value - axis->low) / (axis->high - axis->low);
    return from + (to - from) * share;
}

static inline double svg_x(const svg_plot *plot, double value)
{
    return svg_place(&plot->x, value, SVG_LEFT, SVG_RIGHT);
}

static inline double svg_y(const svg_plot *plot, double value)
{
    return svg_place(&plot->y, value, SVG_BOTTOM, SVG_TOP);
}

static inline void svg_label(FILE *out, double x, double y, const char *attributes,
                             const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
    svg_text(out, text);
    fputs("</text>\n", out);
}

static inline void svg_ticks_of_x(const svg_plot *plot)
{
    const svg_axis *axis = &plot->x;
    char text[32];
    for (int i = 0; axis->names != NULL && i < axis->high; i++)
        svg_label(plot->out, svg_x(plot, i), SVG_BOTTOM + 18, " class=\"middle small\"",
                  axis->names[i]);
    for (double at = axis->low; axis->names == NULL && at <= axis->high * (1 + 1e-9);
         at = axis->logarithmic ? at * axis->step : at + axis->step) {
        snprintf(text, sizeof text, "%g", at);
        svg_label(plot->out, svg_x(plot, at), SVG_BOTTOM + 18, " class=\"middle\"", text);
    }
}

static inline void svg_ticks_of_y(const svg_plot *plot)
{
    const svg_axis *axis = &plot->y;
    char text[32];
    for (double at = axis->low; at <= axis->high * (1 + 1e-9);
         at = axis->logarithmic ? at * axis->step : at + axis->step) {
        double y = svg_y(plot, at);
        fprintf(plot->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", SVG_LEFT, y, SVG_RIGHT);
        snprintf(text, sizeof text, "%g", at);
        svg_label(plot->out, SVG_LEFT - 8, y + 4, " class=\"end\"", text);
    }
}

/* Writes the style sheet. It uses plain properties and no CSS variables, because many viewers of
 * SVG do not support them. */
static inline void svg_colours(FILE *out, const char *paper, const char *ink, const char *grid,
                               const char *const *series)
{
    fprintf(out, ".paper{fill:%s}text{fill:%s}.rule{stroke:%s}.grid{stroke:%s}\n", paper, ink, ink,
            grid);
    for (int i = 0; i < 4; i++)
        fprintf(out, ".s%d{fill:%s}polyline.s%d{fill:none;stroke:%s}\n", i, series[i], i,
                series[i]);
}

static inline void svg_plot_begin(svg_plot *plot, const char *title)
{
    FILE *out = plot->out;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\">\n<title>",
            SVG_WIDTH, SVG_HEIGHT, SVG_WIDTH, SVG_HEIGHT);
    svg_text(out, title);
    fputs("</title>\n<style>\n"
          "text{font:13px sans-serif}.title{font-size:15px;font-weight:bold}"
          ".small{font-size:11px}.middle{text-anchor:middle}.end{text-anchor:end}\n"
          "polyline{stroke-width:2}.rule{stroke-dasharray:5 4}\n",
          out);
    svg_colours(out, "#fff", "#222", "#ddd",
                (const char *[]){"#0072b2", "#007a5a", "#c04a00", "#a0428a"});
    fputs("@media(prefers-color-scheme:dark){\n", out);
    svg_colours(out, "#161b22", "#e6e6e6", "#3a414b",
                (const char *[]){"#56b4e9", "#2fc79a", "#ff9d4d", "#e79ad0"});
    fputs("}\n", out);
    fprintf(out, "</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", SVG_WIDTH,
            SVG_HEIGHT);
    svg_label(out, SVG_LEFT, 28, " class=\"title\"", title);
    svg_ticks_of_x(plot);
    svg_ticks_of_y(plot);
    svg_label(out, (SVG_LEFT + SVG_RIGHT) / 2.0, SVG_BOTTOM + 48, " class=\"middle\"",
              plot->x.label);
    svg_label(out, 0, 0, " class=\"middle\" transform=\"translate(20 221) rotate(-90)\"",
              plot->y.label);
}

/* Gives the next series its colour and its place in the legend: two columns of two rows. */
static inline int svg_begin_series(svg_plot *plot, const char *name)
{
    int index = plot->series++;
    double x = SVG_LEFT + 300 * (index % 2), y = 52 + 20 * (index / 2);
    fprintf(plot->out, "<rect class=\"s%d\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n",
            index % 4, x, y - 10);
    svg_label(plot->out, x + 18, y, "", name);
    return index % 4;
}

static inline void svg_plot_points(svg_plot *plot, const char *name, const double *x,
                                   const double *y, size_t count, bool joined)
{
    int colour = svg_begin_series(plot, name);
    if (joined) {
        fprintf(plot->out, "<polyline class=\"s%d\" points=\"", colour);
        for (size_t i = 0; i < count; i++)
            if (isfinite(x[i]) && isfinite(y[i]))
                fprintf(plot->out, "%.1f,%.1f ", svg_x(plot, x[i]), svg_y(plot, y[i]));
        fputs("\"/>\n", plot->out);
    }
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i]))
            fprintf(plot->out, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n",
                    colour, svg_x(plot, x[i]), svg_y(plot, y[i]));
}

/* Draws one bar in each group. `together` is the number of series that will share the groups. The
 * axis x runs from −0.5 to the number of groups minus 0.5. */
static inline void svg_plot_bars(svg_plot *plot, const char *name, const double *values,
                                 size_t count, int together)
{
    double width = 0.8 / together, offset = width * plot->series - 0.4;
    int colour = svg_begin_series(plot, name);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        double left = svg_x(plot, (double)i + offset), top = svg_y(plot, values[i]);
        double right = svg_x(plot, (double)i + offset + width);
        fprintf(plot->out,
                "<rect class=\"s%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                colour, left, top, right - left, SVG_BOTTOM - top);
    }
}

/* A dashed line with its label above the right end. */
static inline void svg_plot_rule(const svg_plot *plot, double x0, double y0, double x1, double y1,
                                 const char *label)
{
    fprintf(plot->out, "<path class=\"rule\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", svg_x(plot, x0),
            svg_y(plot, y0), svg_x(plot, x1), svg_y(plot, y1));
    svg_label(plot->out, svg_x(plot, x1) - 4, svg_y(plot, y1) - 6, " class=\"end small\"", label);
}

static inline void svg_plot_end(const svg_plot *plot)
{
    fputs("</svg>\n", plot->out);
}

#endif
