/* A program outside the repository: only what the installed headers and libraries give. */
#include <assay/assay.h>
#include <stdio.h>

static int tracked(assay_monitor *monitor)
{
    ASSAY_SCOPE(monitor, "scope");
    ASSAY_TRACK(monitor, "returned from") {
        return 1;
    }
    return 0;
}

int main(void)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    assay_monitor *monitor = NULL;
    assay_record *record = NULL;
    options.private_journal = true;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK || tracked(monitor) != 1)
        return 1;
    ASSAY_METRIC(monitor, "metric") {
        assay_span_end(assay_monitor_begin(monitor, "made at run time"));
    }
    if (assay_monitor_record(monitor, NULL, &record) != ASSAY_OK)
        return 2;
    printf("consumer: %zu operations, %zu metrics\n", record->operation_count,
           record->metric_count);
    assay_record_free(record);
    assay_monitor_free(monitor);
    return 0;
}
