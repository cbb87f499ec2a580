/* Writes the event trace in Chrome's JSON format, which Perfetto and chrome://tracing open.
 *
 * Viewers draw the "X" events of one (pid, tid) as a stack. These events must be strictly nested,
 * as slices.c makes them. Lanes that share a thread id, such as those of two monitors on one
 * thread, get tids of their own, because together they need not nest. Spans that never ended are
 * drawn to the end of the trace and marked "open". Sampled functions of Python are slices of the
 * category "sampled", in lanes of their own, because they need not nest in the spans of their
 * thread. Kernels and copies of GPUs are slices of the categories "kernel" and "copy", in the lanes
 * of their streams. Processes are drawn by trace_processes.c.
 *
 * Format: "Trace Event Format", Google, 2016. Times are microseconds from the start of the run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record.h"
#include "assay/report.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "report/export.h"
#include "report/slices.h"
#include "report/trace_event.h"

typedef struct trace {
    const assay_record *record;
    assay__slices slices;
    int64_t *lane_tids;
} trace;

typedef struct lane_key {
    int64_t process_id, thread_id;
    size_t lane;
} lane_key;

static int by_thread(const void *left, const void *right)
{
    const lane_key *a = left, *b = right;
    if (a->process_id != b->process_id)
        return a->process_id < b->process_id ? -1 : 1;
    if (a->thread_id != b->thread_id)
        return a->thread_id < b->thread_id ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static void number_lanes(trace *t, lane_key *keys)
{
    const assay_record *record = t->record;
    for (size_t i = 0; i < record->lane_count; i++)
        keys[i] = (lane_key){record->lanes[i].process_id, record->lanes[i].thread_id, i};
    qsort(keys, record->lane_count, sizeof *keys, by_thread);
    for (size_t i = 0; i < record->lane_count; i++) {
        bool taken = i > 0 && keys[i].process_id == keys[i - 1].process_id &&
                     keys[i].thread_id == keys[i - 1].thread_id;
        t->lane_tids[keys[i].lane] =
            taken ? ASSAY__TRACE_LANE_TID + (int64_t)keys[i].lane : keys[i].thread_id;
    }
}

void assay__trace_begin(assay__json *json, const char *phase, const char *name, int64_t pid)
{
    assay__json_object(json, NULL);
    assay__json_text(json, "ph", phase);
    assay__json_text(json, "name", name);
    assay__json_integer(json, "pid", pid);
}

void assay__trace_name(assay__json *json, const char *kind, int64_t pid, int64_t tid,
                       const char *name)
{
    assay__trace_begin(json, "M", kind, pid);
    assay__json_integer(json, "tid", tid);
    assay__json_object(json, "args");
    assay__json_text(json, "name", name);
    assay__json_end(json);
    assay__json_end(json);
}

void assay__trace_sort_index(assay__json *json, const char *kind, int64_t pid, int64_t tid,
                             size_t index)
{
    assay__trace_begin(json, "M", kind, pid);
    assay__json_integer(json, "tid", tid);
    assay__json_object(json, "args");
    assay__json_count(json, "sort_index", index);
    assay__json_end(json);
    assay__json_end(json);
}

static const char *process_name(const assay_record *record, int64_t pid)
{
    const assay_record_process *process = &record->process;
    if (record->has_process && process->process_id == pid && process->command_count > 0)
        return process->command[0];
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].process_id == pid && record->processes[i].name != NULL)
            return record->processes[i].name;
    if (record->has_process)
        return "child process";
    return record->name != NULL ? record->name : "process";
}

/* `keys` holds the lanes sorted by process. */
static void print_metadata(assay__json *json, const trace *t, const lane_key *keys)
{
    const assay_record *record = t->record;
    for (size_t i = 0; i < record->lane_count; i++) {
        int64_t pid = keys[i].process_id;
        if (i == 0 || pid != keys[i - 1].process_id) {
            bool root = record->has_process && record->process.process_id == pid;
            assay__trace_name(json, "process_name", pid, 0, process_name(record, pid));
            assay__trace_sort_index(json, "process_sort_index", pid, 0, root ? 0 : i + 1);
        }
    }
    for (size_t i = 0; i < record->lane_count; i++) {
        const assay_record_lane *lane = &record->lanes[i];
        if (lane->name != NULL)
            assay__trace_name(json, "thread_name", lane->process_id, t->lane_tids[i], lane->name);
        assay__trace_sort_index(json, "thread_sort_index", lane->process_id, t->lane_tids[i], i);
    }
}

