/* Times a large matrix product and a large copy on the device, and takes the shortest of several
 * runs of each. */
#include "models/cuda/peak.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "models/cuda/instance.h"

enum { RUNS = 10, SIDE = ASSAY__GPU_PEAK_SIDE, COPIED = 256 << 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void product(assay__gpu *gpu, float *room)
{
    const size_t matrix = (size_t)SIDE * SIDE;
    assay__gpu_matmul(gpu, SIDE, SIDE, SIDE, 1, (assay__matrix){room, SIDE, false},
                      (assay__matrix){room + matrix, SIDE, false}, 0, room + 2 * matrix, SIDE);
}

static void copy(assay__gpu *gpu, float *room)
{
    assay__gpu_copy(gpu, room + COPIED / sizeof *room, COPIED, room);
}

/* Returns the shortest time of the runs, in seconds. The first run is a warm-up and does not
 * count. */
static double shortest(assay__gpu *gpu, float *room, void (*work)(assay__gpu *, float *))
{
    double best = INFINITY;
    for (int run = 0; run <= RUNS; run++) {
        assay__gpu_wait(gpu);
        double start = now();
        work(gpu, room);
        assay__gpu_wait(gpu);
        if (run > 0)
            best = fmin(best, now() - start);
    }
    return best;
}

assay_status assay__gpu_peak_measure(const assay_model_class *class_, assay_error *error,
                                     assay__gpu_peak *peak)
{
    assay__gpu *gpu = assay__gpu_of_class(class_);
    assay__gpu_heap heap = {0};
    float *room = NULL;
    *peak = (assay__gpu_peak){0};
    snprintf(peak->device, sizeof peak->device, "%s", assay__gpu_name(gpu));
    assay__gpu_begin(gpu);
    assay__gpu_resize(gpu, &heap, ASSAY__WORKSPACE, 2 * (size_t)COPIED, &room);
    if (room != NULL) { /* noise, because a product of zeros would be faster than other products */
        ASSAY__LAUNCH(gpu, noise, 2048, 1, ASSAY__BLOCK, .count = 2LL * COPIED / 4, .y = room);
        peak->gflops = 2.0 * SIDE * SIDE * SIDE / shortest(gpu, room, product) * 1e-9;
        peak->gigabytes_per_second = 2.0 * COPIED / shortest(gpu, room, copy) * 1e-9;
    }
    assay_status status = assay__gpu_end(gpu, error);
    assay__gpu_heap_release(gpu, &heap);
    return status;
}
