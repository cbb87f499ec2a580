/* Prints the activity of a run's GPUs: the ten kernels that cost most, copies, and idle time by its
 * likely cause. Lines keep to 80 columns. On a wider terminal, the names of kernels get the
 * additional columns. */
#include <string.h>

#include "assay/record.h"
#include "base/error.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum { ROWS_MAX = 10, SHARE_WIDTH = 7, COUNT_WIDTH = 10, FIGURE_WIDTH = 11, NAME_BYTES = 512 };

static void print_share(FILE *stream, double share)
{
    char text[ASSAY__CELL_BYTES];
    assay__format_right(stream, assay__cell_percent(text, share, 1), SHARE_WIDTH);
}

static void print_count(FILE *stream, uint64_t count)
{
    char text[ASSAY__FORMAT_SIZE];
    assay__format_right(stream, assay__format_count(count, text), COUNT_WIDTH);
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

/* Print a kernel's name without its return type and parameters, because the beginning of the name
 * distinguishes kernels. */
static void print_name(FILE *stream, const char *name, size_t used)
{
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%s", strncmp(name, "void ", 5) == 0 ? name + 5 : name);
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == ')') {
        int depth = 0;
        for (char *at = text + length; at-- > text;) {
            depth += (*at == ')') - (*at == '(');
            if (depth == 0) {
                if (at > text)
                    *at = '\0';
                break;
            }
        }
    }
    fputs("  ", stream);
    assay__format_cut(stream, text, assay__format_width(stream) - used - 2);
    fputc('\n', stream);
}

static void print_kernels(const assay_record_gpu *gpu, FILE *stream)
{
    if (gpu->kernel_count == 0)
        return;
    fprintf(stream, "\nKernels that took the most time%s\n",
            gpu->kernel_count > ROWS_MAX ? " (ten of them)" : "");
    assay__format_right(stream, "share", SHARE_WIDTH);
    assay__format_right(stream, "launches", COUNT_WIDTH);
    assay__format_right(stream, "total", FIGURE_WIDTH);
    assay__format_right(stream, "mean", FIGURE_WIDTH);
    fputs("  kernel\n", stream);
    for (size_t i = 0; i < gpu->kernel_count && i < ROWS_MAX; i++) {
        const assay_record_kernel *it = &gpu->kernels[i];
        print_share(stream, it->share);
        print_count(stream, it->count);
        print_seconds(stream, it->total_seconds);
        print_seconds(stream, it->mean_seconds);
        print_name(stream, it->name, SHARE_WIDTH + COUNT_WIDTH + 2 * FIGURE_WIDTH);
    }
}

static void print_copies(const assay_record_gpu *gpu, FILE *stream)
{
    char text[ASSAY__FORMAT_SIZE], rate[ASSAY__FORMAT_SIZE + 8];
    if (gpu->copy_count == 0)
        return;
    fputs("\nCopies\n", stream);
    assay__format_right(stream, "count", COUNT_WIDTH);
    assay__format_right(stream, "volume", FIGURE_WIDTH);
    assay__format_right(stream, "time", FIGURE_WIDTH);
    assay__format_right(stream, "rate", FIGURE_WIDTH + 3);
    fputs("  direction\n", stream);
    for (size_t i = 0; i < gpu->copy_count; i++) {
        const assay_record_copy *it = &gpu->copies[i];
        snprintf(rate, sizeof rate, "%s%s", assay__format_reading_bytes(it->bytes_per_second, text),
                 it->bytes_per_second.validity == ASSAY_VALID ? "/s" : "");
        print_count(stream, it->count);
        print_bytes(stream, it->bytes);
        print_seconds(stream, it->seconds);
        assay__format_right(stream, rate, FIGURE_WIDTH + 3);
        fprintf(stream, "  %s%s%s%s\n", it->direction, it->memory != NULL ? " (" : "",
                it->memory != NULL ? it->memory : "", it->memory != NULL ? ")" : "");
    }
}