static void print_slices(assay__json *json, const trace *t)
{
    for (size_t i = 0; i < t->slices.count; i++) {
        const assay__slice *s = &t->slices.items[i];
        assay__trace_begin(json, "X", s->name, t->record->lanes[s->lane].process_id);
        assay__json_integer(json, "tid", t->lane_tids[s->lane]);
        assay__json_text(json, "cat", s->category);
        assay__json_number(json, "ts", (double)s->begin_ns / 1e3);
        assay__json_number(json, "dur", (double)(s->end_ns - s->begin_ns) / 1e3);
        if (s->open) {
            assay__json_object(json, "args");
            assay__json_flag(json, "open", true);
            assay__json_end(json);
        }
        assay__json_end(json);
    }
}

static void print_counters(assay__json *json, const assay_record *record)
{
    for (size_t i = 0; i < record->event_count; i++) {
        const assay_record_event *event = &record->events[i];
        if (event->kind != ASSAY_EVENT_COUNTER || event->name >= record->counter_count ||
            event->lane >= record->lane_count || !isfinite(event->value))
            continue;
        const char *name = record->counters[event->name].name;
        assay__trace_begin(json, "C", name, record->lanes[event->lane].process_id);
        assay__json_number(json, "ts", (double)assay__trace_ns(event->start_seconds) / 1e3);
        assay__json_object(json, "args");
        assay__json_number(json, "value", event->value);
        assay__json_end(json);
        assay__json_end(json);
    }
}

static assay_status print(const trace *t, const lane_key *keys, FILE *stream)
{
    assay__json json;
    assay__json_init(&json, stream, ASSAY__JSON_COMPACT);
    assay__json_object(&json, NULL);
    assay__json_text(&json, "displayTimeUnit", "ns");
    assay__json_object(&json, "otherData");
    assay__json_text(&json, "assay_version", t->record->assay_version);
    assay__json_text(&json, "created", t->record->created);
    assay__json_count(&json, "dropped_events", t->record->integrity.dropped_events);
    assay__json_end(&json);
    assay__json_array(&json, "traceEvents");
    print_metadata(&json, t, keys);
    print_slices(&json, t);
    assay_status status = assay__trace_processes(&json, t->record, t->slices.end_ns);
    print_counters(&json, t->record);
    assay__json_end(&json);
    assay__json_end(&json);
    assay_status written = assay__json_finish(&json);
    return status != ASSAY_OK ? status : written;
}

assay_status assay__report_trace(const assay_record *record, FILE *stream, assay_error *error)
{
    trace t = {.record = record};
    lane_key *keys = NULL;
    assay_status status = assay__slices_collect(record, error, &t.slices);
    if (status != ASSAY_OK)
        return status;
    t.lane_tids = calloc(record->lane_count + 1, sizeof *t.lane_tids);
    keys = calloc(record->lane_count + 1, sizeof *keys);
    if (t.lane_tids == NULL || keys == NULL) {
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory for a trace of %zu lanes",
                             record->lane_count);
        goto cleanup;
    }
    number_lanes(&t, keys);
    status = print(&t, keys, stream);
    if (status != ASSAY_OK)
        status =
            assay__fail(error, status, "cannot write the trace: %s", assay_status_message(status));
cleanup:
    assay__slices_release(&t.slices);
    free(t.lane_tids);
    free(keys);
    return status;
}
