/* Prints where the time and the memory of Python programs went: the ten lines and functions that
 * cost most. Lines keep to 80 columns. On a wider terminal, the source text gets the additional
 * columns. */
#include <stdlib.h>
#include <string.h>

#include "assay/record.h"
#include "base/error.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum {
    ROWS_MAX = 10,
    WAITING_ROWS_MAX = 5,
    SHARE_WIDTH = 7,
    ERROR_WIDTH = 6,
    FIGURE_WIDTH = 11,
    NATIVE_WIDTH = 8,
    PLACE_WIDTH = 22,
    PLACE_BYTES = 512
};

static const double least_waiting = 0.1; /* least share of the time for a table of its own */
static const double least_share = 5e-4;  /* least share of a row, so that it shows "0.1 %" */

/* Write a place as "train.py:42". For files such as __init__.py, which every package has, the
 * folder is shown too. */
static const char *place_of(const char *file, uint64_t line, char text[PLACE_BYTES])
{
    const char *base = strrchr(file, '/');
    if (base != NULL && strncmp(base, "/__", 3) == 0) {
        const char *folder = base;
        while (folder > file && folder[-1] != '/')
            folder--;
        base = folder - 1;
    }
    snprintf(text, PLACE_BYTES, "%s:%llu", base != NULL && file[0] != '<' ? base + 1 : file,
             (unsigned long long)line);
    return text;
}

static void print_share(FILE *stream, double part, double whole)
{
    char text[ASSAY__CELL_BYTES];
    assay__format_right(stream, assay__cell_percent(text, part, whole), SHARE_WIDTH);
}

/* Print half of the 95 % interval of a share, in percentage points. */
static void print_error(FILE *stream, const assay_record_code *code, double whole)
{
    char text[ASSAY__CELL_BYTES] = "n/a";
    if (code->self_error_seconds.validity == ASSAY_VALID && whole > 0)
        snprintf(text, sizeof text, "%.1f", 196 * code->self_error_seconds.value / whole);
    assay__format_right(stream, text, ERROR_WIDTH);
}

static void print_seconds(FILE *stream, double seconds)
{
    char text[ASSAY__FORMAT_SIZE];
    assay__format_right(stream, assay__format_seconds(seconds, text), FIGURE_WIDTH);
}

static void print_bytes(FILE *stream, double bytes)
{
    char text[ASSAY__FORMAT_SIZE];
    assay__format_right(stream, assay__format_bytes(bytes, text), FIGURE_WIDTH);
}

static void print_native(FILE *stream, const assay_record_code *code)
{
    char text[ASSAY__CELL_BYTES] = "n/a";
    if (code->native_seconds.validity == ASSAY_VALID && code->self_seconds > 0)
        snprintf(text, sizeof text, "%.0f%%",
                 100 * code->native_seconds.value / code->self_seconds);
    assay__format_right(stream, text, NATIVE_WIDTH);
}

/* Print the place and its source up to the end of the line, of which `used` columns are taken
 * already. */
static void print_place(FILE *stream, const char *file, uint64_t line, const char *source,
                        size_t used)
{
    char text[PLACE_BYTES];
    fputs("  ", stream);
    if (source == NULL) {
        assay__format_cut(stream, place_of(file, line, text),
                          assay__format_width(stream) - used - 2);
    } else {
        assay__format_ends(stream, place_of(file, line, text), PLACE_WIDTH);
        fputc(' ', stream);
        assay__format_cut(stream, source, assay__format_width(stream) - used - PLACE_WIDTH - 3);
    }
    fputc('\n', stream);
}

static void print_head(FILE *stream, const char *title, const char *const *columns,
                       const size_t *widths, size_t count, const char *last)
{
    fprintf(stream, "\n%s\n", title);
    for (size_t i = 0; i < count; i++)
        assay__format_right(stream, columns[i], widths[i]);
    fprintf(stream, "  %s\n", last);
}

static void print_lines(const assay_record_python *python, FILE *stream)
{
    static const char *const columns[] = {"share", "±", "own time", "native"};
    static const size_t widths[] = {SHARE_WIDTH, ERROR_WIDTH, FIGURE_WIDTH, NATIVE_WIDTH};
    print_head(stream, "Lines that took the most processor time", columns, widths, 4, "line");
    for (size_t i = 0; i < python->line_count && i < ROWS_MAX; i++) {
        const assay_record_code *line = &python->lines[i];
        if (line->self_seconds < least_share * python->busy_seconds)
            break;
        print_share(stream, line->self_seconds, python->busy_seconds);
        print_error(stream, line, python->busy_seconds);
        print_seconds(stream, line->self_seconds);
        print_native(stream, line);
        print_place(stream, line->file, line->line, line->source,
                    SHARE_WIDTH + ERROR_WIDTH + FIGURE_WIDTH + NATIVE_WIDTH);
    }
}

