/* Prints the call tree: each operation below the operation in which it ran, the most expensive
 * first. Spans that have not ended follow. */
#include <stdlib.h>

#include "analyze/operations.h"
#include "assay/report.h"
#include "base/error.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum { NAME_WIDTH = 26, MAX_INDENT = 16, COUNT_WIDTH = 8, TIME_WIDTH = 9 };

static void print_operation(FILE *stream, const assay_record_operation *shown, size_t depth)
{
    char text[ASSAY__FORMAT_SIZE];
    size_t indent = 2 * depth < MAX_INDENT ? 2 * depth : MAX_INDENT;
    fprintf(stream, "%*s", (int)indent, "");
    assay__format_left(stream, shown->name, assay__format_name_width(stream, NAME_WIDTH) - indent);
    assay__format_right(stream, assay__format_count(shown->count, text), COUNT_WIDTH);
    const double seconds[] = {
        shown->total_seconds, shown->self_seconds, assay__value_or_nan(shown->mean_seconds),
        assay__value_or_nan(shown->p50_seconds), assay__value_or_nan(shown->p99_seconds)};
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        assay__format_right(stream, assay__format_seconds(seconds[i], text), TIME_WIDTH);
    fputc('\n', stream);
}

static void print_open_spans(const assay_record *record, FILE *stream)
{
    enum { SHOWN = 20 };
    char text[ASSAY__FORMAT_SIZE];
    if (record->open_span_count > 0)
        fputs("\nbegun and not ended:\n", stream);
    for (size_t i = 0; i < record->open_span_count && i < SHOWN; i++) {
        const assay_record_open_span *span = &record->open_spans[i];
        size_t depth = span->depth > 0 ? (size_t)span->depth : 0;
        size_t indent = 2 * depth < MAX_INDENT ? 2 * depth : MAX_INDENT;
        const char *lane =
            span->lane < record->lane_count ? record->lanes[span->lane].name : "unknown thread";
        fprintf(stream, "  %*s", (int)indent, "");
        assay__format_left(stream, span->operation, 34 - indent);
        fputs("  since", stream);
        assay__format_right(stream, assay__format_seconds(span->start_seconds, text), TIME_WIDTH);
        fputs("  in ", stream);
        assay__format_cut(stream, lane != NULL ? lane : "(unnamed)", 20);
        fputc('\n', stream);
    }
    if (record->open_span_count > SHOWN)
        fprintf(stream, "  and %zu more\n", record->open_span_count - SHOWN);
}

static void print_heading(FILE *stream)
{
    static const char *const titles[] = {"total", "self", "mean", "p50", "p99"};
    assay__format_left(stream, "operation", assay__format_name_width(stream, NAME_WIDTH));
    assay__format_right(stream, "count", COUNT_WIDTH);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__format_right(stream, titles[i], TIME_WIDTH);
    fputc('\n', stream);
    for (size_t i = 0;
         i < assay__format_name_width(stream, NAME_WIDTH) + COUNT_WIDTH + 5 * TIME_WIDTH; i++)
        fputc('-', stream);
    fputc('\n', stream);
}

assay_status assay__report_tree(const assay_record *record, FILE *stream, assay_error *error)
{
    assay__tree_node *nodes = NULL;
    size_t count = 0;
    assay_status status = assay__operations_order(record, true, &nodes, &count);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot show a tree of %zu operations: %s",
                           record->operation_count, assay_status_message(status));
    if (count == 0)
        fputs("no span was completed\n", stream);
    else
        print_heading(stream);
    for (size_t i = 0; i < count; i++)
        print_operation(stream, &record->operations[nodes[i].index], nodes[i].depth);
    free(nodes);
    print_open_spans(record, stream);
    assay__print_integrity(&record->integrity, stream);
    return ASSAY_OK;
}
