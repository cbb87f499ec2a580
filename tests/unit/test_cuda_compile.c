/* The kernels, compiled by the toolkit's own NVRTC. The emulated device of the other tests compiles
 * them as C, and so cannot see what NVRTC refuses. No GPU is needed: the driver that loads the
 * machine code is replaced by one that looks for the kernels in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "models/cuda/compile.h"
#include "models/cuda/gpu.h"
#include "tests/sanitizers.h"

static struct {
    int (*code_size)(void *program, size_t *size); /* of NVRTC */
    size_t image_bytes;
    const void *image;
} last;

static int note_code_size(void *program, size_t *size)
{
    int code = last.code_size(program, size);
    last.image_bytes = *size;
    return code;
}

static int load_module(void **module, const void *image)
{
    last.image = image;
    *module = &last;
    return 0;
}

/* Like the driver, fails if the machine code does not have the kernel. */
static int find_function(void **function, void *module, const char *name)
{
    (void)module;
    *function = &last;
    if (memmem(last.image, last.image_bytes, name, strlen(name) + 1) != NULL)
        return 0;
    fprintf(stderr, "there is no kernel '%s' in the machine code\n", name);
    return 500; /* CUDA_ERROR_NOT_FOUND */
}

static bool open_compiler(assay__libraries *libraries)
{
    static const char *const places[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                         "/usr/local/cuda/lib64/libnvrtc.so",
                                         "/usr/local/cuda/lib/libnvrtc.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && library == NULL; i++)
        library = dlopen(places[i], RTLD_NOW);
    if (library == NULL)
        return false;
#define FIND(field, symbol, arguments)                                                             \
    *(void **)&libraries->compiler.field = dlsym(library, symbol);                                 \
    assert_true(libraries->compiler.field != NULL);
    ASSAY__COMPILER_LIST(FIND)
#undef FIND
    last.code_size = libraries->compiler.code_size;
    libraries->compiler.code_size = note_code_size;
    libraries->driver.module_load = load_module;
    libraries->driver.module_function = find_function;
    return true;
}

static void check(assay_status status, const assay_error *error, int capability, int chunks)
{
    if (status != ASSAY_OK)
        fail_msg("for compute capability %d, heads of %d chunks: %s", capability, chunks,
                 error->message);
}

static void test_every_group_compiles(void **state)
{
    static const int capabilities[] = {75, 90}; /* the oldest that CUDA 13 knows, and an H200 */
    const assay__libraries *libraries = *state;
    void *functions[ASSAY__KERNELS];
    assay_error error = {0};
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        int capability = capabilities[i];
        check(assay__compile_general(libraries, capability, functions, &error), &error, capability,
              0);
        for (int chunks = 1; chunks <= ASSAY__MOST_HEAD_CHUNKS; chunks += 7)
            check(assay__compile_attention(libraries, capability, chunks, functions, &error),
                  &error, capability, chunks);
    }
}

static void test_refusal_is_told(void **state)
{
    const assay__libraries *libraries = *state;
    void *functions[ASSAY__KERNELS];
    assay_error error = {0};
    assert_int_equal(assay__compile_general(libraries, 1, functions, &error), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "NVRTC cannot compile our kernels"));
}

int main(void)
{
    assay__libraries libraries = {0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_every_group_compiles, &libraries),
        cmocka_unit_test_prestate(test_refusal_is_told, &libraries)};
#if ADDRESS_SANITIZER || THREAD_SANITIZER
    puts("NVRTC does not run under a sanitizer");
    return 77;
#endif
    if (!open_compiler(&libraries)) {
        puts("no CUDA toolkit here: NVRTC is missing");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
