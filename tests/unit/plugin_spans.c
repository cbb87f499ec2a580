/* A plugin that contains assay, for test_unload. It is built once with the shared library and once
 * with the static one. */
#include <assay/assay.h>

void plugin_measure(void);
uint64_t plugin_end(void);

static assay_monitor *monitor;

/* The first call must come from one thread. */
void plugin_measure(void)
{
    if (monitor == NULL && assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return;
    ASSAY_TRACK(monitor, "work of the plugin") {
    }
}

/* Frees the monitor and returns how many spans it had. */
uint64_t plugin_end(void)
{
    assay_record *record = NULL;
    uint64_t spans = 0;
    if (assay_monitor_record(monitor, NULL, &record) == ASSAY_OK && record->operation_count > 0)
        spans = record->operations[0].count;
    assay_record_free(record);
    assay_monitor_free(monitor);
    monitor = NULL;
    return spans;
}
