/* Memory that this process has allocated on the device of its current CUDA context. */
#ifndef ASSAY_INSTRUMENT_GPU_MEMORY_H
#define ASSAY_INSTRUMENT_GPU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/reading.h"

/* The device's default memory pool (cudaMallocAsync, cuMemAllocAsync). */
typedef struct assay__gpu_pool {
    uint64_t used_bytes, reserved_bytes;
    uint64_t used_high_bytes; /* the highest use since the pool was made */
} assay__gpu_pool;

/* Read the pool. False, at the cost of one branch, unless a CUDA driver was found in this process;
 * a new monitor, spans on streams and assay__gpu_memory_read() look for the driver. Also false if
 * there is no context, if the driver is older than CUDA 11.3, or if nothing was ever allocated from
 * the pool. Takes less than a microsecond; nothing waits for the device. */
bool assay__gpu_pool_read(assay__gpu_pool *pool);

typedef struct assay__gpu_memory {
    assay_reading allocated_bytes, reserved_bytes, peak_bytes;
} assay__gpu_memory;

/* Read the figures of the pool, if the pool is in use. Otherwise `allocated_bytes` is the figure
 * that the driver gives for this process, and the other two are unsupported. All are unsupported if
 * this process does not use CUDA. */
assay__gpu_memory assay__gpu_memory_read(void);

#endif
