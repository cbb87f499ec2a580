/* libcuda.so.1 as tests need it: a device whose clock is told by the test, streams that run work of
 * a given length in order, and every error on demand.
 *
 * A stream is any pointer. fake_work(stream, seconds) appends work to it; an event recorded behind
 * it completes when the device's clock, fake_advance(seconds), has passed the end of that work. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/fake/cuda.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    OK = 0,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    STREAMS = 16,
    EVENTS = 65536
};

typedef struct event {
    bool used, recorded;
    double at; /* device seconds at which it completes */
} event;

static struct {
    double now;
    struct {
        const void *handle;
        double free_at;
    } streams[STREAMS];
    size_t stream_count;
    event events[EVENTS];
    size_t created, destroyed;
    void *current, *pushed[16];
    size_t depth;
    fake_faults faults;
    unsigned long long used, used_high, reserved;
} device = {.current = &device};

EXPORT fake_faults *fake_cuda_faults(void)
{
    return &device.faults;
}

static double *end_of(const void *handle)
{
    for (size_t i = 0; i < device.stream_count; i++)
        if (device.streams[i].handle == handle)
            return &device.streams[i].free_at;
    device.streams[device.stream_count].handle = handle;
    device.streams[device.stream_count].free_at = device.now;
    return &device.streams[device.stream_count++].free_at;
}

EXPORT void fake_work(const void *stream, double seconds)
{
    double *end = end_of(stream);
    *end = (*end > device.now ? *end : device.now) + seconds;
}

EXPORT void fake_advance(double seconds)
{
    device.now += seconds;
}

EXPORT void fake_set_context(void *context)
{
    device.current = context;
}

EXPORT size_t fake_live_events(void)
{
    return device.created - device.destroyed;
}

EXPORT int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context)
{
    *context = device.current;
    return device.faults.context_now;
}

EXPORT int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context)
{
    if (device.faults.context_push != OK || device.depth == 16)
        return INVALID_CONTEXT;
    device.pushed[device.depth++] = device.current;
    device.current = context;
    return OK;
}

EXPORT int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context)
{
    *context = device.current;
    device.current = device.pushed[--device.depth];
    return OK;
}

EXPORT int cuCtxGetDevice(int *number);
int cuCtxGetDevice(int *number)
{
    *number = 3;
    return OK;
}

EXPORT int cuStreamGetCtx(void *stream, void **context);
int cuStreamGetCtx(void *stream, void **context)
{
    (void)stream;
    *context = &device;
    return device.faults.stream_context;
}

EXPORT int cuStreamIsCapturing(void *stream, int *how);
int cuStreamIsCapturing(void *stream, int *how)
{
    (void)stream;
    *how = device.faults.capturing;
    return OK;
}

/* It takes from the board in pieces of 32 MiB, and gives none back. */
EXPORT void fake_allocate(long long bytes)
{
    const unsigned long long piece = 32ULL << 20;
    device.used += (unsigned long long)bytes;
    device.used_high = device.used > device.used_high ? device.used : device.used_high;
    unsigned long long needed = (device.used + piece - 1) / piece * piece;
    device.reserved = needed > device.reserved ? needed : device.reserved;
}

EXPORT int cuDeviceGetDefaultMemPool(void **pool, int number);
int cuDeviceGetDefaultMemPool(void **pool, int number)
{
    (void)number;
    *pool = &device.used;
    return device.faults.pool;
}

EXPORT int cuMemPoolGetAttribute(void *pool, int attribute, void *value);
int cuMemPoolGetAttribute(void *pool, int attribute, void *value)
{
    unsigned long long *out = value;
    if (pool != &device.used)
        return INVALID_HANDLE;
    *out = attribute == 5   ? device.reserved
           : attribute == 7 ? device.used
           : attribute == 8 ? device.used_high
                            : 0;
    return OK;
}

EXPORT int cuEventCreate(void **out, unsigned flags);
int cuEventCreate(void **out, unsigned flags)
{
    (void)flags;
    if (device.faults.event_new != OK || device.created == EVENTS)
        return device.faults.event_new;
    event *fresh = &device.events[device.created++];
    fresh->used = true;
    *out = fresh;
    return OK;
}

EXPORT int cuEventDestroy_v2(void *handle);
int cuEventDestroy_v2(void *handle)
{
    event *old = handle;
    if (!old->used)
        abort(); /* freed twice */
    old->used = false;
    device.destroyed++;
    return OK;
}

EXPORT int cuEventRecord(void *handle, void *stream);
int cuEventRecord(void *handle, void *stream)
{
    event *recorded = handle;
    if (device.faults.event_record != OK)
        return device.faults.event_record;
    double end = *end_of(stream);
    recorded->at = end > device.now ? end : device.now;
    recorded->recorded = true;
    return OK;
}

EXPORT int cuEventQuery(void *handle);
int cuEventQuery(void *handle)
{
    const event *asked = handle;
    if (device.faults.event_query != OK)
        return device.faults.event_query;
    return asked->at <= device.now ? OK : NOT_READY;
}

EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *end);
int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    const event *first = start, *last = end;
    if (device.faults.event_elapsed != OK)
        return device.faults.event_elapsed;
    if (!first->recorded || !last->recorded)
        return INVALID_HANDLE;
    if (first->at > device.now || last->at > device.now)
        return NOT_READY;
    *milliseconds = (float)((last->at - first->at) * 1e3);
    return OK;
}
