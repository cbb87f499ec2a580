/* What this process has allocated on the device of its current CUDA context. */
#ifndef ASSAY_INSTRUMENT_GPU_MEMORY_H
#define ASSAY_INSTRUMENT_GPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/reading.h"

/* The device's default memory pool (cudaMallocAsync, cuMemAllocAsync). */
typedef struct assay__gpu_pool {
    uint64_t used_bytes, reserved_bytes;
    uint64_t used_high_bytes; /* the most that was used since the pool exists */
} assay__gpu_pool;

/* False, at the cost of a branch, unless a CUDA driver was found in this process: a new monitor
 * looks for it, as do streams and assay__gpu_memory_read(). False too if there is no context, if
 * the driver is older than CUDA 11.3, or if nothing was ever taken from the pool. Under a
 * microsecond; nothing waits for the device. */
bool assay__gpu_pool_read(assay__gpu_pool *pool);

typedef struct assay__gpu_memory {
    assay_reading allocated_bytes, reserved_bytes, peak_bytes;
} assay__gpu_memory;

/* From the pool, where it is used. Else what the driver says that this process holds; reserved and
 * peak are then unsupported. All are unsupported if this process does not use CUDA. */
assay__gpu_memory assay__gpu_memory_read(void);

#endif
