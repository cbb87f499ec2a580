/* A device that is the processor: the kernels of models/cuda, compiled by the host's compiler, run
 * thread after thread, each on a stack of its own, and change over where threads of a block wait
 * for each other. Blocks run one after the other. What tests say to it is below.
 *
 * Not emulated: the device's order of memory accesses, its limits on registers and shared memory,
 * and everything that depends on time. */
#ifndef ASSAY_TESTS_FAKE_COMPUTE_EMULATOR_H
#define ASSAY_TESTS_FAKE_COMPUTE_EMULATOR_H

#include <stddef.h>

typedef struct emulated_place {
    int x, y, z;
} emulated_place;

/* Of the thread that runs. */
extern emulated_place emulated_thread, emulated_block, emulated_block_size, emulated_grid_size;

void emulated_barrier(void);                         /* all threads of the block */
float emulated_exchange(float value, int lane_mask); /* the value of another lane of the warp */

/* Run kernel(arguments) for all threads. */
void emulated_launch(void (*kernel)(const void *), emulated_place grid, int threads,
                     const void *arguments);

/* ---- For tests: what libcuda.so.1 of this folder does on demand ---- */

typedef struct fake_compute_faults {
    int devices;      /* how many there are */
    int init, launch; /* what a call returns instead of success */
    size_t bytes;     /* of memory; 0: enough */
    int launches;     /* counted */
    size_t held;      /* bytes allocated and not freed */
} fake_compute_faults;

fake_compute_faults *fake_compute(void);

#endif
