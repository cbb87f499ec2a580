/* A fake libcuda.so.1 for tests: a device whose clock the test sets, streams that run work of a
 * given length in order, and every error on demand.
 *
 * A stream is any pointer. fake_work(stream, seconds) appends work to it. An event that is recorded
 * after the work completes when the device's clock, which fake_advance(seconds) advances, has
 * passed the end of that work.
 *
 * Built with FAKE_OLD it is a driver from before cuStreamGetCtx (CUDA 9.2). Built with FAKE_PARTIAL
 * it is a driver from before modes of capture, memory pools and UUIDs of instances, whose devices
 * can be identified by their bus. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/cuda.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    OK = 0,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    LOST = 719,
    CONTEXT_DESTROYED = 709,
    DEVICES = 8,
    STREAMS = 2048,
    RELAXED = 2,
    CAPTURE_UNSUPPORTED = 900,
    EVENTS = 65536
};

typedef struct event {
    bool used, recorded;
    double at; /* device seconds at which it completes */
} event;

static struct {
    _Atomic double now; /* the clock moves while a meter's thread reads it */
    struct {
        const void *handle;
        double free_at;
        void *context;
        bool destroyed;
    } streams[STREAMS];
    size_t stream_count;
    event events[EVENTS];
    size_t created, destroyed;
    int calls; /* since `lost_after` was set for the first time */
    void *current, *pushed[16];
    size_t depth;
    fake_faults faults;
    int boards[DEVICES], board_count;
    char contexts[DEVICES];
    bool contexts_gone;
    unsigned long long used, used_high, reserved;
} device = {.current = &device};

EXPORT fake_faults *fake_cuda_faults(void)
{
    return &device.faults;
}

static size_t place_of(const void *handle)
{
    for (size_t i = 0; i < device.stream_count; i++)
        if (device.streams[i].handle == handle)
            return i;
    if (device.stream_count == STREAMS)
        abort();
    device.streams[device.stream_count].handle = handle;
    device.streams[device.stream_count].free_at = device.now;
    device.streams[device.stream_count].context = &device;
    return device.stream_count++;
}

static double *end_of(const void *handle)
{
    return &device.streams[place_of(handle)].free_at;
}

static bool is_destroyed(const void *handle)
{
    return device.streams[place_of(handle)].destroyed;
}

EXPORT void fake_see_boards(const int *boards, int count)
{
    for (device.board_count = 0; device.board_count < count; device.board_count++)
        device.boards[device.board_count] = boards[device.board_count];
}

EXPORT void fake_cuda_reset_calls(void)
{
    device.calls = 0;
}

/* What each thread's calls do to the captures of others: 0 (global), 1 (local) or RELAXED. */
static _Thread_local int capture_mode;

/* Whether this call must not be made while a stream is captured anywhere in the process. The
 * capture is then lost, too. */
static bool breaks_capture(void)
{
    if (!device.faults.captures_elsewhere || capture_mode == RELAXED)
        return false;
    device.faults.broken_captures++;
    return true;
}

/* Whether the device is lost. Counts the calls of the driver. */
static bool is_lost(void)
{
    return device.faults.lost_after > 0 && ++device.calls > device.faults.lost_after;
}

EXPORT void *fake_context(int number)
{
    return &device.contexts[number];
}

EXPORT void fake_put_stream(const void *stream, void *context)
{
    device.streams[place_of(stream)].context = context;
    device.streams[place_of(stream)].destroyed = false;
}

EXPORT void fake_destroy_stream(const void *stream)
{
    device.streams[place_of(stream)].destroyed = true;
}

EXPORT void fake_destroy_contexts(void)
{
    device.contexts_gone = true;
    device.current = NULL;
}

EXPORT void fake_work(const void *stream, double seconds)
{
    double *end = end_of(stream);
    *end = (*end > device.now ? *end : device.now) + seconds;
}

EXPORT void fake_advance(double seconds)
{
    atomic_store(&device.now, atomic_load(&device.now) + seconds);
}

EXPORT void fake_set_context(void *context)
{
    device.current = context;
    device.contexts_gone = false;
}

EXPORT size_t fake_live_events(void)
{
    return device.created - device.destroyed;
}

EXPORT int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context)
{
    if (is_lost())
        return LOST;
    *context = device.current;
    return device.faults.context_now;
}

EXPORT int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context)
{
    if (is_lost())
        return LOST;
    if (device.faults.context_push != OK || device.depth == 16 || device.contexts_gone)
        return INVALID_CONTEXT;
    device.pushed[device.depth++] = device.current;
    device.current = context;
    return OK;
}

EXPORT int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context)
{
    if (is_lost())
        return LOST;
    *context = device.current;
    device.current = device.pushed[--device.depth];
    return OK;
}

EXPORT int cuCtxGetDevice(int *number);
int cuCtxGetDevice(int *number)
{
    if (is_lost())
        return LOST;
    const char *current = device.current;
    bool own = current >= device.contexts && current < device.contexts + DEVICES;
    *number = own ? (int)(current - device.contexts) : 3;
    return device.current == NULL ? INVALID_CONTEXT : OK;
}

