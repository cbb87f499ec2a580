/* Opens devices and keeps them for the life of the process. A device has a lock, which a pass holds
 * from begin to end, and the status of the present pass. Every call checks that status first and
 * does nothing after a failure. */
#include "models/cuda/gpu.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "models/cuda/compile.h"
#include "models/cuda/library.h"

enum {
    DEVICES = 64,
    CAPABILITY_MAJOR = 75, /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
    CAPABILITY_MINOR = 76,
    MULTIPROCESSORS = 16,
    OUT_OF_MEMORY = 2, /* CUDA_ERROR_OUT_OF_MEMORY */
    STREAM_NON_BLOCKING = 1,
    DEFAULT_MATH = 0 /* CUBLAS_DEFAULT_MATH: float32 products in float32 */
};

struct assay__gpu {
    const assay__libraries *libraries;
    int index, capability, multiprocessors;
    char name[128];
    void *context, *stream, *blas;
    void *functions[ASSAY__KERNELS]; /* attention: for the width last prepared */
    void *of_heads[ASSAY__MOST_HEAD_CHUNKS + 1][ASSAY__KERNELS];
    pthread_mutex_t lock;
    assay_status status; /* of the present pass */
    char message[512];
};

static struct {
    pthread_mutex_t lock;
    assay__gpu *gpus[DEVICES];
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Opening ---- */

static assay_status fail_call(const assay__libraries *libraries, int code, const char *what,
                              assay_error *error)
{
    const char *text = NULL;
    if (libraries->driver.error_text(code, &text) != 0 || text == NULL)
        text = "an error that the driver does not name";
    return assay__fail(error, code == OUT_OF_MEMORY ? ASSAY_E_MEMORY : ASSAY_E_UNSUPPORTED,
                       "CUDA cannot %s: %s (error %d)", what, text, code);
}

static assay_status check_index(const assay__libraries *libraries, int index, assay_error *error)
{
    int count = 0, code = libraries->driver.init(0);
    if (code == 0)
        code = libraries->driver.device_count(&count);
    if (code != 0)
        return fail_call(libraries, code, "be used; 'assay doctor' shows the devices", error);
    if (index >= count || index >= DEVICES) {
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "there is no device cuda:%d; this machine has %d, %scuda:0%s", index,
                           count, count > 0 ? "from " : "so not even ", count > 0 ? " on" : "");
    }
    return ASSAY_OK;
}

/* Makes the stream and the cuBLAS handle, and compiles the kernels. The context must be current. */
static assay_status equip(assay__gpu *gpu, assay_error *error)
{
    const assay__libraries *libraries = gpu->libraries;
    int code = libraries->driver.stream_new(&gpu->stream, STREAM_NON_BLOCKING);
    if (code != 0)
        return fail_call(libraries, code, "make a stream", error);
    if (libraries->blas.make(&gpu->blas) != 0 ||
        libraries->blas.set_stream(gpu->blas, gpu->stream) != 0 ||
        libraries->blas.set_math(gpu->blas, DEFAULT_MATH) != 0)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "cuBLAS cannot be started on cuda:%d; is its memory used up?",
                           gpu->index);
    return assay__compile_general(libraries, gpu->capability, gpu->functions, error);
}

static assay_status start(assay__gpu *gpu, assay_error *error)
{
    const assay__libraries *libraries = gpu->libraries;
    int major = 0, minor = 0, code;
    libraries->driver.device_name(gpu->name, sizeof gpu->name, gpu->index);
    libraries->driver.device_attribute(&major, CAPABILITY_MAJOR, gpu->index);
    libraries->driver.device_attribute(&minor, CAPABILITY_MINOR, gpu->index);
    libraries->driver.device_attribute(&gpu->multiprocessors, MULTIPROCESSORS, gpu->index);
    gpu->capability = 10 * major + minor;
    code = libraries->driver.context_retain(&gpu->context, gpu->index);
    if (code == 0)
        code = libraries->driver.context_push(gpu->context);
    if (code != 0)
        return fail_call(libraries, code, "use the device", error);
    assay_status status = equip(gpu, error);
    void *popped;
    libraries->driver.context_pop(&popped);
    return status;
}

static assay_status open_new(int index, assay_error *error, assay__gpu **gpu)
{
    const assay__libraries *libraries = NULL;
    assay_status status = assay__libraries_open(error, &libraries);
    if (status == ASSAY_OK)
        status = check_index(libraries, index, error);
    if (status != ASSAY_OK)
        return status;
    assay__gpu *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a device");
    made->libraries = libraries;
    made->index = index;
    pthread_mutex_init(&made->lock, NULL);
    status = start(made, error);
    if (status == ASSAY_OK)
        *gpu = made;
    else
        free(made); /* its objects of the driver stay until the process ends */
    return status;
}

