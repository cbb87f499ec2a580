/* Draws the processes of a run as a timeline.
 *
 * A build starts thousands of processes, but only a few run at the same time. The format would give
 * each process a group of lines, so the trace would be thousands of lines high. Instead, the
 * processes are drawn in rows below the command: in the order of their starts, each process takes
 * the first row that is free. */
#include <stdlib.h>

#include "report/slices.h"
#include "report/trace_event.h"

static int by_begin(const void *left, const void *right)
{
    const assay__process_bar *a = left, *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

static size_t collect(const assay_record *record, int64_t trace_end_ns, assay__process_bar *bars)
{
    size_t count = 0;
    for (size_t i = 0; i < record->process_count; i++) {
        const assay_record_member *it = &record->processes[i];
        if (it->start_seconds.validity != ASSAY_VALID)
            continue;
        assay__process_bar b = {.process = it,
                                .begin_ns = assay__trace_ns(it->start_seconds.value)};
        if (it->running)
            b.end_ns = trace_end_ns;
        else if (it->end_seconds.validity == ASSAY_VALID)
            b.end_ns = assay__trace_ns(it->end_seconds.value);
        if (b.end_ns < b.begin_ns)
            b.end_ns = b.begin_ns;
        bars[count++] = b;
    }
    qsort(bars, count, sizeof *bars, by_begin);
    return count;
}

assay_status assay__process_bars_collect(const assay_record *record, int64_t trace_end_ns,
                                         assay__process_bars *bars)
{
    *bars = (assay__process_bars){.items = calloc(record->process_count + 1, sizeof *bars->items)};
    int64_t *free_ns = calloc(record->process_count + 1, sizeof *free_ns); /* when each is free */
    if (bars->items != NULL && free_ns != NULL)
        bars->count = collect(record, trace_end_ns, bars->items);
    for (size_t i = 0; i < bars->count; i++) {
        assay__process_bar *it = &bars->items[i];
        while (it->row < bars->rows && free_ns[it->row] > it->begin_ns)
            it->row++;
        if (it->row == bars->rows)
            bars->rows++;
        free_ns[it->row] = it->end_ns;
    }
    assay_status status = bars->items != NULL && free_ns != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    free(free_ns);
    if (status != ASSAY_OK)
        assay__process_bars_release(bars);
    return status;
}

void assay__process_bars_release(assay__process_bars *bars)
{
    free(bars->items);
    *bars = (assay__process_bars){0};
}

static void print_reading(assay__json *json, const char *key, assay_reading reading)
{
    if (reading.validity == ASSAY_VALID)
        assay__json_number(json, key, reading.value);
}

static void print_bar(assay__json *json, const assay__process_bar *b, int64_t pid, int64_t tid)
{
    const assay_record_member *it = b->process;
    assay__trace_begin(json, "X", it->name != NULL ? it->name : "process", pid);
    assay__json_integer(json, "tid", tid);
    assay__json_text(json, "cat", "process");
    assay__json_number(json, "ts", (double)b->begin_ns / 1e3);
    assay__json_number(json, "dur", (double)(b->end_ns - b->begin_ns) / 1e3);
    assay__json_object(json, "args");
    assay__json_integer(json, "process_id", it->process_id);
    print_reading(json, "user_seconds", it->user_seconds);
    print_reading(json, "sys_seconds", it->sys_seconds);
    print_reading(json, "peak_rss_bytes", it->peak_rss_bytes);
    print_reading(json, "heap_peak_bytes", it->heap_peak_bytes);
    if (it->running)
        assay__json_flag(json, "running", true);
    assay__json_end(json);
    assay__json_end(json);
}

assay_status assay__trace_processes(assay__json *json, const assay_record *record,
                                    int64_t trace_end_ns)
{
    int64_t pid = record->has_process ? record->process.process_id : 0;
    assay__process_bars bars;
    size_t named = 0;
    assay_status status = assay__process_bars_collect(record, trace_end_ns, &bars);
    for (size_t i = 0; i < bars.count; i++) {
        const assay__process_bar *it = &bars.items[i];
        int64_t tid = ASSAY__TRACE_PROCESS_TID + (int64_t)it->row;
        if (it->row == named) {
            named++;
            assay__trace_name(json, "thread_name", pid, tid, "processes");
            assay__trace_sort_index(json, "thread_sort_index", pid, tid, it->row);
        }
        print_bar(json, it, pid, tid);
    }
    assay__process_bars_release(&bars);
    return status;
}
