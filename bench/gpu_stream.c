/* Spans on a stream of a CUDA device: are their times right, and what do they cost?
 *
 * The kernel spins until the device's own nanosecond clock has advanced by the given time, so its
 * length is known without any event. It is queued behind other work, as in a training loop, and
 * also launched alone on an idle stream. There an event also sees the launch; that offset is shown
 * without a bar. The cost is measured on a step of many short kernels, with and without spans,
 * taking turns within one run.
 *
 * Without a driver or a device the exit status is 77. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <assay/assay.h>
#include <assay/gpu.h>

static const char spin_source[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry spin(.param .u64 nanoseconds)\n{\n"
                                  ".reg .u64 %start, %now, %wanted, %gone;\n.reg .pred %more;\n"
                                  "ld.param.u64 %wanted, [nanoseconds];\n"
                                  "mov.u64 %start, %globaltimer;\n"
                                  "again:\nmov.u64 %now, %globaltimer;\n"
                                  "sub.u64 %gone, %now, %start;\n"
                                  "setp.lt.u64 %more, %gone, %wanted;\n"
                                  "@%more bra again;\nret;\n}\n";

#define DRIVER_LIST(X)                                                                             \
    X(cuInit, (unsigned))                                                                          \
    X(cuDeviceGet, (int *, int))                                                                   \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                    \
    X(cuCtxSetCurrent, (void *))                                                                   \
    X(cuModuleLoadData, (void **, const void *))                                                   \
    X(cuModuleGetFunction, (void **, void *, const char *))                                        \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                       unsigned, void *, void **, void **))                                        \
    X(cuStreamCreate, (void **, unsigned))                                                         \
    X(cuStreamSynchronize, (void *))

#define DECLARE(name, arguments) static int(*name) arguments;
DRIVER_LIST(DECLARE)

static void *spin, *stream;

static int open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *context, *module;
    int device;
    if (library == NULL)
        return 0;
#define FIND(name, arguments)                                                                      \
    do {                                                                                           \
        void *found = dlsym(library, #name);                                                       \
        if (found == NULL)                                                                         \
            return 0;                                                                              \
        memcpy(&name, &found, sizeof found);                                                       \
    } while (0);
    DRIVER_LIST(FIND)
    return cuInit(0) == 0 && cuDeviceGet(&device, 0) == 0 &&
           cuDevicePrimaryCtxRetain(&context, device) == 0 && cuCtxSetCurrent(context) == 0 &&
           cuModuleLoadData(&module, spin_source) == 0 &&
           cuModuleGetFunction(&spin, module, "spin") == 0 && cuStreamCreate(&stream, 1) == 0;
}

static void launch(uint64_t nanoseconds)
{
    void *arguments[] = {&nanoseconds};
    if (cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL) != 0)
        abort();
}

static void row(const char *name, double value, const char *unit, double bar, int ok)
{
    printf("{\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", \"bar\": ", name, value, unit);
    if (bar > 0)
        printf("%.4g, \"ok\": %s}\n", bar, ok ? "true" : "false");
    else
        printf("null, \"ok\": true}\n");
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* How much longer the spans are than the known length, in microseconds: the median of 200 spans. */
static double excess_us(uint64_t nanoseconds, int queued, double *worst)
{
    enum { SPANS = 200 };
    static double excess[SPANS];
    for (int i = 0; i < SPANS; i++) {
        assay_monitor *monitor = NULL;
        assay_record *record = NULL;
        if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
            abort();
        if (queued)
            launch(300000);
        ASSAY_TRACK_STREAM(monitor, "spin", stream)
        {
            launch(nanoseconds);
        }
        if (assay_gpu_resolve(monitor, 5) != 0 ||
            assay_monitor_record(monitor, NULL, &record) != ASSAY_OK)
            abort();
        excess[i] = record->operations[0].gpu_seconds.value * 1e6 - (double)nanoseconds * 1e-3;
        assay_record_free(record);
        assay_monitor_free(monitor);
    }
    double middle = median(excess, SPANS);
    *worst = excess[SPANS - 1 - SPANS / 20];
    return middle;
}

static void check_times(void)
{
    static const uint64_t lengths[] = {20000, 200000, 2000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char name[96];
        double worst, bar = 3.0 + 0.005 * (double)lengths[i] * 1e-3;
        double queued = excess_us(lengths[i], 1, &worst);
        snprintf(name, sizeof name, "GPU span of %.0f us, queued: beyond its length",
                 (double)lengths[i] * 1e-3);
        row(name, queued, "us", bar, queued <= bar && queued >= -bar);
        snprintf(name, sizeof name, "GPU span of %.0f us, queued: 95 of 100 within",
                 (double)lengths[i] * 1e-3);
        row(name, worst, "us", 0, 1);
        double idle = excess_us(lengths[i], 0, &worst);
        snprintf(name, sizeof name, "GPU span of %.0f us, idle stream: beyond its length",
                 (double)lengths[i] * 1e-3);
        row(name, idle, "us", 0, 1);
    }
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* A step with three phases of short kernels. It is bound by launches and takes 5 ms. */
static double step_us(assay_monitor *monitor)
{
    double start = now_us();
    ASSAY_TRACK_STREAM(monitor, "forward", stream)
    for (int i = 0; i < 300; i++)
        launch(5000);
    ASSAY_TRACK_STREAM(monitor, "backward", stream)
    for (int i = 0; i < 600; i++)
        launch(5000);
    ASSAY_TRACK_STREAM(monitor, "step", stream)
    for (int i = 0; i < 100; i++)
        launch(5000);
    if (cuStreamSynchronize(stream) != 0)
        abort();
    return now_us() - start;
}

static void check_cost(void)
{
    enum { PAIRS = 201 };
    static double ratios[PAIRS];
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        abort();
    for (int i = -10; i < PAIRS; i++) {
        double bare = i % 2 == 0 ? step_us(NULL) : 0;
        double tracked = step_us(monitor);
        if (i % 2 != 0)
            bare = step_us(NULL);
        if (i >= 0)
            ratios[i] = tracked / bare;
    }
    double ratio = median(ratios, PAIRS);
    row("launch-bound step of three phases, tracked on its stream", ratio, "x bare", 1.02,
        ratio <= 1.02);
    assay_monitor_free(monitor);
}

static void check_cost_of_a_span(void)
{
    enum { SPANS = 2000 };
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        abort();
    double start = now_us();
    for (int i = 0; i < SPANS; i++)
        assay_gpu_stream_end(assay_gpu_stream_begin(monitor, "empty", stream));
    row("GPU span, begin and end on the thread", (now_us() - start) / SPANS, "us", 0, 1);
    (void)assay_gpu_resolve(monitor, 5);
    assay_monitor_free(monitor);
}

int main(void)
{
    if (!open_driver()) {
        fprintf(stderr, "gpu_stream: no CUDA driver or no device here\n");
        return 77;
    }
    assay_device device = ASSAY_INIT(assay_device);
    assay_error error;
    if (assay_device_describe(0, &error, &device) == ASSAY_OK)
        fprintf(stderr, "%s, driver %s\n", device.name, device.driver);
    check_times();
    check_cost();
    check_cost_of_a_span();
    return 0;
}
