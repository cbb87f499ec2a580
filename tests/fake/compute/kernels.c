/* The kernels of models/cuda as functions of the host. This file defines the parts of CUDA C++ that
 * C does not have. */
#include <math.h>
#include <stdbool.h>

#include "models/cuda/arguments.h"
#include "tests/fake/compute/emulator.h"

#define ASSAY__EMULATED
#define HEAD_CHUNKS 8
#define DEVICE      static inline __attribute__((unused))
#define KERNEL(threads, name)                                                                      \
    static void body_of_##name(const assay__##name##_arguments a);                                 \
    __attribute__((visibility("default"))) void name(const void *arguments);                       \
    void name(const void *arguments)                                                               \
    {                                                                                              \
        body_of_##name(*(const assay__##name##_arguments *)arguments);                             \
    }                                                                                              \
    static void body_of_##name(const assay__##name##_arguments a)

#define __shared__                          static
#define __align__(bytes)                    __attribute__((aligned(bytes)))
#define __syncthreads                       emulated_barrier
#define __shfl_xor_sync(lanes, value, mask) emulated_exchange(value, mask)
#define threadIdx                           emulated_thread
#define blockIdx                            emulated_block
#define blockDim                            emulated_block_size
#define gridDim                             emulated_grid_size

typedef struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16))) float4;

static inline float atomicAdd(float *to, float value)
{
    const float before = *to;
    *to += value;
    return before;
}

/* Each file needs the ones before it. */
/* clang-format off */
#include "models/cuda/kernels/device.cu"
#include "models/cuda/kernels/elementwise.cu"
#include "models/cuda/kernels/graph.cu"
#include "models/cuda/kernels/lstm.cu"
#include "models/cuda/kernels/road.cu"
#include "models/cuda/kernels/attention.cu"
