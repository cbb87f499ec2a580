/* Instruments read the machine through small buffers of their own; figures that they cannot read
 * are missing. */
#include "tests/fault/fault.h"

#include <stddef.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "assay/memory.h"
#include "assay/record.h"

static void count_fact(void *context, const char *key, const char *value, assay_validity validity)
{
    (void)key;
    (void)validity;
    *(int *)context += value != NULL;
}

static assay_status run(void)
{
    int facts = 0;
    assay_machine_describe(count_fact, &facts);
    assay_memory memory = {.struct_size = sizeof memory};
    assay_status status = assay_memory_read(&memory);
    assay_record *record = NULL;
    if (status == ASSAY_OK)
        status = assay_record_new(&record);
    if (status == ASSAY_OK)
        status = assay_record_describe(record); /* machine, build and git */
    if (status == ASSAY_OK && (facts == 0 || record->build_count == 0 || record->git_count == 0))
        status = ASSAY_E_STATE;
    assay_record_free(record);
    assay_tree_sampler *sampler = NULL;
    assay_tree_figures figures = {.struct_size = sizeof figures};
    if (status == ASSAY_OK)
        status = assay_tree_sampler_new(getpid(), NULL, &sampler);
    for (int i = 0; i < 3 && status == ASSAY_OK; i++)
        status = assay_tree_sampler_sample(sampler);
    if (status == ASSAY_OK)
        status = assay_tree_sampler_read(sampler, &figures);
    assay_tree_sampler_free(sampler);
    return status;
}

const fault_scenario fault_instrument = {"instrument", run, NULL};
