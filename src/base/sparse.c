#include "base/sparse.h"

#include <sys/mman.h>

void *assay__sparse_new(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_NOHUGEPAGE); /* which would touch 2 MiB at a time */
    return memory;
}

void assay__sparse_free(void *memory, size_t bytes)
{
    if (memory != NULL)
        munmap(memory, bytes);
}
