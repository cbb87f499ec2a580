/* What a monitor measured, from its saved record: the tables, CSV and advice its own process could
 * have printed. */
#include <stdlib.h>

#include "base/error.h"
#include "report/export.h"
#include "report/performance_rows.h"

static assay_status print_each(const assay__export_list *list, FILE *stream, assay_error *error,
                               assay_status (*print)(const assay_record *, FILE *, assay_error *))
{
    assay_status status = ASSAY_OK;
    size_t printed = 0;
    for (size_t i = 0; i < list->record_count && status == ASSAY_OK; i++) {
        if (!assay__export_has_spans(list->records[i]))
            continue;
        if (printed++ > 0)
            fputc('\n', stream);
        status = print(list->records[i], stream, error);
    }
    return status;
}

static assay_status print_summary(const assay_record *record, FILE *stream, assay_error *error)
{
    assay_status status = assay_report_performance_summary(record, stream, error);
    if (status != ASSAY_OK)
        return status;
    fputc('\n', stream);
    return assay_report_aggregate_statistics(record, stream, error);
}

static assay_status print_advice(const assay_record *record, FILE *stream, assay_error *error)
{
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_status status = assay_bottlenecks_find(record, &findings, &count);
    if (status == ASSAY_OK && count == 0)
        fputs("No bottleneck stands out.\n", stream);
    else if (status == ASSAY_OK)
        status = assay_print_findings(findings, count, stream, ASSAY_SHOW_REMEDIES);
    free(findings);
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot print the advice: %s", assay_status_message(status));
}

assay_status assay__export_summary(const assay__export_list *list, FILE *stream, assay_error *error)
{
    return print_each(list, stream, error, print_summary);
}

assay_status assay__export_advice(const assay__export_list *list, FILE *stream, assay_error *error)
{
    return print_each(list, stream, error, print_advice);
}

assay_status assay__export_metrics_csv(const assay__export_list *list, FILE *stream,
                                       assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < list->record_count && status == ASSAY_OK; i++)
        status = assay__performance_csv(list->records[i], i == 0, stream, error);
    return status;
}
