/* Instruments read the world through small buffers of their own; what they cannot read is missing.
 */
#include "tests/fault/fault.h"

#include <stddef.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "assay/memory.h"

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
    assay_build_describe(count_fact, &facts);
    assay_git_describe(NULL, count_fact, &facts);
    assay_memory memory = {.struct_size = sizeof memory};
    assay_status status = assay_memory_read(&memory);
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
