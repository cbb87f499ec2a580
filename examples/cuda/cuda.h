/* The few calls of the CUDA driver, cuBLAS and NVRTC that these examples use, opened at run time.
 * So the examples compile without a toolkit, and say so if there is no GPU. A program that is built
 * with the toolkit includes <cuda.h>, <cublas_v2.h> and <nvrtc.h> instead. */
#ifndef ASSAY_EXAMPLES_CUDA_H
#define ASSAY_EXAMPLES_CUDA_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLE_SKIPPED = 0 }; /* the exit code without a GPU */

/* Opens the first of the libraries that can be loaded. `names` are separated by spaces. Returns
 * NULL if none can be. */
static inline void *open_library(const char *names)
{
    char copy[512], *rest = copy, *name;
    snprintf(copy, sizeof copy, "%s", names);
    while ((name = strsep(&rest, " ")) != NULL) {
        void *library = dlopen(name, RTLD_NOW);
        if (library != NULL)
            return library;
    }
    return NULL;
}

/* Finds a function of a library, or ends the example. */
static inline void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        printf("skipped: the library has no %s\n", name);
        exit(EXAMPLE_SKIPPED);
    }
    memcpy(function, &found, sizeof found);
}

/* Returns `library`, or ends the example if it is NULL. */
static inline void *need(void *library, const char *what)
{
    if (library == NULL) {
        printf("skipped: %s cannot be loaded, so there is nothing to measure here\n", what);
        exit(EXAMPLE_SKIPPED);
    }
    return library;
}

static inline void check(int code, const char *what)
{
    if (code != 0) {
        fprintf(stderr, "%s failed with %d\n", what, code);
        exit(1);
    }
}

/* ---- The driver ---- */

static int (*cuInit)(unsigned), (*cuDevicePrimaryCtxRetain)(void **, int);
static int (*cuDeviceGetAttribute)(int *, int, int);
static int (*cuCtxSetCurrent)(void *), (*cuStreamCreate)(void **, unsigned);
static int (*cuStreamSynchronize)(void *), (*cuMemAlloc)(uint64_t *, size_t);
static int (*cuMemcpyHtoD)(uint64_t, const void *, size_t);
static int (*cuMemcpyDtoH)(void *, uint64_t, size_t);
static int (*cuModuleLoadData)(void **, const void *);
static int (*cuModuleGetFunction)(void **, void *, const char *);
static int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, void *, void **, void **);

/* Opens the driver and makes the first device current. Returns a stream on it. */
static inline void *start_device(void)
{
    void *driver = need(open_library("libcuda.so.1"), "the CUDA driver, libcuda.so.1,");
    void *context = NULL, *stream = NULL;
    find(driver, "cuInit", &cuInit);
    find(driver, "cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain);
    find(driver, "cuDeviceGetAttribute", &cuDeviceGetAttribute);
    find(driver, "cuCtxSetCurrent", &cuCtxSetCurrent);
    find(driver, "cuStreamCreate", &cuStreamCreate);
    find(driver, "cuStreamSynchronize", &cuStreamSynchronize);
    find(driver, "cuMemAlloc_v2", &cuMemAlloc);
    find(driver, "cuMemcpyHtoD_v2", &cuMemcpyHtoD);
    find(driver, "cuMemcpyDtoH_v2", &cuMemcpyDtoH);
    find(driver, "cuModuleLoadData", &cuModuleLoadData);
    find(driver, "cuModuleGetFunction", &cuModuleGetFunction);
    find(driver, "cuLaunchKernel", &cuLaunchKernel);
    if (cuInit(0) != 0 || cuDevicePrimaryCtxRetain(&context, 0) != 0) {
        printf("skipped: there is a driver, but no device that it can use\n");
        exit(EXAMPLE_SKIPPED);
    }
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuStreamCreate(&stream, 0), "cuStreamCreate");
    return stream;
}

/* ---- NVRTC ---- */

/* Compiles a text in CUDA C for the first device. Returns a module with its functions. */
static inline void *compile(const char *text)
{
    void *compiler =
        need(open_library("libnvrtc.so.13 libnvrtc.so.12 /usr/local/cuda/lib64/libnvrtc.so.13 "
                          "/usr/local/cuda/lib64/libnvrtc.so.12"),
             "NVRTC");
    int (*make)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*build)(void *, int, const char *const *);
    int (*size)(void *, size_t *), (*code)(void *, char *), major = 0, minor = 0;
    void *program = NULL, *module = NULL;
    size_t bytes = 0;
    char architecture[48];
    const char *options[] = {architecture};
    find(compiler, "nvrtcCreateProgram", &make);
    find(compiler, "nvrtcCompileProgram", &build);
    find(compiler, "nvrtcGetCUBINSize", &size);
    find(compiler, "nvrtcGetCUBIN", &code);
    cuDeviceGetAttribute(&major, 75, 0); /* compute capability */
    cuDeviceGetAttribute(&minor, 76, 0);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
    check(make(&program, text, "example.cu", 0, NULL, NULL), "nvrtcCreateProgram");
    check(build(program, 1, options), "nvrtcCompileProgram");
    check(size(program, &bytes), "nvrtcGetCUBINSize");
    char *image = malloc(bytes);
    check(code(program, image), "nvrtcGetCUBIN");
    check(cuModuleLoadData(&module, image), "cuModuleLoadData");
    free(image);
    return module;
}

#endif
