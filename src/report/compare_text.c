/* Prints comparisons as a page of text, 80 columns wide or as wide as the terminal. Differences
 * between the machines come first, because a reader should know them before a verdict. */
#include <math.h>
#include <string.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "base/text.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum { NAME_WIDTH = 20, RATIO_WIDTH = 7, INTERVAL_WIDTH = 18, INDENT = 4 };
enum { LABEL_WIDTH = 23, VALUE_WIDTH = 27 }; /* for differences */

/* Write a share in percent: "1", "0.5", "99.9995". Near 0 and 100 it has two significant digits of
 * the distance from there. Zeros at the end are removed. */
static const char *format_percent(double share, char text[ASSAY__CELL_BYTES])
{
    double off = 100 * fmin(share, 1 - share);
    int decimals = off > 0 && off < 0.1 ? 1 - (int)floor(log10(off)) : 2;
    assay__cell_fixed(text, 100 * share, decimals < 9 ? decimals : 9);
    if (strchr(text, '.') == NULL)
        return text;
    size_t length = strlen(text);
    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[length - 1] = '\0';
    return text;
}

/* A path, without its folders if it is too long; NULL for NULL. */
static const char *short_path(const char *path, size_t width)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash == NULL || slash[1] == '\0' || assay__text_columns(path) <= width)
        return path;
    return slash + 1;
}

/* Step back from the begin of a part of the path to the begin of the part before it. */
static const char *part_before(const char *path, const char *part)
{
    if (part - path < 2)
        return path;
    for (part -= 2; part > path && part[-1] != '/';)
        part--;
    return part;
}

/* Shorten two paths of files with the same name: each begins with the last folder by which they
 * differ. */
static void tell_apart(const char **one, const char **other)
{
    const char *a = *one + strlen(*one), *b = *other + strlen(*other);
    while (strcmp(a, b) == 0 && (a > *one || b > *other)) {
        a = part_before(*one, a);
        b = part_before(*other, b);
    }
    *one = a;
    *other = b;
}

/* A label and two values side by side, in as many lines as they need. `indent` is that of the
 * label. */
static void print_side_by_side(FILE *stream, const char *label, size_t indent, const char *baseline,
                               const char *candidate)
{
    const size_t width = assay__format_name_width(stream, 2 * VALUE_WIDTH) / 2;
    const char *cells[] = {label, baseline != NULL ? baseline : "unknown",
                           candidate != NULL ? candidate : "unknown"};
    const size_t starts[] = {indent, LABEL_WIDTH + 1, LABEL_WIDTH + 1 + width + 2};
    const size_t widths[] = {LABEL_WIDTH - indent, width, width};
    while (*cells[0] != '\0' || *cells[1] != '\0' || *cells[2] != '\0') {
        size_t column = 0;
        for (size_t k = 0; k < 3; k++)
            if (*cells[k] != '\0') {
                fprintf(stream, "%*s", (int)(starts[k] - column), "");
                column = starts[k] + assay__format_cell(stream, &cells[k], widths[k]);
            }
        fputc('\n', stream);
    }
}

static void print_differences(const assay_record *record, FILE *stream)
{
    const char *baseline = NULL, *candidate = NULL;
    for (size_t i = 0; i < record->difference_count; i++) {
        const assay_record_difference *it = &record->differences[i];
        if (i == 0 || !assay__text_same(it->baseline_origin, baseline) ||
            !assay__text_same(it->candidate_origin, candidate))
            print_side_by_side(stream, "differs", 0, short_path(it->baseline_origin, VALUE_WIDTH),
                               short_path(it->candidate_origin, VALUE_WIDTH));
        baseline = it->baseline_origin;
        candidate = it->candidate_origin;
        print_side_by_side(stream, it->what, 2, it->baseline, it->candidate);
    }
    if (record->difference_count > 0)
        fputc('\n', stream);
}

/* Whether two records are compared. The name of the benchmark then stands above, and the files
 * stand in the columns. */
static bool is_between_records(const assay_record_comparison *it)
{
    return assay__text_same(it->baseline, it->candidate) && it->baseline_origin != NULL &&
           it->candidate_origin != NULL &&
           !assay__text_same(it->baseline_origin, it->candidate_origin);
}

