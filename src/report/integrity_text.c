/* Prints notes on data that could not be recorded, one line for each kind, and how to avoid the
 * loss. */
#include "report/export.h"

static void note(FILE *stream, uint64_t count, const char *meaning)
{
    if (count > 0)
        fprintf(stream, "note: %llu %s\n", (unsigned long long)count, meaning);
}

void assay__print_integrity(const assay_record_integrity *integrity, FILE *stream)
{
    bool full = integrity->full_journals > 0;
    note(stream, integrity->full_journals, "journals could not grow: their disk was full");
    note(stream, integrity->dropped_spans,
         full ? "spans not counted"
              : "spans not counted: no room in the journal (raise journal_bytes),\n"
                "      or too many spans nested");
    note(stream, integrity->displaced_spans,
         "spans counted in a neighbouring bucket: quantiles may be off\n"
         "      (raise journal_bytes)");
    note(stream, integrity->dropped_metrics,
         "blocks counted in their operation, but not recorded one by one: no room");
    note(stream, integrity->dropped_events,
         "trace events overwritten by newer ones (raise trace_events)");
    note(stream, integrity->mismatched_ends, "span ends without their begin");
    note(stream, integrity->abandoned_spans, "spans never ended although an enclosing span ended");
    note(stream, integrity->torn_operations, "operations were being updated when read");
    note(stream, integrity->unreadable_journals, "journals could not be read");
}