assay_status assay__gpu_open(int index, assay_error *error, assay__gpu **gpu)
{
    assay_status status = ASSAY_OK;
    pthread_mutex_lock(&process.lock);
    if (index < DEVICES && process.gpus[index] != NULL) {
        *gpu = process.gpus[index];
    } else {
        status = open_new(index, error, gpu);
        if (status == ASSAY_OK)
            process.gpus[index] = *gpu;
    }
    pthread_mutex_unlock(&process.lock);
    return status;
}

const char *assay__gpu_name(const assay__gpu *gpu)
{
    return gpu->name;
}

/* ---- A pass ---- */

void assay__gpu_fail(assay__gpu *gpu, assay_status status, const char *message)
{
    if (gpu->status != ASSAY_OK)
        return;
    gpu->status = status;
    snprintf(gpu->message, sizeof gpu->message, "%.500s", message);
}

/* Records a failure if `code` is one. Returns whether there was none. */
static bool check(assay__gpu *gpu, int code, const char *what)
{
    if (code != 0) {
        assay_error error = {0};
        assay_status status = fail_call(gpu->libraries, code, what, &error);
        assay__gpu_fail(gpu, status, error.message);
    }
    return code == 0;
}

void assay__gpu_begin(assay__gpu *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->status = ASSAY_OK;
    check(gpu, gpu->libraries->driver.context_push(gpu->context), "use the device");
}

bool assay__gpu_good(const assay__gpu *gpu)
{
    return gpu->status == ASSAY_OK;
}

void assay__gpu_wait(assay__gpu *gpu)
{
    if (gpu->status == ASSAY_OK)
        check(gpu, gpu->libraries->driver.stream_wait(gpu->stream), "finish its work");
}

assay_status assay__gpu_end(assay__gpu *gpu, assay_error *error)
{
    void *popped;
    assay__gpu_wait(gpu);
    gpu->libraries->driver.context_pop(&popped);
    assay_status status = gpu->status;
    if (status != ASSAY_OK)
        assay__fail(error, status, "cuda:%d (%s): %s", gpu->index, gpu->name, gpu->message);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

static uint64_t address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

void assay__gpu_copy_in(assay__gpu *gpu, void *to, size_t bytes, const void *host)
{
    if (gpu->status == ASSAY_OK && bytes > 0)
        check(gpu, gpu->libraries->driver.copy_in(address(to), host, bytes, gpu->stream),
              "copy to the device");
}

void assay__gpu_copy_out(assay__gpu *gpu, void *host, size_t bytes, const void *from)
{
    if (gpu->status == ASSAY_OK && bytes > 0)
        check(gpu, gpu->libraries->driver.copy_out(host, address(from), bytes, gpu->stream),
              "copy from the device");
}

void assay__gpu_copy(assay__gpu *gpu, void *to, size_t bytes, const void *from)
{
    if (gpu->status == ASSAY_OK && bytes > 0)
        check(gpu, gpu->libraries->driver.copy(address(to), address(from), bytes, gpu->stream),
              "copy on the device");
}

void assay__gpu_zero(assay__gpu *gpu, float *to, size_t floats)
{
    if (gpu->status == ASSAY_OK && floats > 0)
        check(gpu, gpu->libraries->driver.fill(address(to), 0, floats, gpu->stream),
              "clear memory");
}

/* cuBLAS is column-major, so it sees each matrix transposed. It is asked for c^T = b^T a^T. */
void assay__gpu_matmul(assay__gpu *gpu, int64_t m, int64_t n, int64_t k, float alpha,
                       assay__matrix a, assay__matrix b, float beta, float *c, int64_t c_stride)
{
    if (gpu->status != ASSAY_OK || m == 0 || n == 0)
        return;
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX) {
        assay__gpu_fail(gpu, ASSAY_E_LIMIT, "a matrix product with more than 2^31 rows");
        return;
    }
    int code = gpu->libraries->blas.sgemm(gpu->blas, b.transposed, a.transposed, (int)n, (int)m,
                                          (int)k, &alpha, b.data, (int)b.stride, a.data,
                                          (int)a.stride, &beta, c, (int)c_stride);
    if (code != 0) {
        char message[64];
        snprintf(message, sizeof message, "cuBLAS failed with status %d", code);
        assay__gpu_fail(gpu, ASSAY_E_UNSUPPORTED, message);
    }
}

int64_t assay__gpu_blocks(int64_t elements)
{
    enum { MOST = 2048 };
    int64_t blocks = (elements + ASSAY__BLOCK - 1) / ASSAY__BLOCK;
    return blocks < 1 ? 1 : blocks < MOST ? blocks : MOST;
}