/* The width of the columns of names. On a wide terminal they get the additional columns, as far as
 * a name needs them. */
static size_t name_width(const assay_record *record, FILE *stream)
{
    char label[ASSAY__SUBJECT_LABEL];
    size_t longest = NAME_WIDTH, room = assay__format_name_width(stream, 2 * NAME_WIDTH) / 2;
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *it = &record->comparisons[i];
        const char *names[] = {it->baseline, it->candidate, it->baseline_origin,
                               it->candidate_origin};
        for (size_t k = is_between_records(it) ? 2 : 0; k < 4 && names[k] != NULL; k++) {
            size_t columns = assay__text_columns(assay__subject_label(record, names[k], label)) + 3;
            longest = columns > longest ? columns : longest;
        }
    }
    return longest < room ? longest : room;
}

static void print_heading(FILE *stream, size_t width)
{
    assay__format_left(stream, "baseline", width);
    assay__format_left(stream, "candidate", width);
    assay__format_right(stream, "ratio", RATIO_WIDTH);
    assay__format_right(stream, "95 % interval", INTERVAL_WIDTH);
    fputs("  verdict\n", stream);
}

/* The columns of names, and whether the names stand one below the other instead. */
typedef struct name_layout {
    size_t width;
    bool stacked;
} name_layout;

/* What names the two sides of a comparison, with the room for it. */
typedef struct side_names {
    char labels[2][ASSAY__SUBJECT_LABEL];
    const char *baseline, *candidate;
    size_t indent;
} side_names;

static void name_sides(const assay_record *record, const assay_record_comparison *it, size_t width,
                       side_names *names)
{
    names->indent = 0;
    names->baseline = assay__subject_label(record, it->baseline, names->labels[0]);
    names->candidate = assay__subject_label(record, it->candidate, names->labels[1]);
    if (!is_between_records(it))
        return;
    names->indent = 2;
    names->baseline = short_path(it->baseline_origin, width - 3);
    names->candidate = short_path(it->candidate_origin, width - 1);
    if (assay__text_same(names->baseline, names->candidate)) { /* files in two folders */
        names->baseline = it->baseline_origin;
        names->candidate = it->candidate_origin;
        tell_apart(&names->baseline, &names->candidate);
    }
}

/* If a name is too long for its column, all names are stacked: a name must not be cut, because it
 * often differs from another one in the part that would be cut out. */
static name_layout layout_of(const assay_record *record, FILE *stream)
{
    name_layout layout = {.width = name_width(record, stream)};
    for (size_t i = 0; i < record->comparison_count && !layout.stacked; i++) {
        side_names names;
        if (record->comparisons[i].beside)
            continue;
        name_sides(record, &record->comparisons[i], layout.width, &names);
        layout.stacked = assay__text_columns(names.baseline) + names.indent >= layout.width ||
                         assay__text_columns(names.candidate) >= layout.width;
    }
    return layout;
}

/* Print the names of a row up to the column of figures. In a stack a baseline that the row above
 * has too is not printed again. */
static void print_names(FILE *stream, const side_names *names, name_layout layout, bool same_above)
{
    const size_t room = 2 * layout.width - 1, left = names->indent + INDENT;
    if (!layout.stacked) {
        fprintf(stream, "%*s", (int)names->indent, "");
        assay__format_left(stream, names->baseline, layout.width - names->indent);
        assay__format_left(stream, names->candidate, layout.width - 1);
        return;
    }
    if (!same_above)
        assay__format_wrapped(stream, names->baseline, names->indent);
    if (assay__text_columns(names->candidate) < room - left) {
        fprintf(stream, "%*s", (int)left, "");
        assay__format_left(stream, names->candidate, room - left);
        return;
    }
    assay__format_wrapped(stream, names->candidate, left);
    fprintf(stream, "%*s", (int)room, "");
}

static assay__shade shade_of(assay_verdict verdict)
{
    return verdict == ASSAY_VERDICT_FASTER   ? ASSAY__SHADE_GOOD
           : verdict == ASSAY_VERDICT_SLOWER ? ASSAY__SHADE_BAD
           : verdict == ASSAY_VERDICT_SAME   ? ASSAY__SHADE_PLAIN
                                             : ASSAY__SHADE_DOUBTFUL;
}

