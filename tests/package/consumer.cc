// The same from C++: the macros, the initialisers and an exception that leaves a tracked block.
#include <assay/assay.h>
#include <cstdio>
#include <stdexcept>

static void throwing(assay_monitor *monitor)
{
    ASSAY_SCOPE(monitor, "scope");
    ASSAY_TRACK(monitor, "thrown out of") {
        throw std::runtime_error("out");
    }
}

int main()
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    assay_monitor *monitor = nullptr;
    assay_record *record = nullptr;
    options.private_journal = true;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        return 1;
    try {
        throwing(monitor);
    } catch (const std::runtime_error &) {
    }
    ASSAY_METRIC(monitor, "metric") {
        assay_span_end(assay_monitor_begin(monitor, "made at run time"));
    }
    if (assay_monitor_record(monitor, nullptr, &record) != ASSAY_OK)
        return 2;
    if (record->integrity.abandoned_spans != 0 || record->open_span_count != 0)
        return 3; // the exception did not end its spans
    std::printf("consumer: %zu operations, %zu metrics\n", record->operation_count,
                record->metric_count);
    assay_record_free(record);
    assay_monitor_free(monitor);
}
