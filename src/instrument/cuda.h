/* The CUDA driver, if it is already loaded into this process. assay never loads it here: a program
 * without the driver has no stream to measure, and loading it would cost such a program a second
 * and much memory. */
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

/* The mode of a thread in which its calls do not disturb captures of streams into graphs
 * (CU_STREAM_CAPTURE_MODE_RELAXED). */
enum { ASSAY__CUDA_RELAXED = 2 };

/* Entry points that a driver may lack: modes of capture came with CUDA 10.1, memory pools with
 * 11.3, UUIDs of instances (MIG) with 11.4. */
#define ASSAY__CUDA_OPTIONAL_LIST(X)                                                               \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *))                                  \
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

/* Look for the driver. NULL if this process has no driver, or one that lacks an entry point (before
 * CUDA 10). */
const assay__cuda *assay__cuda_driver(void);

/* The driver if assay__cuda_driver() has already found it, else NULL. This call does not look for
 * the driver and costs one branch. Looking for it allocates memory and takes the dynamic linker's
 * lock; a span must do neither. */
const assay__cuda *assay__cuda_known(void);

#endif