/* The bytes of a board's UUID are its number in hexadecimal. Those of an instance are "a" and the
 * number. */
static int find_uuid(unsigned char *bytes, int number)
{
    if (number < 0 || number >= device.board_count)
        return INVALID_DEVICE;
    int board = device.boards[number];
    bool instance = board >= FAKE_INSTANCE;
    memset(bytes, instance ? 0xa0 + board - FAKE_INSTANCE : 0x11 * board, 16);
    return OK;
}

#ifndef FAKE_PARTIAL
EXPORT int cuDeviceGetUuid_v2(unsigned char *bytes, int number);
int cuDeviceGetUuid_v2(unsigned char *bytes, int number)
{
    if (is_lost())
        return LOST;
    return find_uuid(bytes, number);
}

/* The older call knows no instances. */
EXPORT int cuDeviceGetUuid(unsigned char *bytes, int number);
int cuDeviceGetUuid(unsigned char *bytes, int number)
{
    if (is_lost())
        return LOST;
    int status = find_uuid(bytes, number);
    if (status == OK && bytes[0] >= 0xa0)
        memset(bytes, 0x11 * (bytes[0] - 0xa0), 16);
    return status;
}
#else
EXPORT int cuDeviceGetPCIBusId(char *text, int length, int number);
int cuDeviceGetPCIBusId(char *text, int length, int number)
{
    if (is_lost())
        return LOST;
    unsigned char bytes[16];
    int status = find_uuid(bytes, number);
    snprintf(text, (size_t)length, "0000:%02x:00.0", status == OK ? bytes[0] & 15 : 99);
    return status;
}
#endif

#ifndef FAKE_OLD
EXPORT int cuStreamGetCtx(void *stream, void **context);
int cuStreamGetCtx(void *stream, void **context)
{
    if (is_lost())
        return LOST;
    *context = device.streams[place_of(stream)].context;
    return is_destroyed(stream) ? INVALID_HANDLE : device.faults.stream_context;
}
#endif

EXPORT int cuStreamIsCapturing(void *stream, int *how);
int cuStreamIsCapturing(void *stream, int *how)
{
    if (is_lost())
        return LOST;
    *how = device.faults.capturing;
    return is_destroyed(stream) ? INVALID_HANDLE : OK;
}

#if !defined FAKE_PARTIAL && !defined FAKE_OLD
EXPORT int cuThreadExchangeStreamCaptureMode(int *mode);
int cuThreadExchangeStreamCaptureMode(int *mode)
{
    const int before = capture_mode;
    if (is_lost())
        return LOST;
    capture_mode = *mode;
    *mode = before;
    return OK;
}
#endif

EXPORT int fake_capture_mode(void)
{
    return capture_mode;
}

/* Allocates from the pool. The pool takes memory from the board in pieces of 32 MiB, and gives none
 * back. */
EXPORT void fake_allocate(long long bytes)
{
    const unsigned long long piece = 32ULL << 20;
    device.used += (unsigned long long)bytes;
    device.used_high = device.used > device.used_high ? device.used : device.used_high;
    unsigned long long needed = (device.used + piece - 1) / piece * piece;
    device.reserved = needed > device.reserved ? needed : device.reserved;
}

#if !defined FAKE_PARTIAL && !defined FAKE_OLD
EXPORT int cuDeviceGetDefaultMemPool(void **pool, int number);
int cuDeviceGetDefaultMemPool(void **pool, int number)
{
    if (is_lost())
        return LOST;
    (void)number;
    *pool = &device.used;
    return device.faults.pool;
}

EXPORT int cuMemPoolGetAttribute(void *pool, int attribute, void *value);
int cuMemPoolGetAttribute(void *pool, int attribute, void *value)
{
    if (is_lost())
        return LOST;
    unsigned long long *out = value;
    if (pool != &device.used)
        return INVALID_HANDLE;
    *out = attribute == 5   ? device.reserved
           : attribute == 7 ? device.used
           : attribute == 8 ? device.used_high
                            : 0;
    return OK;
}
#endif

EXPORT int cuEventCreate(void **out, unsigned flags);
int cuEventCreate(void **out, unsigned flags)
{
    if (is_lost())
        return LOST;
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
    if (is_lost())
        return LOST;
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
    if (is_lost())
        return LOST;
    event *recorded = handle;
    if (device.faults.event_record != OK)
        return device.faults.event_record;
    if (is_destroyed(stream))
        return INVALID_HANDLE;
    double end = *end_of(stream);
    recorded->at = end > device.now ? end : device.now;
    recorded->recorded = true;
    return OK;
}

EXPORT int cuEventQuery(void *handle);
int cuEventQuery(void *handle)
{
    if (is_lost())
        return LOST;
    if (breaks_capture())
        return CAPTURE_UNSUPPORTED;
    const event *asked = handle;
    if (device.faults.event_query != OK)
        return device.faults.event_query;
    if (device.contexts_gone)
        return CONTEXT_DESTROYED;
    return asked->at <= device.now ? OK : NOT_READY;
}

EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *end);
int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    if (is_lost())
        return LOST;
    if (breaks_capture())
        return CAPTURE_UNSUPPORTED;
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