void assay__gpu_launch(assay__gpu *gpu, assay__kernel kernel, int64_t blocks,
                       int64_t rows_of_blocks, unsigned threads, const void *arguments)
{
    if (gpu->status != ASSAY_OK || blocks == 0)
        return;
    void *parameters[] = {(void *)(uintptr_t)arguments};
    check(gpu,
          gpu->libraries->driver.launch(gpu->functions[kernel], (unsigned)blocks,
                                        (unsigned)rows_of_blocks, 1, threads, 1, 1, 0, gpu->stream,
                                        parameters, NULL),
          "start a kernel");
}

int64_t assay__gpu_prepare_heads(assay__gpu *gpu, int64_t width)
{
    const int64_t all = (width + ASSAY__HEAD_CHUNK - 1) / ASSAY__HEAD_CHUNK;
    const int64_t chunks = all < ASSAY__MOST_HEAD_CHUNKS ? all : ASSAY__MOST_HEAD_CHUNKS;
    const int64_t slabs = (all + chunks - 1) / chunks;
    if (gpu->status != ASSAY_OK)
        return slabs;
    void **functions = gpu->of_heads[chunks];
    if (functions[ASSAY__KERNEL_attention_forward] == NULL) {
        assay_error error = {0};
        assay_status status = assay__compile_attention(gpu->libraries, gpu->capability, (int)chunks,
                                                       functions, &error);
        if (status != ASSAY_OK) {
            assay__gpu_fail(gpu, status, error.message);
            return slabs;
        }
    }
    const size_t first = ASSAY__KERNEL_attention_forward;
    memcpy(gpu->functions + first, functions + first, (ASSAY__KERNELS - first) * sizeof *functions);
    return slabs;
}

/* ---- Memory ---- */

static assay__gpu_block *find_block(const assay__gpu_heap *heap, const void *data)
{
    for (size_t i = 0; data != NULL && i < heap->count; i++)
        if (heap->blocks[i].data == data)
            return &heap->blocks[i];
    return NULL;
}

void assay__gpu_resize(assay__gpu *gpu, assay__gpu_heap *heap, assay__memory_use use, size_t bytes,
                       void *block_pointer)
{
    void *old;
    memcpy(&old, block_pointer, sizeof old);
    assay__gpu_block *block = find_block(heap, old);
    if (gpu->status != ASSAY_OK || (block != NULL && block->bytes >= bytes) || bytes == 0)
        return;
    if (block == NULL) {
        if (!assay__grow(&heap->blocks, &heap->capacity, heap->count + 1, sizeof *heap->blocks)) {
            assay__gpu_fail(gpu, ASSAY_E_MEMORY, "out of memory for a list of blocks");
            return;
        }
        block = &heap->blocks[heap->count++];
        *block = (assay__gpu_block){.use = use};
    } else { /* running kernels may still use the old block */
        assay__gpu_wait(gpu);
        check(gpu, gpu->libraries->driver.release(address(old)), "free memory");
    }
    uint64_t fresh = 0;
    char what[96];
    snprintf(what, sizeof what, "take %zu bytes of the device's memory", bytes);
    check(gpu, gpu->libraries->driver.allocate(&fresh, bytes), what);
    block->data = (void *)(uintptr_t)fresh;
    block->bytes = fresh != 0 ? bytes : 0;
    memcpy(block_pointer, &block->data, sizeof block->data);
}

void assay__gpu_heap_release(assay__gpu *gpu, assay__gpu_heap *heap)
{
    assay__gpu_begin(gpu);
    assay__gpu_wait(gpu);
    for (size_t i = 0; i < heap->count; i++)
        if (heap->blocks[i].data != NULL)
            gpu->libraries->driver.release(address(heap->blocks[i].data));
    (void)!assay__gpu_end(gpu, NULL);
    free(heap->blocks);
    *heap = (assay__gpu_heap){0};
}

void assay__gpu_heap_figures(const assay__gpu_heap *heap, assay_model_memory *figures)
{
    uint64_t bytes[ASSAY__MEMORY_USES] = {0};
    for (size_t i = 0; i < heap->count; i++)
        bytes[heap->blocks[i].use] += heap->blocks[i].bytes;
    *figures = (assay_model_memory){.parameters = bytes[ASSAY__PARAMETERS],
                                    .gradients = bytes[ASSAY__GRADIENTS],
                                    .optimizer = bytes[ASSAY__OPTIMIZER],
                                    .activations = bytes[ASSAY__ACTIVATIONS],
                                    .workspace = bytes[ASSAY__WORKSPACE]};
}
