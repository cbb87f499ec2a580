/* Prints the contents of a journal as a page of text, 80 columns wide: the threads, the call tree,
 * the individually recorded spans, and the counters. */
#include <math.h>

#include "assay/record.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum { NAME_WIDTH = 24, FIGURE_WIDTH = 11, SHOWN_METRICS = 40 };

static void print_who(const assay_record *record, FILE *stream)
{
    size_t processes = 0, threads = 0, ended = 0;
    int64_t last = -1;
    for (size_t i = 0; i < record->lane_count; i++) {
        const assay_record_lane *lane = &record->lanes[i];
        processes += i == 0 || lane->process_id != last;
        last = lane->process_id;
        threads += lane->kind == ASSAY_LANE_THREAD;
        ended += lane->kind == ASSAY_LANE_THREAD && lane->ended;
    }
    if (record->name != NULL) {
        assay__format_left(stream, "monitor", 18);
        assay__format_line(stream, record->name, 18);
        fputc('\n', stream);
    }
    if (processes == 1)
        fprintf(stream, "%-18s%lld\n", "process", (long long)last);
    else
        fprintf(stream, "%-18s%zu\n", "processes", processes);
    fprintf(stream, "%-18s%zu", "threads", threads);
    if (ended > 0)
        fprintf(stream, ", %zu of them ended", ended);
    fputs("\n\n", stream);
}

static void print_figure(FILE *stream, double value)
{
    char text[ASSAY__CELL_BYTES];
    double size = fabs(value);
    int decimals = size == floor(size) && size < 1e9 ? 0 : size < 1e3 ? 5 : 1;
    assay__format_right(stream, assay__cell_number(text, value, decimals, FIGURE_WIDTH - 1),
                        FIGURE_WIDTH);
}

static void print_counters(const assay_record *record, FILE *stream)
{
    static const char *const titles[] = {"last", "min", "max", "mean"};
    char text[ASSAY__FORMAT_SIZE];
    fputc('\n', stream);
    assay__format_left(stream, "counter", assay__format_name_width(stream, NAME_WIDTH));
    assay__format_right(stream, "count", FIGURE_WIDTH);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__format_right(stream, titles[i], FIGURE_WIDTH);
    fputc('\n', stream);
    for (size_t i = 0; i < record->counter_count; i++) {
        const assay_record_counter *counter = &record->counters[i];
        assay__format_left(stream, counter->name, assay__format_name_width(stream, NAME_WIDTH));
        assay__format_right(stream, assay__format_count(counter->count, text), FIGURE_WIDTH);
        print_figure(stream, counter->last);
        print_figure(stream, counter->min);
        print_figure(stream, counter->max);
        print_figure(stream, counter->mean);
        fputc('\n', stream);
    }
}

/* Blanks before a name. Deep levels share one indentation, so that the name keeps some room. */
static size_t indent_of(int32_t depth)
{
    enum { DEEPEST = 7 };
    return 2 * (size_t)(depth < 0 ? 0 : depth < DEEPEST ? depth : DEEPEST);
}

static void print_metrics(const assay_record *record, FILE *stream)
{
    char text[ASSAY__FORMAT_SIZE];
    fputc('\n', stream);
    assay__format_left(stream, "single span", assay__format_name_width(stream, NAME_WIDTH));
    assay__format_right(stream, "start", FIGURE_WIDTH);
    assay__format_right(stream, "duration", FIGURE_WIDTH);
    assay__format_right(stream, "memory", FIGURE_WIDTH);
    fputc('\n', stream);
    for (size_t i = 0; i < record->metric_count && i < SHOWN_METRICS; i++) {
        const assay_record_metric *metric = &record->metrics[i];
        size_t indent = indent_of(metric->depth);
        fprintf(stream, "%*s", (int)indent, "");
        assay__format_left(stream, metric->operation,
                           assay__format_name_width(stream, NAME_WIDTH) - indent);
        assay__format_right(stream, assay__format_seconds(metric->start_seconds, text),
                            FIGURE_WIDTH);
        assay__format_right(stream, assay__format_seconds(metric->duration_seconds, text),
                            FIGURE_WIDTH);
        double bytes = assay__value_or_nan(metric->cpu_delta_bytes);
        assay__format_right(stream, assay__format_bytes(bytes, text), FIGURE_WIDTH);
        fputc('\n', stream);
    }
    if (record->metric_count > SHOWN_METRICS)
        fprintf(stream, "and %zu more\n", record->metric_count - SHOWN_METRICS);
}

assay_status assay__report_journal(const assay_record *record, FILE *stream, assay_error *error)
{
    print_who(record, stream);
    assay_status status = assay__report_tree(record, stream, error);
    if (status == ASSAY_OK && record->metric_count > 0)
        print_metrics(record, stream);
    if (status == ASSAY_OK && record->counter_count > 0)
        print_counters(record, stream);
    return status;
}
