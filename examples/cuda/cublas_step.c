/* A training step with cuBLAS, driven from C: a linear layer y = x W is fitted to targets by
 * gradient descent. A step has three products, and each phase is measured on the stream without
 * waiting for the device.
 *
 *     cc -I. examples/cuda/cublas_step.c $(pkg-config --cflags --libs assay) -lm -o cublas_step */
#include <math.h>

#include "assay/assay.h"
#include "assay/gpu.h"
#include "examples/cuda/cuda.h"

enum { ROWS = 4096, IN = 512, OUT = 256, STEPS = 200, NONE = 0, TRANSPOSED = 1 };

static int (*cublasSgemm)(void *, int, int, int, int, int, const float *, uint64_t, int, uint64_t,
                          int, const float *, uint64_t, int);
static int (*cublasSaxpy)(void *, int, const float *, uint64_t, int, uint64_t, int);

static uint64_t filled(size_t count, float scale)
{
    uint64_t address;
    static uint32_t random = 1;
    float *values = calloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525U + 1013904223U;
        values[i] = scale * ((float)(random >> 8) / (float)(1 << 23) - 1);
    }
    check(cuMemAlloc(&address, count * sizeof *values), "cuMemAlloc");
    check(cuMemcpyHtoD(address, values, count * sizeof *values), "cuMemcpyHtoD");
    free(values);
    return address;
}

/* The mean of the squares of `count` numbers on the device. */
static double mean_square(uint64_t address, size_t count)
{
    double sum = 0;
    float *values = malloc(count * sizeof *values);
    check(cuMemcpyDtoH(values, address, count * sizeof *values), "cuMemcpyDtoH");
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * values[i];
    free(values);
    return sum / (double)count;
}

int main(void)
{
    void *stream = start_device(), *handle = NULL;
    void *blas = need(open_library("libcublas.so.13 libcublas.so.12 "
                                   "/usr/local/cuda/lib64/libcublas.so.13 "
                                   "/usr/local/cuda/lib64/libcublas.so.12"),
                      "cuBLAS");
    int (*create)(void **), (*set_stream)(void *, void *);
    find(blas, "cublasCreate_v2", &create);
    find(blas, "cublasSetStream_v2", &set_stream);
    find(blas, "cublasSgemm_v2", &cublasSgemm);
    find(blas, "cublasSaxpy_v2", &cublasSaxpy);
    check(create(&handle), "cublasCreate");
    check(set_stream(handle, stream), "cublasSetStream");

    /* A row-major array is the transpose of a column-major one, so the operands of each product are
     * exchanged. */
    uint64_t x = filled((size_t)ROWS * IN, 1), target = filled((size_t)ROWS * OUT, 1);
    uint64_t w = filled((size_t)IN * OUT, 0.01F), dw = filled((size_t)IN * OUT, 0);
    uint64_t y = filled((size_t)ROWS * OUT, 0);
    const float one = 1, none = 0, minus = -1, rate = -0.5F / ROWS;
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    double first = 0, last = 0;
    for (int step = 0; step < STEPS; step++) {
        ASSAY_TRACK_STREAM(monitor, "forward", stream)
        {
            check(
                cublasSgemm(handle, NONE, NONE, OUT, ROWS, IN, &one, w, OUT, x, IN, &none, y, OUT),
                "cublasSgemm");
            check(cublasSaxpy(handle, ROWS * OUT, &minus, target, 1, y, 1), "cublasSaxpy");
        }
        if (step == 0 || step == STEPS - 1) {
            check(cuStreamSynchronize(stream), "cuStreamSynchronize");
            last = mean_square(y, (size_t)ROWS * OUT);
            first = step == 0 ? last : first;
        }
        ASSAY_TRACK_STREAM(monitor, "backward", stream)
        {
            check(cublasSgemm(handle, NONE, TRANSPOSED, OUT, IN, ROWS, &one, y, OUT, x, IN, &none,
                              dw, OUT),
                  "cublasSgemm");
        }
        ASSAY_TRACK_STREAM(monitor, "update", stream)
        {
            check(cublasSaxpy(handle, IN * OUT, &rate, dw, 1, w, 1), "cublasSaxpy");
        }
    }
    if (assay_gpu_resolve(monitor, 10) != 0)
        printf("some spans are still under way\n");
    printf("%d steps: the loss went from %.4f to %.4f\n", STEPS, first, last);
    assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_AGGREGATE);
    assay_monitor_free(monitor);
    return last < first ? 0 : 1;
}
