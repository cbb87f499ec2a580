/* Measures the machine's peak with products of 1024 x 1024 matrices and with arrays of 64 MB. The
 * matrices are large enough that the time to pack them does not matter, and small enough for 20
 * products in half a second. The arrays are larger than the caches. */
#include "studies/profile/peak_measure.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "assay/clock.h"
#include "assay/model.h"
#include "base/error.h"
#include "models/kernel/matmul.h"

enum { SIDE = 1024, PRODUCT_RUNS = 20, TRIAD_ELEMENTS = 8 << 20, TRIAD_RUNS = 12 };

static double seconds_since(uint64_t start_ns)
{
    return (double)(assay_clock_now_ns(assay_clock_default()) - start_ns) * 1e-9;
}

static assay_status measure_products(double *gflops)
{
    size_t count = (size_t)SIDE * SIDE;
    float *memory = calloc(3 * count, sizeof *memory);
    if (memory == NULL)
        return ASSAY_E_MEMORY;
    float *a = memory, *b = memory + count, *c = memory + 2 * count;
    for (size_t i = 0; i < 2 * count; i++)
        memory[i] = (float)(i % 17) * 0.125f;
    double best = INFINITY;
    for (int run = 0; run < PRODUCT_RUNS; run++) {
        uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
        assay__matmul(SIDE, SIDE, SIDE, 1, (assay__matrix){a, SIDE, false},
                      (assay__matrix){b, SIDE, false}, 0, c, SIDE);
        best = fmin(best, seconds_since(start_ns));
    }
    free(memory);
    *gflops = 2.0 * SIDE * SIDE * SIDE / best * 1e-9;
    return ASSAY_OK;
}

/* The triad is a = b + s c. It reads two arrays and writes one, which STREAM counts as 24 bytes per
 * element. */
static assay_status measure_bandwidth(double *gigabytes_per_second)
{
    double *memory = malloc(3 * sizeof(double) * TRIAD_ELEMENTS);
    if (memory == NULL)
        return ASSAY_E_MEMORY;
    double *restrict a = memory, *restrict b = memory + TRIAD_ELEMENTS,
                     *restrict c = memory + 2 * (size_t)TRIAD_ELEMENTS;
    for (size_t i = 0; i < 3 * (size_t)TRIAD_ELEMENTS; i++)
        memory[i] = 1.0;
    double best = INFINITY;
    for (int run = 0; run < TRIAD_RUNS; run++) {
        uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
        for (size_t i = 0; i < TRIAD_ELEMENTS; i++)
            a[i] = b[i] + 0.5 * c[i];
        best = fmin(best, seconds_since(start_ns));
        __asm__ volatile("" : : "r"(memory) : "memory"); /* keeps the loop from being removed */
    }
    free(memory);
    *gigabytes_per_second = 24.0 * TRIAD_ELEMENTS / best * 1e-9;
    return ASSAY_OK;
}

assay_status assay__peak_measure(assay__peak *peak, assay_error *error)
{
    *peak = (assay__peak){0};
    assay_models_set_threads(1);
    assay_status status = measure_products(&peak->gflops);
    if (status == ASSAY_OK)
        status = measure_bandwidth(&peak->gigabytes_per_second);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory to measure the machine's peak (200 MB)");
    time_t now = time(NULL);
    struct tm utc;
    strftime(peak->measured_at, sizeof peak->measured_at, "%Y-%m-%dT%H:%M:%SZ",
             gmtime_r(&now, &utc));
    assay__peak_processor(peak->processor);
    return ASSAY_OK;
}
