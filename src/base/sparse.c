/* Large blocks come from mmap(), without reserved swap space and without huge pages. Small blocks
 * come from calloc(). */
#include "base/sparse.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Below this size, calloc() is faster than the kernel. */
static const size_t SMALL = 128 * 1024;

void *assay__sparse_new(size_t bytes)
{
    if (bytes < SMALL)
        return calloc(1, bytes);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_NOHUGEPAGE); /* a huge page would take 2 MiB at a time */
    return memory;
}

void assay__sparse_free(void *memory, size_t bytes)
{
    if (bytes < SMALL)
        free(memory);
    else if (memory != NULL)
        munmap(memory, bytes);
}
