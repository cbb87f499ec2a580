#include <stdlib.h>

#include "assay/facade.h"

enum { DEFAULT_ITERATIONS = 100, DEFAULT_WARMUP = 10 };

assay_status assay_benchmark_inference(void (*function)(void *), void *argument,
                                       const assay_inference_options *options,
                                       assay_inference_stats *stats)
{
    const assay_inference_options defaults = ASSAY_INFERENCE_OPTIONS_INIT;
    if (options == NULL)
        options = &defaults;
    if (options->struct_size != sizeof defaults)
        return ASSAY_E_ARGUMENT;
    const assay_clock *clock = options->clock != NULL ? options->clock : assay_clock_default();
    size_t count = options->num_iterations != 0 ? options->num_iterations : DEFAULT_ITERATIONS;
    size_t warmup = options->no_warmup     ? 0
                    : options->warmup != 0 ? options->warmup
                                           : DEFAULT_WARMUP;
    double *seconds = calloc(count, sizeof *seconds);
    if (seconds == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < warmup; i++)
        function(argument);
    for (size_t i = 0; i < count; i++) {
        uint64_t start_ns = assay_clock_now_ns(clock);
        function(argument);
        seconds[i] = (double)(assay_clock_now_ns(clock) - start_ns) * 1e-9;
    }
    assay_status status =
        assay_inference_summarize(seconds, count, options->samples_per_call, stats);
    free(seconds);
    return status;
}
