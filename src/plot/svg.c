/* Writes the elements of an SVG document into a buffer. The document contains a light and a dark
 * theme; the viewer chooses one by the reader's preference. */
#include "plot/svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/cell.h"

/* A limit that no plot reaches: a plot has only a few marks for each pixel of its width and row. */
enum { MAX_BYTES = 64 << 20 };

static const double GLYPH = 6.2; /* mean width of a character in the font below, rounded up */

typedef struct theme {
    const char *paper, *ink, *grid, *good, *bad, *doubt;
    const char *series[ASSAY__SVG_COLOURS];
} theme;

/* The colours of Okabe and Ito, which colour-blind readers can distinguish, darkened or lightened
 * until they have a contrast of 4.5 with the paper. */
static const theme light = {
    .paper = "#fff",
    .ink = "#222",
    .grid = "#ddd",
    .good = "#007a5a",
    .bad = "#c04a00",
    .doubt = "#666",
    .series = {"#0072b2", "#c04a00", "#007a5a", "#a0428a", "#7a6100", "#555"},
};
static const theme dark = {
    .paper = "#161b22",
    .ink = "#e6e6e6",
    .grid = "#3a414b",
    .good = "#2fc79a",
    .bad = "#ff9d4d",
    .doubt = "#aaa",
    .series = {"#56b4e9", "#ff9d4d", "#2fc79a", "#e79ad0", "#e6c229", "#bbb"},
};

static void append(assay__svg *svg, const char *text)
{
    (void)assay__buffer_append_text(&svg->text, text);
}

/* Append a number with two decimals. Hundredths of a pixel are finer than anyone can see. */
static void append_number(assay__svg *svg, double value)
{
    char text[ASSAY__CELL_BYTES];
    assay__cell_fixed(text, round(value * 100) / 100 + 0.0, 2);
    append(svg, text);
}

static void append_attribute(assay__svg *svg, const char *name, double value)
{
    append(svg, " ");
    append(svg, name);
    append(svg, "=\"");
    append_number(svg, value);
    append(svg, "\"");
}

static void append_classes(assay__svg *svg, const char *classes)
{
    if (*classes != '\0')
        (void)assay__buffer_printf(&svg->text, " class=\"%s\"", classes);
}

/* Append a text with the special characters of XML escaped. Control characters and bytes that are
 * not valid UTF-8 become question marks. */
static void append_escaped(assay__svg *svg, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t bytes = assay__text_sequence(text, left);
        const char *as = bytes == 0 || (unsigned char)*text < 0x20 ? "?"
                         : *text == '&'                            ? "&amp;"
                         : *text == '<'                            ? "&lt;"
                         : *text == '>'                            ? "&gt;"
                         : *text == '"'                            ? "&quot;"
                                                                   : NULL;
        bytes = bytes == 0 ? 1 : bytes;
        if (as != NULL)
            append(svg, as);
        else
            (void)assay__buffer_append(&svg->text, text, bytes);
        text += bytes;
        left -= bytes;
    }
}

static void append_theme(assay__svg *svg, const theme *it)
{
    (void)assay__buffer_printf(&svg->text,
                               ".paper{fill:%s}text{fill:%s}.axis,.rule{stroke:%s}.grid{stroke:%s}"
                               ".band{fill:%s}.inside{fill:%s}\n",
                               it->paper, it->ink, it->ink, it->grid, it->grid, it->paper);
    const struct {
        const char *name, *colour;
    } verdicts[] = {{"good", it->good}, {"bad", it->bad}, {"doubt", it->doubt}};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        (void)assay__buffer_printf(&svg->text, ".%s{fill:%s}line.%s{stroke:%s}\n", verdicts[i].name,
                                   verdicts[i].colour, verdicts[i].name, verdicts[i].colour);
    for (int i = 0; i < ASSAY__SVG_COLOURS; i++)
        (void)assay__buffer_printf(&svg->text, ".s%d{fill:%s}line.s%d,path.line.s%d{stroke:%s}\n",
                                   i, it->series[i], i, i, it->series[i]);
}

