/* Copies memory that may vanish at any time, because a frame or a thread may be freed while it is
 * read. process_vm_readv() on our own process copies through the kernel, which returns EFAULT where
 * a plain load would be a segmentation fault. It takes about 0.4 µs. /proc/self/mem would do the
 * same; pipes would need two calls. */
#include "python/sampler/sampler.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

bool memory_copy_all(const memory_piece *pieces, size_t count)
{
    struct iovec local[MEMORY_MAX_PIECES], remote[MEMORY_MAX_PIECES];
    size_t bytes = 0;
    if (count > MEMORY_MAX_PIECES)
        return false;
    for (size_t i = 0; i < count; i++) {
        local[i] = (struct iovec){pieces[i].target, pieces[i].bytes};
        remote[i] = (struct iovec){(void *)(uintptr_t)pieces[i].source, pieces[i].bytes};
        bytes += pieces[i].bytes;
    }
    return process_vm_readv(getpid(), local, count, remote, count, 0) == (ssize_t)bytes;
}

bool memory_copy(void *target, const void *source, size_t bytes)
{
    return memory_copy_all(&(memory_piece){target, source, bytes}, 1);
}

bool memory_can_be_read(void)
{
    int value = 1, copy = 0;
    return memory_copy(&copy, &value, sizeof copy) && copy == value;
}

void *memory_reserve(size_t bytes)
{
    static char *chunk;
    static size_t left;
    const size_t chunk_bytes = (size_t)1 << 20;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > left) {
        size_t wanted = bytes > chunk_bytes ? bytes : chunk_bytes;
        void *mapped = mmap(NULL, wanted, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED)
            return NULL;
        if (bytes > chunk_bytes) /* keep the rest of the present chunk for small requests */
            return mapped;
        chunk = mapped;
        left = wanted;
    }
    void *given = chunk;
    chunk += bytes;
    left -= bytes;
    return given;
}
