/* GPU memory of this process. The driver's own allocator, the memory pool of a device, knows how
 * much is allocated and what the peak was. For memory that is allocated without the pool
 * (cudaMalloc) the driver knows only a total. That total includes the context itself, and it is
 * available only where the driver can tell processes apart. */
#include "instrument/gpu_memory.h"

#include <stddef.h>

#include "assay/device.h"
#include "instrument/cuda.h"
#include "instrument/cuda_board.h"

/* CUmemPool_attribute of cuda.h */
enum { RESERVED_NOW = 5, USED_NOW = 7, USED_HIGH = 8 };

static const assay__cuda *driver_with_context(int *device)
{
    const assay__cuda *cuda = assay__cuda_known();
    void *context = NULL;
    bool usable = cuda != NULL && cuda->context_now(&context) == ASSAY__CUDA_OK &&
                  context != NULL && cuda->context_device(device) == ASSAY__CUDA_OK;
    return usable ? cuda : NULL;
}

bool assay__gpu_pool_read(assay__gpu_pool *pool)
{
    int device = 0;
    void *handle = NULL;
    const assay__cuda *cuda = driver_with_context(&device);
    if (cuda == NULL || cuda->pool_of_device == NULL || cuda->pool_attribute == NULL ||
        cuda->pool_of_device(&handle, device) != ASSAY__CUDA_OK)
        return false;
    return cuda->pool_attribute(handle, USED_NOW, &pool->used_bytes) == ASSAY__CUDA_OK &&
           cuda->pool_attribute(handle, RESERVED_NOW, &pool->reserved_bytes) == ASSAY__CUDA_OK &&
           cuda->pool_attribute(handle, USED_HIGH, &pool->used_high_bytes) == ASSAY__CUDA_OK &&
           pool->used_high_bytes > 0;
}

assay__gpu_memory assay__gpu_memory_read(void)
{
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    assay__gpu_pool pool;
    assay__gpu_memory memory = {none, none, none};
    int device = 0;
    (void)assay__cuda_driver();
    if (assay__gpu_pool_read(&pool))
        return (assay__gpu_memory){assay_reading_of((double)pool.used_bytes),
                                   assay_reading_of((double)pool.reserved_bytes),
                                   assay_reading_of((double)pool.used_high_bytes)};
    assay_device_state state = {.struct_size = sizeof state};
    size_t board;
    if (driver_with_context(&device) != NULL && assay__cuda_board(device, &board) &&
        assay_device_read(board, ASSAY_DEVICE_MEMORY, NULL, &state) == ASSAY_OK)
        memory.allocated_bytes = state.process_bytes;
    return memory;
}
