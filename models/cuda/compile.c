/* Joins the texts of a group of kernels, compiles them with NVRTC, and loads the machine code into
 * the current context. The kernels of attention are a group of their own, because they are compiled
 * again for each width of a head. */
#include "models/cuda/compile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "models/cuda/gpu.h"

/* cmake/AssayEmbed.cmake makes these from the files. Each ends with a zero. */
extern const char assay__text_arguments[], assay__text_device[], assay__text_elementwise[],
    assay__text_graph[], assay__text_lstm[], assay__text_road[], assay__text_attention[];

typedef struct group {
    const char *texts[8]; /* NULL-terminated */
    assay__kernel first;
    const char *const *names; /* NULL-terminated, of the kernels from `first` on */
} group;

#define NAME(name) #name,
static const char *const general_names[] = {ASSAY__GENERAL_KERNELS(NAME) NULL};
static const char *const attention_names[] = {ASSAY__ATTENTION_KERNELS(NAME) NULL};
#undef NAME

static const group general = {{assay__text_arguments, assay__text_device, assay__text_elementwise,
                               assay__text_graph, assay__text_lstm, assay__text_road, NULL},
                              0,
                              general_names};
static const group attention = {
    {assay__text_arguments, assay__text_device, assay__text_attention, NULL},
    ASSAY__KERNEL_attention_forward,
    attention_names};

static assay_status fail_compile(const assay__libraries *libraries, void *program, int code,
                                 assay_error *error)
{
    size_t size = 0;
    char *log = NULL;
    if (program != NULL && libraries->compiler.log_size(program, &size) == 0 && size > 1)
        log = calloc(1, size + 1);
    if (log != NULL && libraries->compiler.log(program, log) != 0)
        log[0] = '\0';
    assay_status status = assay__fail(error, ASSAY_E_UNSUPPORTED,
                                      "NVRTC cannot compile our kernels (status %d): %.300s", code,
                                      log != NULL ? log : "it leaves no message");
    free(log);
    return status;
}

/* Compiles a text to machine code, which the caller frees. */
static assay_status compile(const assay__libraries *libraries, const char *text, int capability,
                            int head_chunks, assay_error *error, char **image)
{
    char architecture[48], chunks[32];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", capability);
    snprintf(chunks, sizeof chunks, "-DHEAD_CHUNKS=%d", head_chunks);
    const char *const options[] = {
        architecture, chunks, "--std=c++14",
        "-diag-suppress=177"}; /* no warnings about functions that a group does not use */
    void *program = NULL;
    size_t size = 0;
    int code = libraries->compiler.make(&program, text, "assay.cu", 0, NULL, NULL);
    if (code == 0)
        code = libraries->compiler.compile(program, 4, options);
    if (code == 0)
        code = libraries->compiler.code_size(program, &size);
    *image = code == 0 ? malloc(size) : NULL;
    if (*image != NULL)
        code = libraries->compiler.code(program, *image);
    assay_status status = ASSAY_OK;
    if (code != 0)
        status = fail_compile(libraries, program, code, error);
    else if (*image == NULL)
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory for the compiled kernels");
    if (program != NULL)
        libraries->compiler.release(&program);
    return status;
}

static assay_status load(const assay__libraries *libraries, const group *of, const char *image,
                         void **functions, assay_error *error)
{
    void *module = NULL;
    int code = libraries->driver.module_load(&module, image);
    for (size_t i = 0; code == 0 && of->names[i] != NULL; i++)
        code = libraries->driver.module_function(&functions[of->first + i], module, of->names[i]);
    return code == 0
               ? ASSAY_OK
               : assay__fail(error, ASSAY_E_UNSUPPORTED,
                             "the driver refuses our compiled kernels (error %d); is it older "
                             "than NVRTC?",
                             code);
}

static assay_status build(const assay__libraries *libraries, const group *of, int capability,
                          int head_chunks, void **functions, assay_error *error)
{
    assay__buffer text;
    char *image = NULL;
    assay__buffer_init(&text, 1 << 20);
    for (const char *const *part = of->texts; *part != NULL; part++)
        assay__buffer_append_text(&text, *part);
    assay_status status = text.status;
    if (status != ASSAY_OK)
        status = assay__fail(error, status, "out of memory for the kernels' text");
    else
        status = compile(libraries, text.data, capability, head_chunks, error, &image);
    if (status == ASSAY_OK)
        status = load(libraries, of, image, functions, error);
    free(image);
    assay__buffer_release(&text);
    return status;
}

assay_status assay__compile_general(const assay__libraries *libraries, int capability,
                                    void **functions, assay_error *error)
{
    return build(libraries, &general, capability, 1, functions, error);
}

assay_status assay__compile_attention(const assay__libraries *libraries, int capability,
                                      int head_chunks, void **functions, assay_error *error)
{
    return build(libraries, &attention, capability, head_chunks, functions, error);
}
