/* Timers are filled, compared, printed and exported; a record is summarised, printed, exported and
 * searched for bottlenecks; a training loop and a phase timer run. */
#include "fault.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "assay/assay.h"

static assay_status fill_timers(assay_timers *timers)
{
    char name[16];
    assay_status status = ASSAY_OK;
    for (int i = 0; status == ASSAY_OK && i < 10; i++) {
        snprintf(name, sizeof name, "timer %d", i);
        status = assay_timers_set(timers, name, i + 1.0);
    }
    if (status == ASSAY_OK)
        status = assay_timers_set_metric(timers, "timer 1", "peak_memory_mb", assay_reading_of(2));
    return status;
}

static assay_status run_timers(FILE *stream)
{
    assay_timers *timers = NULL;
    assay_status status = assay_timers_new(stream, &timers);
    if (status == ASSAY_OK)
        status = fill_timers(timers);
    if (status == ASSAY_OK)
        status = assay_print_timing_summary(timers, stream, "section", 2);
    if (status == ASSAY_OK)
        status = assay_print_speedup_analysis(timers, stream, NULL, NULL);
    if (status == ASSAY_OK)
        status = assay_export_timing_csv(timers, "timing.csv", "section", NULL);
    if (status == ASSAY_OK)
        status = assay_export_timing_json(timers, "timing.json", "section", NULL);
    if (status == ASSAY_OK) {
        ASSAY_TRACK_TIME_AND_MEMORY(timers, "measured") {
        }
        status = assay_timers_status(timers);
    }
    assay_timers_free(timers);
    return status;
}

static assay_status fill_record(assay_record *record)
{
    assay_status status = ASSAY_OK;
    record->total_seconds = 4.0;
    for (int i = 0; status == ASSAY_OK && i < 4; i++) {
        assay_record_operation operation;
        assay_record_operation_init(&operation);
        operation.name = assay_record_text(record, i == 0 ? "batch" : "forward");
        operation.parent = i - 1;
        operation.count = 3;
        operation.total_seconds = operation.self_seconds = 4.0 - i;
        const assay_record_metric metric = {.operation = operation.name, .duration_seconds = 1.0};
        if (operation.name == NULL)
            return ASSAY_E_MEMORY;
        status = assay_record_add_operation(record, &operation);
        if (status == ASSAY_OK)
            status = assay_record_add_metric(record, &metric);
    }
    return status;
}

static assay_status run_record(FILE *stream)
{
    assay_record *record = NULL;
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_status status = assay_record_new(&record);
    if (status == ASSAY_OK)
        status = fill_record(record);
    if (status == ASSAY_OK)
        status = assay_report_performance_summary(record, stream, NULL);
    if (status == ASSAY_OK)
        status = assay_report_aggregate_statistics(record, stream, NULL);
    if (status == ASSAY_OK)
        status = assay_export_metrics_csv(record, "metrics.csv", NULL);
    if (status == ASSAY_OK)
        status = assay_bottlenecks_find(record, &findings, &count);
    if (status == ASSAY_OK)
        status = assay_print_findings(findings, count, stream, ASSAY_SHOW_REMEDIES);
    free(findings);
    assay_record_free(record);
    return status;
}

static assay_status run_phases(FILE *stream)
{
    assay_phase_timer *timer = NULL;
    assay_status status = assay_phase_timer_new("job", NULL, &timer);
    if (status == ASSAY_OK)
        status = assay_phase_timer_start_phase(timer, "first");
    if (status == ASSAY_OK)
        status = assay_phase_timer_start_phase(timer, "second");
    if (status == ASSAY_OK)
        status = assay_phase_timer_end_phase(timer);
    if (status == ASSAY_OK)
        status = assay_phase_timer_print_breakdown(timer, stream);
    assay_phase_timer_free(timer);
    return status;
}

static assay_status run_epochs(FILE *stream)
{
    assay_epoch_monitor *monitor = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.output = stream;
    assay_status status = assay_epoch_monitor_new(&options, &monitor);
    if (status != ASSAY_OK)
        return status;
    assay_epoch_monitor_on_epoch_start(monitor);
    assay_epoch_monitor_on_batch_start(monitor, 0);
    assay_epoch_monitor_on_batch_end(monitor, 0, 0.5);
    assay_epoch_monitor_on_epoch_end(monitor);
    status = assay_epoch_monitor_status(monitor);
    if (status == ASSAY_OK)
        status = assay_monitor_print_summary(assay_epoch_monitor_spans(monitor), stream,
                                             ASSAY_SHOW_AGGREGATE | ASSAY_SHOW_BOTTLENECKS);
    assay_epoch_monitor_free(monitor);
    return status;
}

static assay_status run(void)
{
    FILE *stream = fopen("/dev/null", "w");
    if (stream == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = run_timers(stream);
    if (status == ASSAY_OK)
        status = run_record(stream);
    if (status == ASSAY_OK)
        status = run_phases(stream);
    if (status == ASSAY_OK)
        status = run_epochs(stream);
    fclose(stream);
    return status;
}

static bool verify(void)
{
    return access("timing.csv", R_OK) == 0 && access("timing.json", R_OK) == 0 &&
           access("metrics.csv", R_OK) == 0;
}

const fault_scenario fault_report = {"report", run, verify};