static const char *meaning_of(const char *cause)
{
    static const struct {
        const char *cause, *meaning;
    } all[] = {
        {"launch", "launch-bound: the host launches too slowly"},
        {"data loading", "data loading: long host work, then a copy to it"},
        {"host", "other long work of the host between its calls"},
        {"synchronisation", "synchronisation: the host had waited for it"},
        {"queued", "queued: submitted, but did not run yet"},
        {"copies", "copies, without a kernel beside them"},
        {"unknown", "not known"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].cause, cause) == 0)
            return all[i].meaning;
    return cause;
}

static void print_idle(const assay_record_gpu *gpu, FILE *stream)
{
    if (gpu->idle_count == 0)
        return;
    fputs("\nTime without a kernel, by its likely cause\n", stream);
    assay__format_right(stream, "share", SHARE_WIDTH);
    assay__format_right(stream, "count", COUNT_WIDTH);
    assay__format_right(stream, "total", FIGURE_WIDTH);
    fputs("  cause\n", stream);
    for (size_t i = 0; i < gpu->idle_count; i++) {
        const assay_record_idle *it = &gpu->idle[i];
        print_share(stream, it->share);
        print_count(stream, it->count);
        print_seconds(stream, it->seconds);
        fputs("  ", stream);
        assay__format_cut(stream, meaning_of(it->cause),
                          assay__format_width(stream) - SHARE_WIDTH - COUNT_WIDTH - FIGURE_WIDTH -
                              2);
        fputc('\n', stream);
    }
}

static void print_losses(const assay_record_gpu *gpu, FILE *stream)
{
    char text[ASSAY__FORMAT_SIZE];
    if (gpu->dropped_records > 0)
        fprintf(stream, "        %s activities are missing: the buffers were full\n",
                assay__format_count(gpu->dropped_records, text));
    if (gpu->untimed_records > 0)
        fprintf(stream, "        %s activities had no times and are left out\n",
                assay__format_count(gpu->untimed_records, text));
    if (gpu->unseen != NULL)
        assay__format_wrapped(stream, gpu->unseen, 8);
}

static void print_summary(const assay_record_gpu *gpu, FILE *stream)
{
    char first[ASSAY__FORMAT_SIZE], second[ASSAY__FORMAT_SIZE];
    fprintf(stream, "\nGPU: busy for %s of %s", assay__format_seconds(gpu->busy_seconds, first),
            assay__format_seconds(gpu->span_seconds, second));
    if (gpu->span_seconds > 0)
        fprintf(stream, " (%.1f %%)", 100 * gpu->busy_seconds / gpu->span_seconds);
    fprintf(stream, ", with kernels for %s\n", assay__format_seconds(gpu->kernel_seconds, first));
    if (gpu->allocations.validity == ASSAY_VALID && gpu->allocations.value > 0)
        fprintf(stream, "        %s allocated at the peak, in %s allocations\n",
                assay__format_reading_bytes(gpu->peak_bytes, first),
                assay__format_reading_count(gpu->allocations, second));
    if (gpu->processes > 1)
        fprintf(stream, "        %llu processes used it; their times are added up\n",
                (unsigned long long)gpu->processes);
    if (gpu->ranges > 0)
        fprintf(stream, "        recorded in %s %s that the program marked\n",
                assay__format_count(gpu->ranges, first), gpu->ranges == 1 ? "range" : "ranges");
}

assay_status assay__report_gpu(const assay_record *record, FILE *stream, assay_error *error)
{
    const assay_record_gpu *gpu = &record->gpu;
    (void)error;
    if (!record->has_gpu)
        return ASSAY_OK;
    print_summary(gpu, stream);
    print_losses(gpu, stream);
    print_kernels(gpu, stream);
    print_copies(gpu, stream);
    print_idle(gpu, stream);
    return ASSAY_OK;
}
