/* assay_record_describe(): the facts about where, with what and when a record was made. It collects
 * the machine, the build, the git state and the clock from the instruments and enters them into the
 * record. */
#include <time.h>

#include "assay/clock.h"
#include "assay/record.h"
#include "instrument/provenance.h"
#include "record/build.h"
#include "record/describe.h"

typedef struct fact_sink {
    assay_record *record;
    assay__record_adder *add;
    assay_status status; /* the first failure */
} fact_sink;

static void take_fact(void *context, const char *key, const char *value, assay_validity validity)
{
    fact_sink *sink = context;
    if (sink->status == ASSAY_OK)
        sink->status = sink->add(sink->record, key, value, validity);
}

static assay_status describe_clock(assay_record *record)
{
    assay_clock_info info = {.struct_size = sizeof info};
    assay_status status = assay_clock_describe(assay_clock_default(), &info);
    if (status != ASSAY_OK)
        return status;
    return assay__record_set_clock(record, info.source, info.frequency_hz, info.resolution_ns,
                                   info.cost_ns);
}

assay_status assay_record_describe(assay_record *record)
{
    fact_sink machine = {record, assay_record_add_machine, ASSAY_OK};
    assay_machine_describe(take_fact, &machine);
    fact_sink build = {record, assay__record_add_build, machine.status};
    assay__build_describe(take_fact, &build);
    fact_sink git = {record, assay__record_add_git, build.status};
    assay__git_describe(NULL, take_fact, &git);
    assay_status status = git.status;
    if (status == ASSAY_OK && record->clock.source == NULL)
        status = describe_clock(record);
    if (status == ASSAY_OK && record->created == NULL)
        status = assay__record_set_created(record, (uint64_t)time(NULL));
    return status;
}
