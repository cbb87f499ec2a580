/* All report formats. A report that cannot be made returns a failure; a file is complete or does
 * not exist. */
#include "tests/fault/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/bottleneck.h"
#include "assay/plot.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/report.h"
#include "assay/timers.h"
#include "assay/training.h"

static assay_status fill_subjects(assay_record *record)
{
    static const double seconds[] = {0.1, 0.2, 0.15};
    static const char *const command[] = {"sort", "a b"};
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = "sort";
    subject.command = command;
    subject.command_count = 2;
    subject.samples_seconds = seconds;
    subject.sample_count = 3;
    assay_status status = assay_record_add_parameter(record, &subject, "size", "4");
    for (int i = 0; i < 2 && status == ASSAY_OK; i++)
        status = assay_record_add_subject(record, &subject);
    return status;
}

static assay_status fill(assay_record *record)
{
    static const char *const names[] = {"step", "forward", "data loading", "backward"};
    assay_status status = assay_record_add_lane(
        record, &(assay_record_lane){.name = "main", .kind = ASSAY_LANE_THREAD, .spans = 4});
    for (int i = 0; status == ASSAY_OK && i < 4; i++) {
        assay_record_operation operation;
        assay_record_operation_init(&operation);
        operation.name = names[i];
        operation.parent = i == 0 ? -1 : 0;
        operation.count = 2;
        operation.total_seconds = i == 0 ? 6 : i;
        operation.min_seconds = assay_reading_of(0.1);
        operation.max_seconds = assay_reading_of(4);
        status = assay_record_add_operation(record, &operation);
        if (status == ASSAY_OK)
            status = assay_record_add_metric(
                record, &(assay_record_metric){.operation = names[i], .duration_seconds = 0.5});
        if (status == ASSAY_OK)
            status = assay_record_add_event(record, &(assay_record_event){.kind = ASSAY_EVENT_SPAN,
                                                                          .name = (uint32_t)i,
                                                                          .start_seconds = i,
                                                                          .duration_seconds = 0.5});
    }
    record->total_seconds = 6;
    return status;
}

static assay_status export_all(const assay_record *record, FILE *sink, assay_error *error)
{
    size_t count;
    assay_status status = ASSAY_OK;
    const assay_report_format *formats = assay_report_formats(&count);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = assay_report_print(record, formats[i].name, sink, error);
    const assay_plot_kind *plots = assay_plot_kinds(&count);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        status = assay_plot_print(record, plots[i].name, NULL, sink, error);
        if (status == ASSAY_E_DATA) /* the record has nothing of this kind */
            status = ASSAY_OK;
    }
    if (status == ASSAY_OK)
        status = assay_report_save(record, "hyperfine", "export.json", error);
    return status;
}

static assay_status show(const assay_record *record, FILE *sink)
{
    assay_error error = {0};
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_status status = export_all(record, sink, &error);
    if (status != ASSAY_OK && error.message[0] == '\0')
        return (assay_status)-1000; /* a failure without a message */
    if (status == ASSAY_OK)
        status = assay_bottlenecks_find(record, &findings, &count);
    if (status == ASSAY_OK)
        status = assay_findings_print(findings, count, sink, ASSAY_SHOW_REMEDIES);
    free(findings);
    return status;
}

/* What is judged from repeated measurements. */
static assay_status judge(FILE *sink)
{
    static const double losses[] = {1.0, 0.1}, seconds[] = {3, 1, 1.1, 1, 1.2, 1, 1.1, 1, 1.1, 1.2};
    assay_convergence training;
    assay_convergence_summary convergence;
    assay_batch_variance variance;
    assay_warmup warmup;
    assay_warmup_detection detection;
    assay_speedup_verdict speedup;
    assay_status status = assay_convergence_analyze(losses, seconds, 2, 0.5, &training);
    if (status == ASSAY_OK)
        status = assay_convergence_summarize(&training, 1, &convergence);
    if (status == ASSAY_OK)
        status = assay_convergence_print(&convergence, sink, "model");
    if (status == ASSAY_OK)
        status = assay_batch_variance_analyze(seconds, 10, &variance);
    if (status == ASSAY_OK)
        status = assay_batch_variance_print(&variance, sink);
    if (status == ASSAY_OK)
        status = assay_warmup_analyze(seconds, 10, &warmup);
    if (status == ASSAY_OK)
        status = assay_warmup_detect(seconds, 10, &detection);
    if (status == ASSAY_OK)
        status = assay_warmup_print(&warmup, &detection, sink, "model");
    if (status == ASSAY_OK)
        status = assay_speedup_compare(seconds, 10, seconds, 10, true, &speedup);
    if (status == ASSAY_OK)
        status = assay_speedup_print(&speedup, sink, "model");
    return status;
}

static assay_status run(void)
{
    assay_record *record = NULL;
    FILE *sink = fopen("/dev/null", "w");
    assay_status status = sink == NULL ? ASSAY_E_MEMORY : assay_record_new(&record);
    if (status == ASSAY_OK)
        status = fill(record);
    if (status == ASSAY_OK)
        status = fill_subjects(record);
    if (status == ASSAY_OK)
        status = show(record, sink);
    if (status == ASSAY_OK)
        status = judge(sink);
    assay_record_free(record);
    if (sink != NULL)
        fclose(sink);
    return status;
}

static bool has_content(const char *path)
{
    FILE *stream = fopen(path, "r");
    bool content = stream != NULL && fgetc(stream) != EOF;
    if (stream != NULL)
        fclose(stream);
    return content;
}

static bool verify(void)
{
    return has_content("export.json");
}

const fault_scenario fault_report = {"report", run, verify};
