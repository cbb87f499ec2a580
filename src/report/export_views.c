/* Prints a monitor's saved record: the same tables, CSV and advice that its own process could have
 * printed. */
#include <stdlib.h>

#include "assay/bottleneck.h"
#include "base/error.h"
#include "report/export.h"
#include "report/performance_rows.h"

assay_status assay__report_summary(const assay_record *record, FILE *stream, assay_error *error)
{
    assay_status status = assay__report_performance(record, stream, error);
    if (status != ASSAY_OK)
        return status;
    fputc('\n', stream);
    return assay__report_aggregate(record, stream, error);
}

assay_status assay__report_advice(const assay_record *record, FILE *stream, assay_error *error)
{
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_status status = assay_bottlenecks_find(record, &findings, &count);
    if (status == ASSAY_OK && count == 0)
        fputs("No bottleneck stands out.\n", stream);
    else if (status == ASSAY_OK)
        status = assay_findings_print(findings, count, stream,
                                      assay__findings_flags(record) | ASSAY_SHOW_CODE);
    free(findings);
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot print the advice: %s", assay_status_message(status));
}

assay_status assay__export_metrics_csv(const assay__export_list *list, FILE *stream,
                                       assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < list->record_count && status == ASSAY_OK; i++)
        status = assay__performance_csv(list->records[i], i == 0, stream, error);
    return status;
}