static void print_functions(const assay_record_python *python, FILE *stream)
{
    static const char *const columns[] = {"share", "±", "own time", "native", "total"};
    static const size_t widths[] = {SHARE_WIDTH, ERROR_WIDTH, FIGURE_WIDTH, NATIVE_WIDTH,
                                    FIGURE_WIDTH};
    size_t used = SHARE_WIDTH + ERROR_WIDTH + 2 * FIGURE_WIDTH + NATIVE_WIDTH;
    print_head(stream, "Functions", columns, widths, 5, "function");
    for (size_t i = 0; i < python->function_count && i < ROWS_MAX; i++) {
        const assay_record_code *function = &python->functions[i];
        char place[PLACE_BYTES], text[2 * PLACE_BYTES];
        if (function->self_seconds < least_share * python->busy_seconds)
            break;
        print_share(stream, function->self_seconds, python->busy_seconds);
        print_error(stream, function, python->busy_seconds);
        print_seconds(stream, function->self_seconds);
        print_native(stream, function);
        print_seconds(stream, function->total_seconds);
        snprintf(text, sizeof text, "%.*s (%s)", PLACE_BYTES, function->name,
                 place_of(function->file, function->line, place));
        fputs("  ", stream);
        assay__format_cut(stream, text, assay__format_width(stream) - used - 2);
        fputc('\n', stream);
    }
}

static int by_waiting(const void *left, const void *right)
{
    const assay_record_code *const *a = left, *const *b = right;
    double x = (*a)->waiting_seconds, y = (*b)->waiting_seconds;
    return x != y ? (x > y ? -1 : 1) : 0;
}

static assay_status print_waiting(const assay_record_python *python, FILE *stream,
                                  assay_error *error)
{
    static const char *const columns[] = {"waited"};
    static const size_t widths[] = {SHARE_WIDTH + FIGURE_WIDTH};
    if (python->waiting_seconds < least_waiting * (python->waiting_seconds + python->busy_seconds))
        return ASSAY_OK;
    const assay_record_code **order = malloc((python->line_count + 1) * sizeof *order);
    if (order == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %zu lines",
                           python->line_count);
    for (size_t i = 0; i < python->line_count; i++)
        order[i] = &python->lines[i];
    qsort(order, python->line_count, sizeof *order, by_waiting);
    print_head(stream, "Lines at which the main thread waited", columns, widths, 1, "line");
    for (size_t i = 0; i < python->line_count && i < WAITING_ROWS_MAX; i++) {
        if (order[i]->waiting_seconds < 0.01 * python->waiting_seconds)
            break;
        assay__format_left(stream, "", SHARE_WIDTH);
        print_seconds(stream, order[i]->waiting_seconds);
        print_place(stream, order[i]->file, order[i]->line, order[i]->source,
                    SHARE_WIDTH + FIGURE_WIDTH);
    }
    free(order);
    return ASSAY_OK;
}

static void print_allocations(const assay_record_python *python, FILE *stream)
{
    static const char *const columns[] = {"share", "allocated", "at peak"};
    static const size_t widths[] = {SHARE_WIDTH, FIGURE_WIDTH, FIGURE_WIDTH};
    if (python->interval_bytes.validity != ASSAY_VALID)
        return;
    double total = python->allocated_bytes.value;
    print_head(stream, "Lines that allocated the most Python memory", columns, widths, 3, "line");
    for (size_t i = 0; i < python->allocation_count && i < ROWS_MAX; i++) {
        const assay_record_allocation *it = &python->allocations[i];
        if (it->bytes < least_share * total)
            break;
        print_share(stream, it->bytes, total);
        print_bytes(stream, it->bytes);
        print_bytes(stream, it->peak_bytes);
        print_place(stream, it->file, it->line, it->source, SHARE_WIDTH + 2 * FIGURE_WIDTH);
    }
}

static void print_summary(const assay_record_python *python, FILE *stream)
{
    char first[ASSAY__FORMAT_SIZE], second[ASSAY__FORMAT_SIZE];
    fprintf(stream, "\nPython: %s of processor time",
            assay__format_seconds(python->busy_seconds, first));
    if (python->native_seconds.validity == ASSAY_VALID && python->busy_seconds > 0)
        fprintf(stream, ", %.0f %% of it in native code",
                100 * python->native_seconds.value / python->busy_seconds);
    fprintf(stream, "; %s waiting\n", assay__format_seconds(python->waiting_seconds, first));
    fprintf(stream, "        %s samples at %.0f a second, which took %s",
            assay__format_count(python->samples, first), python->rate_hz,
            assay__format_seconds(python->sampler_seconds, second));
    if (python->processes > 1)
        fprintf(stream, ", in %llu processes", (unsigned long long)python->processes);
    fputc('\n', stream);
    if (python->other_seconds > 0.01 * python->busy_seconds && python->other_seconds >= 0.01)
        fprintf(stream, "        %s more in threads of libraries, or too short to be seen\n",
                assay__format_seconds(python->other_seconds, first));
    if (python->interval_bytes.validity == ASSAY_VALID)
        fprintf(stream, "        %s allocated by Python, %s at the peak\n",
                assay__format_reading_bytes(python->allocated_bytes, first),
                assay__format_reading_bytes(python->peak_bytes, second));
}

assay_status assay__report_python(const assay_record *record, FILE *stream, assay_error *error)
{
    const assay_record_python *python = &record->python;
    assay_status status = ASSAY_OK;
    if (!record->has_python)
        return ASSAY_OK;
    print_summary(python, stream);
    if (python->samples > 0 && python->busy_seconds > 0) {
        print_lines(python, stream);
        print_functions(python, stream);
    }
    if (python->samples > 0 && python->waiting_seconds > 0)
        status = print_waiting(python, stream, error);
    if (status == ASSAY_OK && python->allocation_count > 0)
        print_allocations(python, stream);
    return status;
}
