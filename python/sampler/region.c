/* The file into which the sampler writes. The file is mapped at its full length, and its storage is
 * allocated in steps: writing to a page for which the disk has no room would kill the script with
 * SIGBUS. */
#include "python/sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STEP_BYTES = 256 << 10 };

pthread_mutex_t sampler_lock = PTHREAD_MUTEX_INITIALIZER;

static char *base;
static size_t allocated;
static int file = -1;

assay__script_header *region_header(void)
{
    return (assay__script_header *)(void *)base;
}

void *region_at(uint32_t reference)
{
    return base + reference;
}

static bool allocate(size_t wanted)
{
    if (wanted <= allocated)
        return true;
    if (wanted > ASSAY__SCRIPT_MAX_BYTES ||
        posix_fallocate(file, (off_t)allocated, STEP_BYTES) != 0)
        return false;
    allocated += STEP_BYTES;
    return true;
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool region_open(const char *directory, double interval_bytes)
{
    char path[ASSAY__SCRIPT_MAX_TEXT];
    uint64_t now_ns = monotonic_ns(); /* in the name, because process ids are used again */
    snprintf(path, sizeof path, "%s/%lld-%llu" ASSAY__SCRIPT_SUFFIX, directory, (long long)getpid(),
             (unsigned long long)now_ns);
    allocated = 0;
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    if (allocate(STEP_BYTES)) {
        void *mapped =
            mmap(NULL, ASSAY__SCRIPT_MAX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        base = mapped != MAP_FAILED ? mapped : NULL;
    }
    if (base == NULL) {
        int failure = errno;
        unlink(path);
        close(file);
        file = -1;
        errno = failure;
        return false;
    }
    assay__script_header *header = region_header();
    header->header_bytes = sizeof *header;
    header->process_id = getpid();
    header->start_ns = header->end_ns = now_ns;
    header->interval_bytes = interval_bytes;
    atomic_store_explicit(&header->used, sizeof *header, memory_order_release);
    header->magic = ASSAY__SCRIPT_MAGIC;
    return true;
}

void region_abandon(void)
{
    if (base != NULL)
        munmap(base, ASSAY__SCRIPT_MAX_BYTES);
    if (file >= 0)
        close(file);
    base = NULL;
    file = -1;
}

void *region_append(const void *content, size_t bytes, uint32_t *reference)
{
    assay__script_header *header = region_header();
    uint64_t used = atomic_load_explicit(&header->used, memory_order_relaxed);
    size_t padded = (bytes + 7) & ~(size_t)7;
    if (!allocate(used + padded))
        return NULL;
    void *entry = base + used;
    memcpy(entry, content, bytes);
    ((assay__script_entry *)entry)->bytes = (uint32_t)padded;
    *reference = (uint32_t)used;
    atomic_store_explicit(&header->used, used + padded, memory_order_release);
    return entry;
}
