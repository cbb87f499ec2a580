/* Makes the record's list of processes from journals. A process with several monitors has a journal
 * for each of them. Their names are neighbours in a directory, so the entry of a process is
 * searched for among the last few entries only. */
#include <stdio.h>
#include <string.h>

#include "record/build.h"
#include "snapshot/merge.h"

enum { LAST_FEW = 8 };

static assay_record_member *find(assay_record *record, int64_t process_id)
{
    for (size_t back = 1; back <= LAST_FEW && back <= record->process_count; back++) {
        assay_record_member *it = &record->processes[record->process_count - back];
        if (it->process_id == process_id)
            return it;
    }
    return NULL;
}

/* Note in the entry of a process that its journal lost spans. */
static assay_status note_losses(assay_record *record, const assay__journal_header *header,
                                assay_record_member *member)
{
    char text[160];
    if (header->dropped_spans == 0 && header->refused_growth == 0)
        return ASSAY_OK;
    snprintf(text, sizeof text, "%llu spans, for which its journal had no room%s",
             (unsigned long long)header->dropped_spans,
             header->refused_growth > 0 ? ": the disk was full" : "");
    member->unseen = assay_record_text(record, text);
    return member->unseen != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay_status assay__merge_process(assay__merge *merge, const assay__journal_header *header,
                                  uint64_t spans)
{
    assay_record *record = merge->record;
    assay_record_member fresh, *known = find(record, header->process_id);
    if (known != NULL) {
        known->spans.value += (double)spans;
        return note_losses(record, header, known);
    }
    assay_record_member_init(&fresh);
    fresh.process_id = header->process_id;
    fresh.name = assay_record_text(record, header->name);
    fresh.spans = assay_reading_of((double)spans);
    assay_status status = fresh.name != NULL ? note_losses(record, header, &fresh) : ASSAY_E_MEMORY;
    return status == ASSAY_OK ? assay_record_add_process(record, &fresh) : status;
}
