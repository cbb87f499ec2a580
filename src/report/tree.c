/* The call tree: operations below the operation they ran in, the most expensive first.
 *
 * A record lists parents before children, so one pass backwards links every operation into its
 * parent's list of children, and each list is sorted when it is entered. The walk keeps its own
 * stack: a saved record may be deeper than a thread's stack allows. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay/report.h"
#include "base/error.h"
#include "report/format.h"

enum { NAME_WIDTH = 26, MAX_INDENT = 16, COUNT_WIDTH = 8, TIME_WIDTH = 9 };

typedef struct tree {
    const assay_record *record;
    size_t *order;  /* all operations in the order to print */
    size_t *depths; /* of order[i] */
} tree;

/* A child and what it is sorted by. */
typedef struct entry {
    size_t operation;
    double total_seconds;
} entry;

static int more_expensive_first(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->total_seconds != b->total_seconds)
        return a->total_seconds > b->total_seconds ? -1 : 1;
    return a->operation < b->operation ? -1 : a->operation > b->operation;
}

static size_t parent_slot(const assay_record *record, size_t operation)
{
    int32_t parent = record->operations[operation].parent;
    return parent >= 0 && (size_t)parent < operation ? (size_t)parent + 1 : 0;
}

/* Children of slot s (0: the top, else operation s - 1) end up in entries[starts[s] …
 * starts[s + 1]), sorted: a counting sort by parent. */
static void group_children(const assay_record *record, size_t *starts, entry *entries)
{
    size_t count = record->operation_count;
    for (size_t i = 0; i < count; i++)
        starts[parent_slot(record, i) + 2]++;
    for (size_t s = 2; s < count + 3; s++)
        starts[s] += starts[s - 1];
    for (size_t i = 0; i < count; i++)
        entries[starts[parent_slot(record, i) + 1]++] =
            (entry){i, record->operations[i].total_seconds};
    for (size_t s = 0; s <= count; s++)
        qsort(entries + starts[s], starts[s + 1] - starts[s], sizeof *entries,
              more_expensive_first);
}

/* Depth first, children in order: push them reversed, so that the first is popped first. */
static void walk(const size_t *starts, const entry *entries, size_t *stack, size_t *stack_depths,
                 tree *result)
{
    size_t used = 0, printed = 0;
    for (size_t i = starts[1]; i-- > starts[0];) {
        stack_depths[used] = 0;
        stack[used++] = entries[i].operation;
    }
    while (used > 0) {
        size_t operation = stack[--used], depth = stack_depths[used];
        result->order[printed] = operation;
        result->depths[printed++] = depth;
        for (size_t i = starts[operation + 2]; i-- > starts[operation + 1];) {
            stack_depths[used] = depth + 1;
            stack[used++] = entries[i].operation;
        }
    }
}

static assay_status build(tree *result, assay_error *error)
{
    size_t count = result->record->operation_count;
    size_t *starts = calloc(count + 3, sizeof *starts);
    entry *entries = calloc(count, sizeof *entries);
    size_t *stack = calloc(count, 2 * sizeof *stack);
    result->order = calloc(count, sizeof *result->order);
    result->depths = calloc(count, sizeof *result->depths);
    assay_status status = ASSAY_OK;
    if (starts == NULL || entries == NULL || stack == NULL || result->order == NULL ||
        result->depths == NULL) {
        status =
            assay__fail(error, ASSAY_E_MEMORY, "out of memory for a tree of %zu operations", count);
        goto cleanup;
    }
    group_children(result->record, starts, entries);
    walk(starts, entries, stack, stack + count, result);
cleanup:
    free(starts);
    free(entries);
    free(stack);
    return status;
}

static void print_cell(FILE *stream, assay_reading reading)
{
    char text[ASSAY__FORMAT_SIZE];
    assay__format_right(stream,
                        reading.validity == ASSAY_VALID ? assay__format_seconds(reading.value, text)
                                                        : "n/a",
                        TIME_WIDTH);
}

static void print_operation(FILE *stream, const assay_record_operation *shown, size_t depth)
{
    char text[ASSAY__FORMAT_SIZE];
    size_t indent = 2 * depth < MAX_INDENT ? 2 * depth : MAX_INDENT;
    fprintf(stream, "%*s", (int)indent, "");
    assay__format_left(stream, shown->name, NAME_WIDTH - indent);
    assay__format_right(stream, assay__format_count(shown->count, text), COUNT_WIDTH);
    print_cell(stream, assay_reading_of(shown->total_seconds));
    print_cell(stream, assay_reading_of(shown->self_seconds));
    print_cell(stream, shown->mean_seconds);
    print_cell(stream, shown->p50_seconds);
    print_cell(stream, shown->p99_seconds);
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

static void note(FILE *stream, uint64_t count, const char *meaning)
{
    if (count > 0)
        fprintf(stream, "note: %llu %s\n", (unsigned long long)count, meaning);
}

static void print_integrity(const assay_record_integrity *integrity, FILE *stream)
{
    note(stream, integrity->dropped_spans,
         "spans not counted: no room for their operation (raise journal_bytes)");
    note(stream, integrity->dropped_events,
         "trace events overwritten by newer ones (raise trace_events)");
    note(stream, integrity->mismatched_ends, "span ends without their begin");
    note(stream, integrity->abandoned_spans, "spans never ended although an enclosing span ended");
    note(stream, integrity->torn_operations, "operations were being updated when read");
    note(stream, integrity->unreadable_journals, "journals could not be read");
}

static void print_heading(FILE *stream)
{
    static const char *const titles[] = {"total", "self", "mean", "p50", "p99"};
    assay__format_left(stream, "operation", NAME_WIDTH);
    assay__format_right(stream, "count", COUNT_WIDTH);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__format_right(stream, titles[i], TIME_WIDTH);
    fputc('\n', stream);
    for (size_t i = 0; i < NAME_WIDTH + COUNT_WIDTH + 5 * TIME_WIDTH; i++)
        fputc('-', stream);
    fputc('\n', stream);
}

assay_status assay_report_tree(const assay_record *record, FILE *stream, assay_error *error)
{
    tree shown = {.record = record};
    assay_status status = ASSAY_OK;
    if (record->operation_count == 0) {
        fputs("no span was completed\n", stream);
    } else {
        status = build(&shown, error);
        if (status == ASSAY_OK) {
            print_heading(stream);
            for (size_t i = 0; i < record->operation_count; i++)
                print_operation(stream, &record->operations[shown.order[i]], shown.depths[i]);
        }
    }
    if (status == ASSAY_OK) {
        print_open_spans(record, stream);
        print_integrity(&record->integrity, stream);
    }
    free(shown.order);
    free(shown.depths);
    return status;
}
