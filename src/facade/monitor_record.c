/* assay_monitor_record(): a snapshot of the journal of a live monitor. It reads the journal as
 * another process would read it, while the threads of this program go on writing. */
#include "assay/monitor.h"
#include "assay/record.h"

#include "base/error.h"
#include "facade/monitor_snapshot.h"
#include "monitor/state.h"
#include "snapshot/merge.h"

static assay_status read_journal(const assay__journal_header *journal, assay_error *error,
                                 assay_record **record)
{
    assay__journal_view view;
    assay_status status =
        assay__journal_view_bytes(&view, journal, journal->total_bytes, "the monitor's own", error);
    return status == ASSAY_OK ? assay__snapshot_view(&view, NULL, error, record) : status;
}

assay_status assay__monitor_snapshot(assay_monitor *monitor, assay_error *error,
                                     assay_record **record)
{
    const assay__journal_header *journal = assay__monitor_journal(monitor);
    *record = NULL;
    return journal != NULL ? read_journal(journal, error, record) : assay_record_new(record);
}

assay_status assay_monitor_record(assay_monitor *monitor, assay_error *error, assay_record **record)
{
    if (record == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no place to put the record");
    *record = NULL;
    assay_record *fresh = NULL;
    assay_status status = assay__monitor_snapshot(monitor, error, &fresh);
    if (status == ASSAY_OK)
        status = assay_record_describe(fresh);
    if (status != ASSAY_OK) {
        assay_record_free(fresh);
        return assay__fail(error, status, "cannot make a record of the monitor: %s",
                           assay_status_message(status));
    }
    fresh->kind = "monitor";
    *record = fresh;
    return ASSAY_OK;
}