void assay__svg_begin(assay__svg *svg, double width, double height, const char *title)
{
    *svg = (assay__svg){0};
    assay__buffer_init(&svg->text, MAX_BYTES);
    append(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    append_number(svg, width);
    append(svg, " ");
    append_number(svg, height);
    append(svg, "\"");
    append_attribute(svg, "width", width);
    append_attribute(svg, "height", height);
    append(svg, " role=\"img\">\n<title>");
    append_escaped(svg, title);
    append(svg, "</title>\n<style>\n"
                "text{font:10.5px Helvetica,Arial,sans-serif}.title{font-weight:bold}"
                ".small{font-size:9px}\n"
                "line{stroke-width:1}line.thick{stroke-width:2.5}.rule{stroke-dasharray:4 3}"
                "path.line{fill:none!important;stroke-width:1.5;stroke-linejoin:round}"
                ".pale{fill-opacity:.45}\n");
    append_theme(svg, &light);
    append(svg, "@media(prefers-color-scheme:dark){\n");
    append_theme(svg, &dark);
    append(svg, "}\n</style>\n");
    assay__svg_rect(svg, "paper", (assay__svg_box){0, 0, width, height}, NULL);
}

void assay__svg_end(assay__svg *svg)
{
    append(svg, "</svg>\n");
}

static void append_text(assay__svg *svg, const char *text)
{
    append(svg, ">");
    append_escaped(svg, text);
    append(svg, "</text>\n");
}

void assay__svg_label(assay__svg *svg, assay__svg_point at, const char *anchor, const char *classes,
                      const char *text)
{
    append(svg, "<text");
    append_attribute(svg, "x", at.x);
    append_attribute(svg, "y", at.y);
    if (strcmp(anchor, "start") != 0)
        (void)assay__buffer_printf(&svg->text, " text-anchor=\"%s\"", anchor);
    append_classes(svg, classes);
    append_text(svg, text);
}

void assay__svg_label_upwards(assay__svg *svg, assay__svg_point at, const char *text)
{
    append(svg, "<text text-anchor=\"middle\" transform=\"translate(");
    append_number(svg, at.x);
    append(svg, " ");
    append_number(svg, at.y);
    append(svg, ") rotate(-90)\"");
    append_text(svg, text);
}

void assay__svg_line(assay__svg *svg, const char *classes, assay__svg_point from,
                     assay__svg_point to)
{
    if (!isfinite(from.x + from.y + to.x + to.y))
        return;
    append(svg, "<line");
    append_classes(svg, classes);
    append_attribute(svg, "x1", from.x);
    append_attribute(svg, "y1", from.y);
    append_attribute(svg, "x2", to.x);
    append_attribute(svg, "y2", to.y);
    append(svg, "/>\n");
}

void assay__svg_circle(assay__svg *svg, const char *classes, assay__svg_point at, double radius)
{
    if (!isfinite(at.x + at.y))
        return;
    append(svg, "<circle");
    append_classes(svg, classes);
    append_attribute(svg, "cx", at.x);
    append_attribute(svg, "cy", at.y);
    append_attribute(svg, "r", radius);
    append(svg, "/>\n");
}

void assay__svg_rect(assay__svg *svg, const char *classes, assay__svg_box box, const char *tip)
{
    if (!isfinite(box.left + box.top + box.right + box.bottom))
        return;
    append(svg, "<rect");
    append_classes(svg, classes);
    append_attribute(svg, "x", box.left);
    append_attribute(svg, "y", box.top);
    append_attribute(svg, "width", fmax(0, box.right - box.left));
    append_attribute(svg, "height", fmax(0, box.bottom - box.top));
    if (tip == NULL) {
        append(svg, "/>\n");
        return;
    }
    append(svg, "><title>");
    append_escaped(svg, tip);
    append(svg, "</title></rect>\n");
}

void assay__svg_path_begin(assay__svg *svg, const char *classes)
{
    append(svg, "<path");
    append_classes(svg, classes);
    append(svg, " d=\"");
    svg->path_points = 0;
}

void assay__svg_path_to(assay__svg *svg, assay__svg_point to)
{
    if (!isfinite(to.x + to.y))
        return;
    append(svg, svg->path_points++ == 0 ? "M" : "L");
    append_number(svg, to.x);
    append(svg, " ");
    append_number(svg, to.y);
}

void assay__svg_path_end(assay__svg *svg, bool closed)
{
    append(svg, closed && svg->path_points > 0 ? "Z\"/>\n" : "\"/>\n");
}

const char *assay__svg_series(size_t index)
{
    static const char *const names[ASSAY__SVG_COLOURS] = {"s0", "s1", "s2", "s3", "s4", "s5"};
    return names[index % ASSAY__SVG_COLOURS];
}

double assay__svg_text_width(const char *text)
{
    return GLYPH * (double)assay__text_columns(text);
}

const char *assay__svg_fit(const char *text, double room, char *shown, size_t bytes)
{
    size_t columns = room > GLYPH ? (size_t)(room / GLYPH) : 1, used = 0, left = strlen(text);
    if (assay__text_columns(text) <= columns && left < bytes) {
        memcpy(shown, text, left + 1);
        return shown;
    }
    while (left > 0 && columns-- > 1) {
        size_t length = assay__text_sequence(text + used, left);
        length = length == 0 ? 1 : length;
        if (used + length + sizeof "…" > bytes)
            break;
        memcpy(shown + used, text + used, length);
        used += length;
        left -= length;
    }
    memcpy(shown + used, "…", sizeof "…");
    return shown;
}
