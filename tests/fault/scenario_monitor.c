/* The whole life of a monitor: spans on two threads, names made at run time, metrics, counters, a
 * trace, and its record. A monitor without memory goes on, and reports what it dropped. */
#include "tests/fault/fault.h"

#include <pthread.h>
#include <stddef.h>

#include "assay/monitor.h"
#include "assay/record.h"
#include "assay/snapshot.h"

enum { STEPS = 3 };

static void work(assay_monitor *monitor)
{
    static const char *const names[] = {"load", "augment", "store"};
    for (int i = 0; i < STEPS; i++) {
        ASSAY_TRACK(monitor, "step") {
            ASSAY_TRACK(monitor, "forward") {
                ASSAY_SCOPE(monitor, "attention");
            }
            ASSAY_METRIC(monitor, "backward") {
                assay_span_end(assay_monitor_begin(monitor, names[i]));
            }
            assay_span_end(assay_monitor_begin_metric(monitor, "checkpoint"));
        }
        assay_monitor_count(monitor, "loss", 1.0 / (i + 1));
    }
}

static void *thread_main(void *monitor)
{
    work(monitor);
    return NULL;
}

static assay_status live(const assay_monitor_options *options, const char *record_path)
{
    assay_monitor *monitor = NULL;
    assay_record *record = NULL;
    assay_error error = {0};
    pthread_t thread;
    assay_status status = assay_monitor_open(options, &error, &monitor);
    if (status != ASSAY_OK)
        return error.message[0] == '\0' ? (assay_status)-1000 : status;
    work(monitor); /* one-time set-up happens here, not on whichever thread is faster */
    bool threaded = pthread_create(&thread, NULL, thread_main, monitor) == 0;
    work(monitor);
    if (threaded)
        pthread_join(thread, NULL);
    status = assay_monitor_record(monitor, &error, &record);
    if (status == ASSAY_OK && record_path != NULL)
        status = assay_record_save(record, record_path, ASSAY_RECORD_EVENTS, &error);
    assay_record_free(record);
    assay_monitor_clear(monitor);
    assay_monitor_free(monitor);
    return status;
}

static assay_status run_private(void)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.journal_bytes = 1 << 20;
    options.memory = ASSAY_MEMORY_RSS | ASSAY_MEMORY_HEAP;
    options.trace_events = 64;
    options.samples = 16;
    return live(&options, "record.json");
}

/* Complete, or short of what the integrity section says was dropped. */
static bool verify_private(void)
{
    assay_record *record = NULL;
    if (assay_record_read("record.json", NULL, &record) != ASSAY_OK)
        return false;
    uint64_t spans = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        spans += record->operations[i].count;
    bool complete = record->integrity.dropped_spans > 0 || spans >= 2 * 6 * STEPS;
    assay_record_free(record);
    return complete;
}

static assay_status run_file(void)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    assay_record *record = NULL;
    assay_error error = {0};
    options.journal_path = "run.assay";
    options.journal_bytes = 1 << 20;
    assay_status status = live(&options, NULL);
    if (status == ASSAY_OK)
        status = assay_snapshot_file("run.assay", &error, &record);
    assay_record_free(record);
    record = NULL;
    if (status == ASSAY_OK)
        status = assay_snapshot_directory(".", &error, &record);
    assay_record_free(record);
    record = NULL;
    const char *const paths[] = {".", "run.assay"};
    if (status == ASSAY_OK)
        status = assay_snapshot_files(paths, 2, NULL, &error, &record);
    assay_record_free(record);
    return status;
}

static bool verify_file(void)
{
    assay_record *record = NULL;
    bool readable = assay_snapshot_file("run.assay", NULL, &record) == ASSAY_OK;
    assay_record_free(record);
    return readable;
}

const fault_scenario fault_monitor = {"monitor", run_private, verify_private};
const fault_scenario fault_monitor_file = {"monitor_file", run_file, verify_file};
