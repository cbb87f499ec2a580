/* Measures the memory of the process during a call, and the memory of a model by use. */
#include "assay/memory.h"
#include "models/profile/passes.h"

assay_status assay_reset_memory_stats(void)
{
    return assay_memory_reset_peak();
}

assay_reading assay_get_peak_memory(void)
{
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK)
        return assay_reading_missing(ASSAY_UNSUPPORTED);
    return memory.peak_rss_bytes;
}

static assay_reading allocated_bytes(void)
{
    assay_heap_figures heap = {.struct_size = sizeof heap};
    if (assay_heap_available() && assay_heap_read(&heap) == ASSAY_OK)
        return assay_reading_of((double)heap.live_bytes);
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK)
        return assay_reading_missing(ASSAY_UNSUPPORTED);
    return memory.rss_bytes;
}

assay_status assay_profile_memory_usage(assay_function function, void *argument,
                                        assay_memory_stats *stats)
{
    bool fresh = assay_memory_reset_peak() == ASSAY_OK;
    assay_status status = function(argument);
    /* If the peak could not be reset, it may come from before this call. */
    *stats = (assay_memory_stats){.peak_bytes = fresh ? assay_get_peak_memory()
                                                      : assay_reading_missing(ASSAY_NOT_PERMITTED),
                                  .allocated_bytes = allocated_bytes(),
                                  .reserved_bytes = assay_reading_missing(ASSAY_UNSUPPORTED),
                                  .device = "cpu"};
    return status;
}

/* Make the model allocate everything that a training step needs. An update with a learning rate of
 * 0 allocates the optimizer's moments but changes no parameter. */
static assay_status run_once(const assay_profile_target *target, assay_error *error)
{
    const assay_model_class *class_ = assay_model_class_of(target->model);
    void *state = assay_model_state(target->model);
    assay_tensor output;
    if (target->target == NULL || class_->gradient == NULL)
        return class_->forward(state, target->inputs, class_->input_count, error, &output);
    return assay__passes_train(target, class_->update != NULL ? 0.0 : ASSAY__NO_UPDATE, error);
}

assay_status assay_get_memory_breakdown(const assay_profile_target *target, assay_error *error,
                                        assay_model_memory *breakdown)
{
    assay_status status = assay_model_memory_now(target->model, error, breakdown);
    if (status == ASSAY_OK)
        status = run_once(target, error);
    if (status == ASSAY_OK)
        status = assay_model_memory_now(target->model, error, breakdown);
    return status;
}
