/* Printed summaries and single totals of a live monitor. Each call takes a snapshot of the journal
 * and passes it to a report or a sum. So these calls cost time only when they are made, and spans
 * cost no more because of them. */
#include <stdlib.h>

#include "analyze/operations.h"
#include "assay/bottleneck.h"
#include "assay/monitor.h"
#include "assay/record.h"
#include "facade/monitor_snapshot.h"
#include "report/export.h"

static assay_status print_bottlenecks(const assay_record *record, FILE *stream)
{
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_status status = assay_bottlenecks_find(record, &findings, &count);
    if (status == ASSAY_OK && count > 0)
        fputc('\n', stream);
    if (status == ASSAY_OK)
        status = assay_findings_print(findings, count, stream, assay__findings_flags(record));
    free(findings);
    return status;
}

assay_status assay_monitor_print_summary(assay_monitor *monitor, FILE *stream, unsigned flags)
{
    if (stream == NULL || !assay_monitor_enabled(monitor))
        return ASSAY_OK;
    assay_record *record = NULL;
    assay_status status = assay__monitor_snapshot(monitor, NULL, &record);
    if (status == ASSAY_OK)
        status = assay__report_performance(record, stream, NULL);
    if (status == ASSAY_OK && (flags & ASSAY_SHOW_AGGREGATE) != 0) {
        fputc('\n', stream);
        status = assay__report_aggregate(record, stream, NULL);
    }
    if (status == ASSAY_OK && (flags & ASSAY_SHOW_BOTTLENECKS) != 0)
        status = print_bottlenecks(record, stream);
    assay_record_free(record);
    return status;
}

assay_reading assay_monitor_total_seconds(assay_monitor *monitor)
{
    assay_record *record = NULL;
    assay_reading seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (assay_monitor_enabled(monitor) &&
        assay__monitor_snapshot(monitor, NULL, &record) == ASSAY_OK)
        seconds = assay_reading_of(record->total_seconds);
    assay_record_free(record);
    return seconds;
}

assay_reading assay_monitor_operation_seconds(assay_monitor *monitor, const char *name)
{
    assay_record *record = NULL;
    assay_reading seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (assay_monitor_enabled(monitor) &&
        assay__monitor_snapshot(monitor, NULL, &record) == ASSAY_OK)
        seconds = assay__operation_seconds(record, name);
    assay_record_free(record);
    return seconds;
}
