/* The CUDA driver that is already part of this process. We never load it: a program without it has
 * no stream to measure, and loading it would cost such a program a second and much memory. */
#ifndef ASSAY_INSTRUMENT_CUDA_H
#define ASSAY_INSTRUMENT_CUDA_H

enum assay__cuda_status {
    ASSAY__CUDA_OK = 0,
    ASSAY__CUDA_NOT_READY = 600 /* an event has not completed yet; no failure */
};

enum { ASSAY__CUDA_EVENT_DEFAULT = 0 };

/* field, symbol, arguments. Handles (context, stream, event) are pointers. */
#define ASSAY__CUDA_LIST(X)                                                                        \
    X(context_now, "cuCtxGetCurrent", (void **))                                                   \
    X(context_push, "cuCtxPushCurrent_v2", (void *))                                               \
    X(context_pop, "cuCtxPopCurrent_v2", (void **))                                                \
    X(context_device, "cuCtxGetDevice", (int *))                                                   \
    X(stream_context, "cuStreamGetCtx", (void *, void **))                                         \
    X(stream_capturing, "cuStreamIsCapturing", (void *, int *))                                    \
    X(event_new, "cuEventCreate", (void **, unsigned))                                             \
    X(event_free, "cuEventDestroy_v2", (void *))                                                   \
    X(event_record, "cuEventRecord", (void *, void *))                                             \
    X(event_query, "cuEventQuery", (void *))                                                       \
    X(event_elapsed, "cuEventElapsedTime", (float *, void *, void *))

/* What a driver may lack: pools came with CUDA 11.3, UUIDs of instances (MIG) with 11.4. */
#define ASSAY__CUDA_OPTIONAL_LIST(X)                                                               \
    X(pool_of_device, "cuDeviceGetDefaultMemPool", (void **, int))                                 \
    X(pool_attribute, "cuMemPoolGetAttribute", (void *, int, void *))                              \
    X(device_uuid, "cuDeviceGetUuid_v2", (unsigned char *, int))                                   \
    X(board_uuid, "cuDeviceGetUuid", (unsigned char *, int))                                       \
    X(device_bus, "cuDeviceGetPCIBusId", (char *, int, int))

#define ASSAY__CUDA_FIELD(field, symbol, arguments) int(*field) arguments;
typedef struct assay__cuda {
    ASSAY__CUDA_LIST(ASSAY__CUDA_FIELD)
    ASSAY__CUDA_OPTIONAL_LIST(ASSAY__CUDA_FIELD)
} assay__cuda;
#undef ASSAY__CUDA_FIELD

/* The driver, or NULL if this process has none or one that lacks an entry point (before CUDA 10).
 */
const assay__cuda *assay__cuda_driver(void);

/* The same without looking for it: NULL, at the cost of a branch, until assay__cuda_driver() has
 * found it. Looking allocates and takes the dynamic linker's lock, which a span must not. */
const assay__cuda *assay__cuda_known(void);

#endif
