/* A fake libnvrtc with the calls that the models use. It compiles nothing, because this folder's
 * libcuda.so.1 contains the kernels; it only checks that the text is there. FAKE_NVRTC=fail makes
 * it refuse. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define CALL(name, ...)                                                                            \
    EXPORT int name(__VA_ARGS__);                                                                  \
    int name(__VA_ARGS__)

static const char *const LOG = "assay.cu(1): error: as the test asked";
static int program;

CALL(nvrtcCreateProgram, void **made, const char *text, const char *name, int headers,
     const char *const *sources, const char *const *names)
{
    (void)sources;
    (void)names;
    *made = &program;
    return strstr(text, "KERNEL(256,") != NULL && name != NULL && headers == 0 ? 0 : 3;
}

CALL(nvrtcCompileProgram, void *of, int count, const char *const *options)
{
    const char *fault = getenv("FAKE_NVRTC");
    if (of != &program || count < 1 || strcmp(options[0], "--gpu-architecture=sm_90") != 0)
        return 5;
    return fault != NULL && strcmp(fault, "fail") == 0 ? 6 : 0;
}

CALL(nvrtcGetCUBINSize, void *of, size_t *bytes)
{
    *bytes = 4;
    return of == &program ? 0 : 4;
}

CALL(nvrtcGetCUBIN, void *of, char *image)
{
    memcpy(image, "fake", 4);
    return of == &program ? 0 : 4;
}

CALL(nvrtcGetProgramLogSize, void *of, size_t *bytes)
{
    *bytes = strlen(LOG) + 1;
    return of == &program ? 0 : 4;
}

CALL(nvrtcGetProgramLog, void *of, char *log)
{
    strcpy(log, LOG);
    return of == &program ? 0 : 4;
}

CALL(nvrtcDestroyProgram, void **of)
{
    *of = NULL;
    return 0;
}
