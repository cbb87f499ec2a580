#include <stdlib.h>

#include "assay/facade.h"
#include "base/struct_size.h"

enum { DEFAULT_ITERATIONS = 100, DEFAULT_WARMUP = 10 };

assay_status assay_benchmark_inference(void (*function)(void *), void *argument,
                                       const assay_inference_options *options,
                                       assay_inference_stats *stats)
{
    assay_inference_options own;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_inference_options", NULL);
    if (status != ASSAY_OK)
        return status;
    options = &own;
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
    status = assay_inference_summarize(seconds, count, options->samples_per_call, stats);
    free(seconds);
    return status;
}
