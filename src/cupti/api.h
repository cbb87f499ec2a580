/* The part of CUPTI (the CUDA Profiling Tools Interface) that we use. It is declared here, and the
 * library is opened at run time.
 *
 * So the library builds without the toolkit, and one build works with CUPTI of CUDA 11.1 and later.
 * We only read records, and only their first fields. These fields are the same in all of these
 * versions, although the records have grown (CUpti_ActivityKernel5 … 10, Memcpy4 … 6, Memset3, 4,
 * Memory2 … 4). tests/unit/test_cupti_layout.c compares them with the toolkit's header if there is
 * one. The numbers of kinds, calls and errors are part of CUPTI's binary interface.
 *
 * Source: CUPTI documentation, "CUPTI Activity API" and "CUPTI Callback API", CUDA 13.0. */
#ifndef ASSAY_CUPTI_API_H
#define ASSAY_CUPTI_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASSAY__CUPTI_OLDEST = 14, /* CUDA 11.1 */
    ASSAY__CUPTI_OK = 0,
    ASSAY__CUPTI_NO_MORE = 12,       /* CUPTI_ERROR_MAX_LIMIT_REACHED: the end of a buffer */
    ASSAY__CUPTI_OTHER_CLIENT = 39,  /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
    ASSAY__CUPTI_NOT_ALLOWED = 35,   /* CUPTI_ERROR_INSUFFICIENT_PRIVILEGES */
    ASSAY__CUPTI_ZEROED_BUFFERS = 5, /* attribute: the buffers that we provide are zeroed */
    ASSAY__CUPTI_DRIVER_CALLS = 1,   /* domain of callbacks */
    ASSAY__CUPTI_ENTER = 0,
    ASSAY__CUPTI_EXIT = 1,
    ASSAY__CUPTI_FLUSH_FORCED = 1
};

/* Calls of the driver by which a program marks a range (cudaProfilerStart, cudaProfilerStop). */
enum { ASSAY__CUPTI_PROFILER_START = 308, ASSAY__CUPTI_PROFILER_STOP = 309 };

/* Kinds of records. */
enum {
    ASSAY__CUPTI_MEMCPY = 1,
    ASSAY__CUPTI_MEMSET = 2,
    ASSAY__CUPTI_KERNEL = 10, /* concurrent kernels */
    ASSAY__CUPTI_MEMCPY_PEER = 22,
    ASSAY__CUPTI_MEMORY = 49
};

enum { ASSAY__CUPTI_FROM_HOST = 1, ASSAY__CUPTI_TO_HOST = 2 }; /* copies */
enum { ASSAY__CUPTI_ALLOCATED = 1, ASSAY__CUPTI_RELEASED = 2 };
enum { ASSAY__CUPTI_ON_DEVICE = 3, ASSAY__CUPTI_MANAGED = 5 }; /* memory */

typedef struct assay__cupti_kernel {
    uint32_t kind;
    uint8_t caches[4];
    uint32_t caches_more[2];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t shape[8];
    uint32_t local_memory[2];
    uint32_t correlation;
    int64_t grid;
    const char *name;
} assay__cupti_kernel;

typedef struct assay__cupti_memcpy {
    uint32_t kind;
    uint8_t copy_kind, source, target, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t correlation; /* for copies between devices: another field, which we do not use */
} assay__cupti_memcpy;

typedef struct assay__cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
} assay__cupti_memset;

typedef struct assay__cupti_memory {
    uint32_t kind, operation, memory, correlation;
    uint64_t address, bytes, time, counter;
    uint32_t process, device;
} assay__cupti_memory;

/* The data that a callback receives for a call of the driver. */
typedef struct assay__cupti_call {
    int site;
    const char *function;
    const void *arguments;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *data;
    uint32_t correlation;
} assay__cupti_call;

typedef void assay__cupti_callback(void *user, int domain, uint32_t id, const void *data);
typedef void assay__cupti_requested(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void assay__cupti_completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                                    size_t valid);

/* The entry points of CUPTI. The last three may be NULL, because older versions lack them. */
typedef struct assay__cupti {
    int (*version)(uint32_t *version);
    int (*subscribe)(void **subscriber, assay__cupti_callback *callback, void *user);
    int (*unsubscribe)(void *subscriber);
    int (*enable_callback)(uint32_t enable, void *subscriber, int domain, uint32_t id);
    int (*enable)(int kind);
    int (*disable)(int kind);
    int (*register_buffers)(assay__cupti_requested *requested, assay__cupti_completed *completed);
    int (*next_record)(uint8_t *buffer, size_t valid, void **record);
    int (*dropped)(void *context, uint32_t stream, size_t *count);
    int (*flush)(uint32_t flag);
    int (*error_text)(int error, const char **text);
    int (*set_attribute)(int attribute, size_t *bytes, void *value);
    int (*flush_period)(uint32_t ms);
    int (*register_clock)(uint64_t (*now_ns)(void));
} assay__cupti;

/* Open CUPTI. If one is already loaded, that one is used, because two do not work in one process.
 * Otherwise it is the library that $ASSAY_CUPTI names, or the newest one that is found. If this
 * fails, the call returns false and writes a text into `reason`, which has room for `bytes`. */
bool assay__cupti_open(assay__cupti *api, char *reason, size_t bytes);

/* An entry point of the CUPTI that is loaded in this process, or NULL. Calls of other clients,
 * which come to us first, are passed on to it. */
void *assay__cupti_find(const char *name);

#endif
