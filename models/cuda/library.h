/* The libraries that compute on a GPU: the driver, cuBLAS and NVRTC. They are opened when a model
 * is first put on a device. So building assay needs no CUDA toolkit, and a machine without a GPU
 * loads none of them. This header declares the entry points itself; the names of the fields are
 * ours. */
#ifndef ASSAY_MODELS_CUDA_LIBRARY_H
#define ASSAY_MODELS_CUDA_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

/* Entries are (field, symbol, arguments). Handles are pointers, device addresses are 64-bit
 * integers, and a device is an int. All functions return 0 for success. */
#define ASSAY__DRIVER_LIST(X)                                                                      \
    X(init, "cuInit", (unsigned))                                                                  \
    X(device_count, "cuDeviceGetCount", (int *))                                                   \
    X(device_name, "cuDeviceGetName", (char *, int, int))                                          \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                 \
    X(context_retain, "cuDevicePrimaryCtxRetain", (void **, int))                                  \
    X(context_push, "cuCtxPushCurrent_v2", (void *))                                               \
    X(context_pop, "cuCtxPopCurrent_v2", (void **))                                                \
    X(stream_new, "cuStreamCreate", (void **, unsigned))                                           \
    X(stream_wait, "cuStreamSynchronize", (void *))                                                \
    X(allocate, "cuMemAlloc_v2", (uint64_t *, size_t))                                             \
    X(release, "cuMemFree_v2", (uint64_t))                                                         \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *))                   \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *, uint64_t, size_t, void *))                        \
    X(copy, "cuMemcpyDtoDAsync_v2", (uint64_t, uint64_t, size_t, void *))                          \
    X(fill, "cuMemsetD32Async", (uint64_t, unsigned, size_t, void *))                              \
    X(module_load, "cuModuleLoadData", (void **, const void *))                                    \
    X(module_function, "cuModuleGetFunction", (void **, void *, const char *))                     \
    X(launch, "cuLaunchKernel",                                                                    \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,       \
       void **, void **))                                                                          \
    X(error_text, "cuGetErrorString", (int, const char **))

#define ASSAY__BLAS_LIST(X)                                                                        \
    X(make, "cublasCreate_v2", (void **))                                                          \
    X(set_stream, "cublasSetStream_v2", (void *, void *))                                          \
    X(set_math, "cublasSetMathMode", (void *, int))                                                \
    X(sgemm, "cublasSgemm_v2",                                                                     \
      (void *, int, int, int, int, int, const float *, const float *, int, const float *, int,     \
       const float *, float *, int))

#define ASSAY__COMPILER_LIST(X)                                                                    \
    X(make, "nvrtcCreateProgram",                                                                  \
      (void **, const char *, const char *, int, const char *const *, const char *const *))        \
    X(compile, "nvrtcCompileProgram", (void *, int, const char *const *))                          \
    X(code_size, "nvrtcGetCUBINSize", (void *, size_t *))                                          \
    X(code, "nvrtcGetCUBIN", (void *, char *))                                                     \
    X(log_size, "nvrtcGetProgramLogSize", (void *, size_t *))                                      \
    X(log, "nvrtcGetProgramLog", (void *, char *))                                                 \
    X(release, "nvrtcDestroyProgram", (void **))

#define ASSAY__LIBRARY_FIELD(field, symbol, arguments) int(*field) arguments;
typedef struct assay__libraries {
    struct {
        ASSAY__DRIVER_LIST(ASSAY__LIBRARY_FIELD)
    } driver;
    struct {
        ASSAY__BLAS_LIST(ASSAY__LIBRARY_FIELD)
    } blas;
    struct {
        ASSAY__COMPILER_LIST(ASSAY__LIBRARY_FIELD)
    } compiler;
} assay__libraries;
#undef ASSAY__LIBRARY_FIELD

/* Opens all three libraries; they stay open for the life of the process. ASSAY_E_UNSUPPORTED names
 * the library that is missing, where it was looked for, and the remedy. Hold a lock during the
 * call: it changes static data. */
ASSAY_MUST_USE assay_status assay__libraries_open(assay_error *error,
                                                  const assay__libraries **libraries);

#endif
