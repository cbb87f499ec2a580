/* Measures the best that a device can do: the denominators of "share of peak" for models on it. */
#ifndef ASSAY_MODELS_CUDA_PEAK_H
#define ASSAY_MODELS_CUDA_PEAK_H

#include "assay/model.h"

enum { ASSAY__GPU_PEAK_SIDE = 4096 };

typedef struct assay__gpu_peak {
    double gflops;               /* float32 products of 4096 x 4096, without TF32 */
    double gigabytes_per_second; /* a copy of 256 MiB on the device, bytes read and written */
    char device[128];            /* "NVIDIA H200" */
} assay__gpu_peak;

/* Measures the device of a class that assay_model_class_on() returned. Each figure is the best of
 * ten runs; the measurement takes less than a second. ASSAY_E_MEMORY if the device has less than
 * 512 MiB free. */
ASSAY_MUST_USE assay_status assay__gpu_peak_measure(const assay_model_class *class_,
                                                    assay_error *error, assay__gpu_peak *peak);

#endif