static void print_figures(const assay_record_comparison *it, FILE *stream)
{
    char low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES], text[2 * ASSAY__CELL_BYTES + 8];
    assay__format_right(stream, assay__cell_reading(low, it->ratio, 3, RATIO_WIDTH),
                        RATIO_WIDTH + 1);
    if (it->low.validity == ASSAY_VALID && it->high.validity == ASSAY_VALID)
        snprintf(text, sizeof text, "%s … %s", assay__cell_reading(low, it->low, 3, 7),
                 assay__cell_reading(high, it->high, 3, 7));
    else
        snprintf(text, sizeof text, "n/a");
    assay__format_right(stream, text, INTERVAL_WIDTH);
    fputs("  ", stream);
    assay__format_shaded(stream, shade_of(it->verdict), assay_verdict_text(it->verdict));
    fputc('\n', stream);
}

/* Print the reason below the first verdict that has it, with the number of other verdicts that have
 * it too. */
static void print_reason(const assay_record *record, const assay_record_comparison *it,
                         size_t indent, FILE *stream)
{
    char text[1024], more[64] = "";
    size_t others = 0;
    if (it->reason == NULL)
        return;
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *other = &record->comparisons[i];
        bool same = other != it && !other->beside && assay__text_same(other->reason, it->reason);
        if (same && other < it)
            return;
        others += same;
    }
    if (others > 0)
        snprintf(more, sizeof more, " (and for %zu more below)", others);
    snprintf(text, sizeof text, "%.900s%s", it->reason, more);
    assay__format_wrapped(stream, text, indent);
}

/* Print one comparison. `above` is the comparison before it, or NULL. If both have the same name,
 * it is not printed again. */
static void print_comparison(const assay_record *record, const assay_record_comparison *it,
                             const assay_record_comparison *above, name_layout layout, FILE *stream)
{
    side_names names;
    bool between = is_between_records(it);
    bool named = above != NULL && is_between_records(above) == between &&
                 assay__text_same(it->baseline, above->baseline);
    if (between && !named) {
        assay__format_line(stream, it->baseline, 0);
        fputc('\n', stream);
    }
    name_sides(record, it, layout.width, &names);
    print_names(stream, &names, layout,
                named && assay__text_same(it->baseline_origin, above->baseline_origin));
    print_figures(it, stream);
    print_reason(record, it, layout.stacked ? 2 * INDENT : INDENT, stream);
}

const char *assay__metric_name(const char *metric)
{
    static const char *const names[][2] = {{"wall_seconds", "wall time"},
                                           {"cpu_seconds", "processor time"},
                                           {"peak_rss_bytes", "peak memory"},
                                           {"heap_peak_bytes", "peak of the heap"},
                                           {"heap_allocations", "heap allocations"},
                                           {"energy_joules", "energy"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(metric, names[i][0]) == 0)
            return names[i][1];
    return metric;
}

/* Whether to show the comparison. Processor time is not shown if its verdict is the same as that of
 * wall time. */
static bool is_news(const assay_record *record, const assay_record_comparison *it)
{
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *other = &record->comparisons[i];
        if (!other->beside && other->verdict == it->verdict &&
            strcmp(it->metric, "cpu_seconds") == 0 &&
            assay__text_same(other->baseline, it->baseline) &&
            assay__text_same(other->candidate, it->candidate) &&
            assay__text_same(other->baseline_origin, it->baseline_origin) &&
            assay__text_same(other->candidate_origin, it->candidate_origin))
            return false;
    }
    return true;
}

/* Print the other metrics. A comparison that does not lead gets a line only if it shows a
 * difference; the record holds all of them. */
static void print_other_metrics(const assay_record *record, FILE *stream)
{
    bool first = true;
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *it = &record->comparisons[i];
        char ratio[ASSAY__CELL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES], text[640];
        if (!it->beside || it->metric == NULL ||
            (it->verdict != ASSAY_VERDICT_FASTER && it->verdict != ASSAY_VERDICT_SLOWER) ||
            !is_news(record, it))
            continue;
        bool between = is_between_records(it);
        snprintf(text, sizeof text, "%s: '%.200s'%s%.200s takes %s times as much (%s to %s): %s",
                 assay__metric_name(it->metric), it->candidate, between ? " in " : "",
                 between ? it->candidate_origin : "", assay__cell_reading(ratio, it->ratio, 3, 7),
                 assay__cell_reading(low, it->low, 3, 7), assay__cell_reading(high, it->high, 3, 7),
                 it->verdict == ASSAY_VERDICT_FASTER ? "less" : "more");
        if (first)
            fputc('\n', stream);
        first = false;
        assay__format_wrapped(stream, text, 0);
    }
}

