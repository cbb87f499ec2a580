/* Functions that all kernels use. `a` is the argument of a kernel. The text is C as well as CUDA
 * C++, so that tests run it without a device (tests/fake/compute). */
#ifndef ASSAY__EMULATED
#define DEVICE static __device__ __forceinline__
#define KERNEL(threads, name)                                                                      \
    extern "C" __global__ void __launch_bounds__(threads) name(const assay__##name##_arguments a)
#endif

/* The number of this thread among all threads of its row of blocks, and how many there are. */
DEVICE long long thread_number(void)
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

DEVICE long long thread_total(void)
{
    return (long long)gridDim.x * blockDim.x;
}

/* The sum over the 2 * from lanes that differ in the bits up to `from`. */
DEVICE float sum_lanes(float value, int from)
{
    for (int other = from; other > 0; other /= 2)
        value += __shfl_xor_sync(0xffffffffU, value, other);
    return value;
}

DEVICE float largest_lane(float value, int from)
{
    for (int other = from; other > 0; other /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, other));
    return value;
}

DEVICE float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* The 32-bit finaliser of MurmurHash3, as kernel/level/array.c has it. */
DEVICE unsigned finalize(unsigned hash)
{
    hash ^= hash >> 16;
    hash *= 0x85ebca6bU;
    hash ^= hash >> 13;
    hash *= 0xc2b2ae35U;
    return hash ^ hash >> 16;
}

DEVICE int is_kept(long long index, unsigned threshold, unsigned low, unsigned high)
{
    const unsigned segment = (unsigned)(index >> 30), within = (unsigned)(index & 0x3fffffff);
    return finalize(finalize(within * 0x9e3779b9U + low) ^ (high + segment)) >= threshold;
}
