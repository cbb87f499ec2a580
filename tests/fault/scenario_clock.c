/* A clock made by the caller, and the machine's own clock, which must always be available. */
#include "tests/fault/fault.h"

#include "assay/clock.h"

static uint64_t always_seven(void *context)
{
    (void)context;
    return 7;
}

static assay_status run(void)
{
    assay_clock *clock = NULL;
    assay_clock_info info = {.struct_size = sizeof info};
    assay_status status = assay_clock_new_injected(always_seven, NULL, &clock);
    if (status == ASSAY_OK && assay_clock_now_ns(clock) != 7)
        status = ASSAY_E_STATE;
    assay_clock_free(clock);
    if (assay_clock_default() == NULL)
        return (assay_status)-1000;
    assay_status described = assay_clock_describe(assay_clock_default(), &info);
    return status != ASSAY_OK ? status : described;
}

const fault_scenario fault_clock = {"clock", run, NULL};
