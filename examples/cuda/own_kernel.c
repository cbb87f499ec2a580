/* A kernel of your own, compiled at run time and measured on its stream: how long the launches take
 * on the processor, and how long the kernel takes on the device.
 *
 *     cc -I. examples/cuda/own_kernel.c $(pkg-config --cflags --libs assay) -o own_kernel */
#include "assay/assay.h"
#include "assay/gpu.h"
#include "examples/cuda/cuda.h"

static const char text[] =
    "extern \"C\" __global__ void saxpy(int count, float a, const float *x, float *y)\n"
    "{\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * "
    "blockDim.x)\n"
    "        y[i] += a * x[i];\n"
    "}\n";

int main(void)
{
    enum { COUNT = 16 << 20, RUNS = 100 };
    void *stream = start_device(), *function = NULL;
    check(cuModuleGetFunction(&function, compile(text), "saxpy"), "cuModuleGetFunction");

    uint64_t x, y;
    float *values = calloc(COUNT, sizeof *values);
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(i % 7);
    check(cuMemAlloc(&x, COUNT * sizeof *values), "cuMemAlloc");
    check(cuMemAlloc(&y, COUNT * sizeof *values), "cuMemAlloc");
    check(cuMemcpyHtoD(x, values, COUNT * sizeof *values), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(y, values, COUNT * sizeof *values), "cuMemcpyHtoD");

    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    int count = COUNT;
    float factor = 0.5F;
    void *arguments[] = {&count, &factor, &x, &y};
    for (int run = 0; run < RUNS; run++)
        ASSAY_TRACK_STREAM(monitor, "saxpy", stream)
        {
            check(cuLaunchKernel(function, 1024, 1, 1, 256, 1, 1, 0, stream, arguments, NULL),
                  "cuLaunchKernel");
        }
    if (assay_gpu_resolve(monitor, 10) != 0)
        printf("some spans are still under way\n");

    assay_record *record = NULL;
    if (assay_monitor_record(monitor, NULL, &record) != ASSAY_OK)
        return 1;
    const double bytes = 3.0 * COUNT * sizeof *values;
    const double seconds = record->operations[0].gpu_seconds.value / RUNS;
    check(cuMemcpyDtoH(values, y, COUNT * sizeof *values), "cuMemcpyDtoH");
    printf("saxpy of %d elements, %d times: %.1f us each on the device, %.0f GB/s; y[3] is %g\n",
           COUNT, RUNS, 1e6 * seconds, 1e-9 * bytes / seconds, (double)values[3]);
    assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_AGGREGATE);
    assay_record_free(record);
    assay_monitor_free(monitor);
    free(values);
    return 0;
}