/* The quantity that the ratios compare: time, unless all of them compare another metric. */
static const char *leading_metric(const assay_record *record)
{
    const char *metric = record->comparisons[0].metric;
    for (size_t i = 1; i < record->comparison_count && metric != NULL; i++)
        if (!record->comparisons[i].beside && (record->comparisons[i].metric == NULL ||
                                               strcmp(record->comparisons[i].metric, metric) != 0))
            metric = NULL;
    return metric == NULL || strcmp(metric, "wall_seconds") == 0 ? "time"
                                                                 : assay__metric_name(metric);
}

enum { RULE_BYTES = 1024 };

/* Compose the rule by which the record's verdicts were reached, one paragraph on each line. */
static void compose_rule(const assay_record *record, char text[RULE_BYTES])
{
    char margin[ASSAY__CELL_BYTES], level[ASSAY__CELL_BYTES], shared[256] = "";
    double highest = 0;
    size_t series = 0;
    for (size_t i = 0; i < record->comparison_count; i++) {
        if (record->comparisons[i].beside)
            continue;
        highest = fmax(highest, record->comparisons[i].decision_level);
        series += !record->comparisons[i].paired;
    }
    format_percent(record->comparisons[0].margin, margin);
    if (highest > 0.99 + 1e-9)
        snprintf(shared, sizeof shared,
                 "The comparisons, their metrics and all looks at the samples share the risk of "
                 "1 %%: intervals of up to %s %% decided.\n",
                 format_percent(highest, level));
    snprintf(text, RULE_BYTES,
             "ratio: the candidate's %s over the baseline's. faster, slower: the 99 %% interval of "
             "the ratio lies wholly beyond 1 ± %s %%; same: the 95 %% interval, shown here, lies "
             "wholly within; otherwise inconclusive.\n%s%s",
             leading_metric(record), margin, shared,
             series > 0
                 ? "Samples were not interleaved: what else changed between the measurements "
                   "is part of the ratio.\n"
                 : "");
}

/* Print the rule, unless the record above has printed the same one. */
static void print_rule(const assay_record *record, const assay_record *above, FILE *stream)
{
    char text[RULE_BYTES], told[RULE_BYTES] = "";
    compose_rule(record, text);
    if (above != NULL)
        compose_rule(above, told);
    if (strcmp(text, told) == 0)
        return;
    fputc('\n', stream);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        assay__format_wrapped(stream, line, 0);
    }
}

/* List the benchmarks that were not compared, because a reader who sees only good verdicts would
 * not notice. */
static void print_missing(const assay_record *record, FILE *stream)
{
    for (size_t i = 0; i < record->difference_count; i++) {
        const assay_record_difference *it = &record->differences[i];
        const char *name = assay_difference_missing(it), *from = it->candidate_origin;
        char text[640];
        if (name == NULL)
            continue;
        snprintf(text, sizeof text, "Not compared: '%.256s' is missing from %.256s.", name,
                 from != NULL ? from : "the candidate");
        assay__format_wrapped(stream, text, 0);
    }
}

assay_status assay__report_comparisons(const assay_record *record, const assay_record *above,
                                       FILE *stream, assay_error *error)
{
    (void)error;
    print_differences(record, stream);
    if (record->comparison_count == 0) {
        fputs("nothing to compare: fewer than two subjects\n", stream);
        return ASSAY_OK;
    }
    const name_layout layout = layout_of(record, stream);
    print_heading(stream, layout.width);
    const assay_record_comparison *last = NULL;
    for (size_t i = 0; i < record->comparison_count; i++)
        if (!record->comparisons[i].beside) {
            print_comparison(record, &record->comparisons[i], last, layout, stream);
            last = &record->comparisons[i];
        }
    print_other_metrics(record, stream);
    print_rule(record, above, stream);
    print_missing(record, stream);
    return ASSAY_OK;
}
