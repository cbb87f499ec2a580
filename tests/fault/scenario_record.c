/* A record is filled, written, read back and freed. */
#include "tests/fault/fault.h"

#include <stddef.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/record_build.h"

enum { OPERATIONS = 10 }; /* past the first growth of the array */

static assay_status fill(assay_record *record)
{
    assay_status status = assay_record_add_machine(record, "cpu", "some", ASSAY_VALID);
    if (status == ASSAY_OK)
        status = assay_record_add_machine(record, "governor", NULL, ASSAY_NOT_PERMITTED);
    for (int i = 0; status == ASSAY_OK && i < OPERATIONS; i++) {
        assay_record_operation operation;
        assay_record_operation_init(&operation);
        operation.name = assay_record_text(record, "step");
        operation.parent = i - 1;
        operation.count = 3;
        operation.mean_seconds = assay_reading_of(0.5);
        if (operation.name == NULL)
            return ASSAY_E_MEMORY;
        status = assay_record_add_operation(record, &operation);
    }
    if (status == ASSAY_OK)
        status = assay_record_add_lane(
            record, &(assay_record_lane){.name = "main", .kind = ASSAY_LANE_THREAD});
    if (status == ASSAY_OK)
        status = assay_record_add_event(
            record, &(assay_record_event){.kind = ASSAY_EVENT_SPAN, .duration_seconds = 1});
    return status;
}

static assay_status run(void)
{
    assay_record *record = NULL, *copy = NULL;
    assay_error error = {0};
    assay_status status = assay_record_new(&record);
    if (status == ASSAY_OK)
        status = fill(record);
    if (status == ASSAY_OK)
        status = assay_record_save(record, "record.json", ASSAY_RECORD_EVENTS, &error);
    if (status == ASSAY_OK)
        status = assay_record_read("record.json", &error, &copy);
    if (status == ASSAY_OK && copy->operation_count != OPERATIONS)
        status = ASSAY_E_STATE;
    assay_record_free(copy);
    assay_record_free(record);
    return status;
}

static bool verify(void)
{
    assay_record *record = NULL;
    bool complete = assay_record_read("record.json", NULL, &record) == ASSAY_OK &&
                    record->operation_count == OPERATIONS && record->event_count == 1;
    assay_record_free(record);
    return complete;
}

const fault_scenario fault_record = {"record", run, verify};
