#include "describe.h"

#include <time.h>

#include "assay/clock.h"
#include "assay/instrument.h"

typedef assay_status (*add_fact)(assay_record *, const char *key, const char *value,
                                 assay_validity validity);

typedef struct collector {
    assay_record *record;
    add_fact add;
    assay_status status; /* the first failure */
} collector;

static void collect(void *context, const char *key, const char *value, assay_validity validity)
{
    collector *c = context;
    assay_status status = c->add(c->record, key, value, validity);
    if (c->status == ASSAY_OK)
        c->status = status;
}

static assay_status describe_clock(assay_record *record)
{
    assay_clock_info info = {.struct_size = sizeof info};
    assay_status status = assay_clock_describe(assay_clock_default(), &info);
    if (status != ASSAY_OK)
        return status;
    record->clock.source = assay_record_text(record, info.source);
    record->clock.frequency_hz = assay_reading_of(info.frequency_hz);
    record->clock.resolution_ns = info.resolution_ns;
    record->clock.cost_ns = info.cost_ns;
    return record->clock.source != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

static assay_status stamp(assay_record *record)
{
    time_t now = time(NULL);
    struct tm utc;
    char text[32];
    if (gmtime_r(&now, &utc) == NULL || strftime(text, sizeof text, "%FT%TZ", &utc) == 0)
        return ASSAY_E_STATE;
    record->created = assay_record_text(record, text);
    return record->created != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay_status describe_record(assay_record *record)
{
    collector c = {.record = record, .add = assay_record_add_machine};
    assay_machine_describe(collect, &c);
    c.add = assay_record_add_build;
    assay_build_describe(collect, &c);
    c.add = assay_record_add_git;
    assay_git_describe(NULL, collect, &c);
    if (c.status == ASSAY_OK)
        c.status = describe_clock(record);
    if (c.status == ASSAY_OK)
        c.status = stamp(record);
    return c.status;
}
