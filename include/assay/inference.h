/* Inference: latency and throughput of single calls.
 *
 *     assay_timing timing;
 *     if (assay_benchmark_inference(forward, &model, NULL, &error, &timing) != ASSAY_OK) ...
 *     assay_print_inference_benchmark(&timing, batch_size, stdout, "MLP");
 *
 * This is a view of assay_benchmark_function() (sampling.h): by default it times 100 calls one by
 * one, after 10 that do not count.
 */
#ifndef ASSAY_INFERENCE_H
#define ASSAY_INFERENCE_H

#include <stddef.h>
#include <stdio.h>

#include "assay/sampling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* assay_benchmark_function() under another name. `num_iterations` and `warmup` are members of
 * assay_sampling_options. */
static inline ASSAY_MUST_USE assay_status assay_benchmark_inference(
    assay_function function, void *argument, const assay_sampling_options *options,
    assay_error *error, assay_timing *timing)
{
    return assay_benchmark_function(function, argument, options, error, timing);
}

/* Samples per second, if each call handles `samples_per_call` samples (0 counts as 1). The reading
 * is ASSAY_NOT_ENOUGH_DATA if the mean time is 0. */
static inline assay_reading assay_timing_throughput(const assay_timing *timing,
                                                    size_t samples_per_call)
{
    const double samples = samples_per_call == 0 ? 1.0 : (double)samples_per_call;
    return timing->mean_seconds > 0.0 ? assay_reading_of(samples / timing->mean_seconds)
                                      : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

/* Print a table: mean, min and max latency in milliseconds, and the throughput. A NULL
 * stream prints nothing. */
ASSAY_API assay_status assay_print_inference_benchmark(const assay_timing *timing,
                                                       size_t samples_per_call, FILE *stream,
                                                       const char *model_name);

#ifdef __cplusplus
}
#endif

#endif
