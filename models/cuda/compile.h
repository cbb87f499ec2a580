/* Compiles our kernels with NVRTC for the device at hand. The text of the kernels is part of the
 * library. */
#ifndef ASSAY_MODELS_CUDA_COMPILE_H
#define ASSAY_MODELS_CUDA_COMPILE_H

#include "assay/status.h"
#include "models/cuda/library.h"

enum { ASSAY__MOST_HEAD_CHUNKS = 8 }; /* wider heads are divided */

/* Compile one group of kernels and write its functions into `functions` (ASSAY__KERNELS). A context
 * must be current. `capability` is 90 for a device of compute capability 9.0. ASSAY_E_UNSUPPORTED
 * with the message of the compiler. */
ASSAY_MUST_USE assay_status assay__compile_general(const assay__libraries *libraries,
                                                   int capability, void **functions,
                                                   assay_error *error);
ASSAY_MUST_USE assay_status assay__compile_attention(const assay__libraries *libraries,
                                                     int capability, int head_chunks,
                                                     void **functions, assay_error *error);

#endif
