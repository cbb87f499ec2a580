/* A fake libcuda.so.1 with the calls that the models use, on the emulator. Every call is executed
 * at once, so a stream never has work left. Device memory is host memory, filled with NaN so that a
 * read of memory that was never written shows. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/compute/emulator.h"

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, HEADER = 64 };

static fake_compute_faults faults = {.devices = 1};
static int depth; /* number of contexts pushed and not popped */

EXPORT fake_compute_faults *fake_compute(void)
{
    return &faults;
}

/* The value of `key` in FAKE_COMPUTE="devices=0,init=100", for programs that are controlled by
 * their environment. */
static int told(const char *key, int otherwise)
{
    const char *text = getenv("FAKE_COMPUTE");
    const char *found = text != NULL ? strstr(text, key) : NULL;
    return found != NULL ? atoi(found + strlen(key)) : otherwise;
}

#define CALL(name, ...)                                                                            \
    EXPORT int name(__VA_ARGS__);                                                                  \
    int name(__VA_ARGS__)

CALL(cuInit, unsigned flags)
{
    (void)flags;
    faults.devices = told("devices=", faults.devices);
    faults.launch = told("launch=", faults.launch);
    faults.bytes = (size_t)told("bytes=", (int)faults.bytes);
    return told("init=", faults.init);
}

CALL(cuDeviceGetCount, int *count)
{
    *count = faults.devices;
    return OK;
}

CALL(cuDeviceGetName, char *name, int bytes, int device)
{
    (void)device;
    snprintf(name, (size_t)bytes, "Emulated GPU");
    return OK;
}

CALL(cuDeviceGetAttribute, int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 75 ? 9 : 0;
    return OK;
}

CALL(cuDevicePrimaryCtxRetain, void **context, int device)
{
    (void)device;
    *context = &faults;
    return OK;
}

CALL(cuCtxPushCurrent_v2, void *context)
{
    (void)context;
    depth++;
    return OK;
}

CALL(cuCtxPopCurrent_v2, void **context)
{
    *context = &faults;
    if (depth-- == 0)
        abort();
    return OK;
}

CALL(cuStreamCreate, void **stream, unsigned flags)
{
    (void)flags;
    *stream = &depth;
    return OK;
}

CALL(cuStreamSynchronize, void *stream)
{
    return stream == &depth && depth > 0 ? OK : INVALID_VALUE;
}

CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes)
{
    if (faults.bytes > 0 && faults.held + bytes > faults.bytes)
        return OUT_OF_MEMORY;
    char *block = aligned_alloc(HEADER, HEADER + (bytes + HEADER - 1) / HEADER * HEADER);
    if (block == NULL)
        return OUT_OF_MEMORY;
    memcpy(block, &bytes, sizeof bytes);
    memset(block + HEADER, 0xff, bytes);
    faults.held += bytes;
    *address = (uint64_t)(uintptr_t)(block + HEADER);
    return OK;
}

CALL(cuMemFree_v2, uint64_t address)
{
    size_t bytes;
    char *block = (char *)(uintptr_t)address - HEADER;
    memcpy(&bytes, block, sizeof bytes);
    faults.held -= bytes;
    free(block);
    return OK;
}

CALL(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    if (faults.copy_in != OK)
        return faults.copy_in;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return OK;
}

CALL(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes, void *stream)
{
    (void)stream;
    if (faults.copy_out != OK)
        return faults.copy_out;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return OK;
}

CALL(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return OK;
}

CALL(cuMemsetD32Async, uint64_t to, unsigned value, size_t count, void *stream)
{
    (void)stream;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)(uintptr_t)to + 4 * i, &value, 4);
    return OK;
}

CALL(cuModuleLoadData, void **module, const void *image)
{
    (void)image;
    *module = &faults;
    return OK;
}

CALL(cuModuleGetFunction, void **function, void *module, const char *name)
{
    Dl_info here;
    (void)module;
    void *self =
        dladdr(&faults, &here) != 0 ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    *function = self != NULL ? dlsym(self, name) : NULL;
    return *function != NULL ? OK : NOT_FOUND;
}

CALL(cuLaunchKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
     void **parameters, void **extra)
{
    (void)stream;
    if (faults.launch != OK)
        return faults.launch;
    if (grid_x == 0 || grid_y == 0 || grid_z != 1 || block_x > 1024 || block_y != 1 ||
        block_z != 1 || shared != 0 || extra != NULL)
        return INVALID_VALUE;
    void (*kernel)(const void *);
    memcpy(&kernel, &function, sizeof kernel);
    faults.launches++;
    emulated_launch(kernel, (emulated_place){(int)grid_x, (int)grid_y, 1}, (int)block_x,
                    parameters[0]);
    return OK;
}

CALL(cuGetErrorString, int code, const char **text)
{
    *text = code == OUT_OF_MEMORY ? "out of memory"
            : code == 100         ? "no CUDA-capable device is detected"
            : code == 719         ? "unspecified launch failure"
                                  : NULL;
    return *text != NULL ? OK : INVALID_VALUE;
}
