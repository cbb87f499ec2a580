/* Emulates a device on the processor. The kernels of models/cuda, compiled by the host's compiler,
 * run thread after thread, each on a stack of its own. Threads of a block are switched where they
 * wait for each other. Blocks run one after the other. The calls for tests are below.
 *
 * Not emulated: the device's order of memory accesses, its limits on registers and shared memory,
 * and everything that depends on time. */
#ifndef ASSAY_TESTS_FAKE_COMPUTE_EMULATOR_H
#define ASSAY_TESTS_FAKE_COMPUTE_EMULATOR_H

#include <stddef.h>

typedef struct emulated_place {
    int x, y, z;
} emulated_place;

/* The position of the running thread. */
extern emulated_place emulated_thread, emulated_block, emulated_block_size, emulated_grid_size;

void emulated_barrier(void);                         /* waits for all threads of the block */
float emulated_exchange(float value, int lane_mask); /* the value of another lane of the warp */

/* Run kernel(arguments) for all threads. */
void emulated_launch(void (*kernel)(const void *), emulated_place grid, int threads,
                     const void *arguments);

/* ---- For tests: errors of this folder's libcuda.so.1 on demand ---- */

typedef struct fake_compute_faults {
    int devices;      /* number of devices */
    int init, launch; /* result of a call instead of success */
    int copy_out;     /* result of copies to the host instead of success */
    int copy_in;      /* the same of copies to the device */
    size_t bytes;     /* memory of the device; 0 for unlimited */
    int launches;     /* number of launches so far */
    size_t held;      /* bytes allocated and not freed */
} fake_compute_faults;

fake_compute_faults *fake_compute(void);

#endif
