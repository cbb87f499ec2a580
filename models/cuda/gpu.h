/* One CUDA device, as the models use it: memory, copies, matrix products and our kernels. All of
 * them run on one stream, in the order of the calls.
 *
 *     assay__gpu_begin(gpu);
 *     assay__gpu_copy_in(gpu, x, bytes, host_x);
 *     assay__gpu_matmul(gpu, ...);
 *     ASSAY__LAUNCH(gpu, bias_activate, blocks, 1, 256, .rows = rows, ...);
 *     assay__gpu_copy_out(gpu, host_y, bytes, y);
 *     status = assay__gpu_end(gpu, &error);              waits; says what failed first
 *
 * Between begin and end a device belongs to one thread, and other threads wait. The first call that
 * fails is remembered, and the calls after it do nothing. So a pass needs no check after each step.
 * Between begin and end the device's primary context is current; end restores the context that was
 * current before. Arrays of the device are plain pointers that the host must not dereference.
 *
 * A device is opened once and stays open: its cuBLAS handle, its stream and the compiled kernels
 * serve every model. Compiling takes about a second. */
#ifndef ASSAY_MODELS_CUDA_GPU_H
#define ASSAY_MODELS_CUDA_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/model.h"
#include "models/cuda/arguments.h"
#include "models/kernel/matmul.h"
#include "models/kernel/memory.h"

typedef struct assay__gpu assay__gpu;

typedef enum assay__kernel {
#define ASSAY__KERNEL_NUMBER(name) ASSAY__KERNEL_##name,
    ASSAY__GENERAL_KERNELS(ASSAY__KERNEL_NUMBER) ASSAY__ATTENTION_KERNELS(ASSAY__KERNEL_NUMBER)
#undef ASSAY__KERNEL_NUMBER
        ASSAY__KERNELS
} assay__kernel;

/* Opens a device, or returns it if it is open already; from any thread. ASSAY_E_UNSUPPORTED if
 * there is no driver, no library or no device of that number; the message names the remedy. */
ASSAY_MUST_USE assay_status assay__gpu_open(int index, assay_error *error, assay__gpu **gpu);

/* The name of the device, such as "NVIDIA H200". */
const char *assay__gpu_name(const assay__gpu *gpu);

void assay__gpu_begin(assay__gpu *gpu);
ASSAY_MUST_USE assay_status assay__gpu_end(assay__gpu *gpu, assay_error *error);

/* ---- Between begin and end ---- */

/* Records a failure of the caller's own, unless an earlier one is recorded. */
void assay__gpu_fail(assay__gpu *gpu, assay_status status, const char *message);

void assay__gpu_copy_in(assay__gpu *gpu, void *to, size_t bytes, const void *host);
void assay__gpu_copy_out(assay__gpu *gpu, void *host, size_t bytes, const void *from);
void assay__gpu_copy(assay__gpu *gpu, void *to, size_t bytes, const void *from);
void assay__gpu_zero(assay__gpu *gpu, float *to, size_t floats);
void assay__gpu_wait(assay__gpu *gpu);
bool assay__gpu_good(const assay__gpu *gpu); /* no call of this pass has failed so far */

/* c (m, n; row stride c_stride) = alpha a (m, k) b (k, n) + beta c in float32. TF32 is never
 * used. */
void assay__gpu_matmul(assay__gpu *gpu, int64_t m, int64_t n, int64_t k, float alpha,
                       assay__matrix a, assay__matrix b, float beta, float *c, int64_t c_stride);

/* Starts a kernel; `arguments` is its struct (arguments.h). ASSAY__LAUNCH is the usual way to call
 * it. */
void assay__gpu_launch(assay__gpu *gpu, assay__kernel kernel, int64_t blocks,
                       int64_t rows_of_blocks, unsigned threads, const void *arguments);

#define ASSAY__LAUNCH(gpu, name, blocks, rows_of_blocks, threads, ...)                             \
    assay__gpu_launch(gpu, ASSAY__KERNEL_##name, blocks, rows_of_blocks, threads,                  \
                      &(const assay__##name##_arguments){__VA_ARGS__})

/* Returns the number of blocks of 256 threads for so many elements: enough to fill a device, not
 * more. */
int64_t assay__gpu_blocks(int64_t elements);

/* Selects the kernels of attention for heads of this width, and compiles them at the first use.
 * Returns the number of blocks into which a head is divided (kernels/attention.cu). */
int64_t assay__gpu_prepare_heads(assay__gpu *gpu, int64_t width);

/* ---- Memory of a model, by use ---- */

typedef struct assay__gpu_block {
    void *data;
    size_t bytes;
    assay__memory_use use;
} assay__gpu_block;

typedef struct assay__gpu_heap {
    assay__gpu_block *blocks;
    size_t count, capacity;
} assay__gpu_heap;

/* As assay__memory_resize(), but on the device and between begin and end. New memory is not
 * cleared. If the device has no more memory, the pointer becomes NULL. */
void assay__gpu_resize(assay__gpu *gpu, assay__gpu_heap *heap, assay__memory_use use, size_t bytes,
                       void *block_pointer);
void assay__gpu_heap_release(assay__gpu *gpu, assay__gpu_heap *heap);
void assay__gpu_heap_figures(const assay__gpu_heap *heap, assay_model_memory *figures);

#endif
