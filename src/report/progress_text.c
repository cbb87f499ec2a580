/* Composes each message in a buffer and writes it to the stream in one piece. */
#include "report/progress_text.h"

#include <math.h>

#include "report/cell.h"

enum { LINE_MAX_BYTES = 4096 };

/* Add an amount of memory in MB. Nothing is added for a missing reading. */
static void add_mb(assay__buffer *line, const char *before, assay_reading bytes, int decimals,
                   const char *after)
{
    char number[ASSAY__CELL_BYTES];
    if (bytes.validity == ASSAY_VALID && isfinite(bytes.value))
        assay__buffer_printf(line, "%s%s%s", before,
                             assay__cell_fixed(number, assay__in_mb(bytes).value, decimals), after);
}

static void add_change(assay__buffer *line, const char *before, assay_reading bytes)
{
    char number[ASSAY__CELL_BYTES];
    if (bytes.validity == ASSAY_VALID && isfinite(bytes.value))
        assay__buffer_printf(line, "%s%sMB", before,
                             assay__cell_change(number, assay__in_mb(bytes).value, 1));
}

static assay_status print_complete(FILE *stream, const char *name, double seconds,
                                   const char *before, assay_reading bytes, const char *end)
{
    if (stream == NULL)
        return ASSAY_OK;
    char label[ASSAY__LABEL_BYTES], number[ASSAY__CELL_BYTES];
    assay__buffer line;
    assay__buffer_init(&line, LINE_MAX_BYTES);
    assay__buffer_printf(&line, "%s complete: %ss", assay__cell_label(label, name),
                         assay__cell_number(number, seconds, 2, 15));
    add_mb(&line, before, bytes, 1, " MB");
    assay__buffer_append_text(&line, end);
    return assay__table_print(&line, stream);
}

assay_status assay__line_time(FILE *stream, const char *name, double seconds)
{
    return print_complete(stream, name, seconds, "", assay_reading_missing(ASSAY_NOT_MEASURED),
                          " total\n");
}

assay_status assay__line_memory(FILE *stream, const char *name, double seconds,
                                assay_reading peak_bytes)
{
    return print_complete(stream, name, seconds, ", peak memory: ", peak_bytes, "\n");
}

assay_status assay__line_gpu(FILE *stream, const char *name, double seconds,
                             assay_reading gpu_peak_bytes)
{
    bool there = gpu_peak_bytes.validity == ASSAY_VALID;
    return print_complete(stream, name, seconds, ", GPU peak: ", gpu_peak_bytes,
                          there ? "\n" : ", GPU: not available\n");
}

assay_status assay__line_performance(FILE *stream, const assay_record_metric *metric)
{
    if (stream == NULL)
        return ASSAY_OK;
    char label[ASSAY__LABEL_BYTES], number[ASSAY__CELL_BYTES];
    assay__buffer line;
    assay__buffer_init(&line, LINE_MAX_BYTES);
    assay__buffer_printf(&line, "[Performance] %s: %ss",
                         assay__cell_label(label, metric->operation),
                         assay__cell_number(number, metric->duration_seconds, 3, 15));
    add_change(&line, ", CPU ", metric->cpu_delta_bytes);
    add_change(&line, ", GPU ", metric->gpu_delta_bytes);
    add_mb(&line, "\n              GPU peak: ", metric->gpu_peak_bytes, 1, "MB");
    assay__buffer_append_text(&line, "\n");
    return assay__table_print(&line, stream);
}

assay_status assay__line_batch(FILE *stream, const assay__batch_line *batch)
{
    if (stream == NULL)
        return ASSAY_OK;
    char number[ASSAY__CELL_BYTES];
    assay__buffer line;
    assay__buffer_init(&line, LINE_MAX_BYTES);
    assay__buffer_printf(&line, "  Batch %llu: %ss", (unsigned long long)batch->index,
                         assay__cell_number(number, batch->seconds, 3, 15));
    add_mb(&line, ", GPU ", batch->gpu_bytes, 1, "MB");
    add_mb(&line, ", CPU ", batch->cpu_bytes, 1, "MB");
    if (isinf(batch->loss))
        assay__buffer_printf(&line, ", loss=%sinf", batch->loss < 0 ? "-" : "");
    else if (!isnan(batch->loss))
        assay__buffer_printf(&line, ", loss=%s", assay__cell_number(number, batch->loss, 6, 20));
    assay__buffer_append_text(&line, "\n");
    return assay__table_print(&line, stream);
}

assay_status assay__line_epoch(FILE *stream, const assay__epoch_line *epoch)
{
    if (stream == NULL)
        return ASSAY_OK;
    char average[ASSAY__CELL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    assay__buffer line;
    assay__buffer_init(&line, LINE_MAX_BYTES);
    assay__buffer_printf(&line, "  Epoch end: %ss total",
                         assay__cell_number(average, epoch->seconds, 3, 15));
    if (epoch->gpu_bytes.validity == ASSAY_VALID) {
        add_mb(&line, ", GPU ", epoch->gpu_bytes, 1, "MB");
        add_mb(&line, ", ", epoch->gpu_reserved_bytes, 0, "MB reserved");
        add_mb(&line, ", peak ", epoch->gpu_peak_bytes, 0, "MB");
    } else {
        add_mb(&line, ", CPU ", epoch->cpu_bytes, 1, "MB");
        add_mb(&line, ", peak ", epoch->cpu_peak_bytes, 0, "MB");
    }
    assay__buffer_append_text(&line, "\n");
    if (epoch->batch_avg_seconds.validity == ASSAY_VALID)
        assay__buffer_printf(&line, "  Batch timing: avg=%ss, min=%ss, max=%ss\n",
                             assay__cell_reading(average, epoch->batch_avg_seconds, 3, 15),
                             assay__cell_reading(low, epoch->batch_min_seconds, 3, 15),
                             assay__cell_reading(high, epoch->batch_max_seconds, 3, 15));
    return assay__table_print(&line, stream);
}
