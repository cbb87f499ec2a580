/* Two subjects with made-up times on a clock of their own are sampled and compared. */
#include "tests/fault/fault.h"

#include <stddef.h>

#include "assay/assay.h"

typedef struct world {
    uint64_t now_ns;
    unsigned random;
} world;

static uint64_t now(void *context)
{
    return ((world *)context)->now_ns;
}

static assay_status measure(void *context, uint64_t iterations, assay_sample *sample)
{
    world *w = context;
    w->random = w->random * 1664525u + 1013904223u;
    sample->seconds = (double)iterations * (1e-3 + 1e-12 * (double)(w->random >> 8));
    sample->disturbed = w->random >> 28 == 0;
    w->now_ns += (uint64_t)(sample->seconds * 1e9);
    return ASSAY_OK;
}

static assay_status run(void)
{
    world w = {0, 1};
    assay_clock *clock = NULL;
    assay_record *record = NULL;
    assay_error error = {0};
    const char *const command[] = {"work", "--hard"};
    const assay_record_fact parameter = {"size", "4", ASSAY_VALID};
    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    for (int i = 0; i < 2; i++) {
        subjects[i].name = i == 0 ? "first" : "second";
        subjects[i].measure = measure;
        subjects[i].context = &w;
        subjects[i].command = command;
        subjects[i].command_count = 2;
        subjects[i].parameters = &parameter;
        subjects[i].parameter_count = 1;
    }
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_status status = assay_clock_new_injected(now, &w, &clock);
    if (status != ASSAY_OK)
        return status;
    options.clock = clock;
    options.min_rounds = options.max_rounds = 33;
    status = assay_sampling_run(subjects, 2, &options, &error, &record);
    if (status != ASSAY_OK && error.message[0] == '\0')
        status = (assay_status)-1000; /* a failure without a message */
    if (status == ASSAY_OK)
        status = assay_record_compare(record, NULL);
    assay_record_free(record);
    assay_clock_free(clock);
    return status;
}

const fault_scenario fault_sampling = {.name = "sampling", .run = run};
