/* The mask is a hash of (key, index): two rounds of the 32-bit finaliser of MurmurHash3 (Appleby,
 * public domain) over the index times an odd constant plus the halves of the key. Every index is
 * hashed on its own, so the loop can be vectorised and backward needs no stored mask. A generator
 * with a state (base/random.h) would allow neither. */
#include "models/kernel/dropout.h"

#include <string.h>

#include "models/kernel/kernels.h"

void assay__dropout(int64_t count, float rate, uint64_t key, const float *x, float *y)
{
    if (!(rate > 0)) {
        memmove(y, x, (size_t)count * sizeof *y);
        return;
    }
    if (rate >= 1) {
        memset(y, 0, (size_t)count * sizeof *y);
        return;
    }
    enum { SEGMENT = 1 << 30 }; /* the kernel's index has 32 bits; each segment has its own key */
    uint32_t threshold = (uint32_t)((double)rate * 0x1p32);
    for (int64_t start = 0, segment = 0; start < count; start += SEGMENT, segment++) {
        int64_t length = count - start < SEGMENT ? count - start : SEGMENT;
        assay__drop((uint32_t)length, 1 / (1 - rate), threshold, (uint32_t)key,
                    (uint32_t)(key >> 32) + (uint32_t)segment, x + start, y + start);
    }
}
