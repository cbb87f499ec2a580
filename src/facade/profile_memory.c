/* Memory of the process around a call, and of a model by use. */
#include "assay/instrument.h"
#include "assay/profile.h"
#include "base/error.h"

static const double bytes_in_mb = 1024.0 * 1024.0;

static assay_reading in_mb(assay_reading bytes)
{
    return bytes.validity == ASSAY_VALID ? assay_reading_of(bytes.value / bytes_in_mb) : bytes;
}

assay_status assay_reset_memory_stats(void)
{
    return assay_memory_reset_peak();
}

assay_reading assay_get_peak_memory(void)
{
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK)
        return assay_reading_missing(ASSAY_UNSUPPORTED);
    return in_mb(memory.peak_rss_bytes);
}

static assay_reading allocated_mb(void)
{
    assay_heap_figures heap = {.struct_size = sizeof heap};
    if (assay_heap_available() && assay_heap_read(&heap) == ASSAY_OK)
        return assay_reading_of((double)heap.live_bytes / bytes_in_mb);
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK)
        return assay_reading_missing(ASSAY_UNSUPPORTED);
    return in_mb(memory.rss_bytes);
}

assay_status assay_profile_memory_usage(assay_status (*function)(void *), void *argument,
                                        assay_memory_stats *stats)
{
    bool fresh = assay_memory_reset_peak() == ASSAY_OK;
    assay_status status = function(argument);
    /* Without a reset the peak may be an older one: then it is not this call's. */
    *stats = (assay_memory_stats){.peak_mb = fresh ? assay_get_peak_memory()
                                                   : assay_reading_missing(ASSAY_NOT_PERMITTED),
                                  .allocated_mb = allocated_mb(),
                                  .reserved_mb = assay_reading_missing(ASSAY_UNSUPPORTED),
                                  .device = "cpu"};
    return status;
}

static assay_status run_once(const assay_profile_target *target, assay_error *error)
{
    const assay_model_class *class_ = target->class_;
    assay_tensor output;
    double loss;
    if (target->target == NULL || class_->gradient == NULL)
        return class_->forward(target->state, target->inputs, target->input_count, error, &output);
    return class_->gradient(target->state, target->inputs, target->input_count, target->target,
                            error, &loss);
}

assay_status assay_get_memory_breakdown(const assay_profile_target *target, assay_error *error,
                                        assay_memory_breakdown *breakdown)
{
    if (target->class_->memory == NULL)
        return assay__fail(error, ASSAY_E_UNSUPPORTED, "model '%s' does not account for its memory",
                           target->class_->name);
    assay_status status = run_once(target, error);
    if (status == ASSAY_OK && target->target != NULL && target->class_->update != NULL)
        status = target->class_->update(target->state, 0.0,
                                        error); /* takes the moments, moves nothing */
    if (status != ASSAY_OK)
        return status;
    assay_model_memory bytes = {0};
    target->class_->memory(target->state, &bytes);
    *breakdown = (assay_memory_breakdown){
        .parameters = (double)bytes.parameters / bytes_in_mb,
        .gradients = (double)bytes.gradients / bytes_in_mb,
        .optimizer_state = (double)bytes.optimizer / bytes_in_mb,
        .forward_activations = (double)bytes.activations / bytes_in_mb,
        .workspace = (double)bytes.workspace / bytes_in_mb,
        .total = (double)(bytes.parameters + bytes.gradients + bytes.optimizer + bytes.activations +
                          bytes.workspace) /
                 bytes_in_mb};
    return ASSAY_OK;
}
