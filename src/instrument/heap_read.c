/* Computes heap figures from a region: the region of this process, or the file of another process
 * that still runs or has ended.
 *
 * A file is copied before it is checked, because its process may still be writing and a checked
 * value must not change afterwards. Nothing that is read from a file is used as an index, a size or
 * a pointer, except slots_used, which is checked. */
#include "instrument/heap_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/struct_size.h"

#define LOAD ASSAY__HEAP_LOAD

typedef struct totals {
    uint64_t allocated_bytes, freed_bytes, allocations, frees;
} totals;

static void add_slot(totals *sum, const assay__heap_slot *slot)
{
    sum->allocated_bytes += (uint64_t)LOAD(slot->allocated_bytes);
    sum->freed_bytes += (uint64_t)LOAD(slot->freed_bytes);
    sum->allocations += LOAD(slot->allocations);
    sum->frees += LOAD(slot->frees);
}

/* The level of the process at the time when this thread reached its highest level since it last
 * published. */
static int64_t slot_peak(const assay__heap_header *header, const assay__heap_slot *slot)
{
    int64_t high = LOAD(slot->high_bytes), earlier = LOAD(slot->peak_high_bytes);
    uint64_t rise =
        (uint64_t)(high > earlier ? high : earlier) - (uint64_t)LOAD(slot->published_bytes);
    return (int64_t)((uint64_t)LOAD(header->published_bytes) + rise);
}

void assay__heap_sum(const assay__heap_region *region, assay_heap_figures *figures)
{
    const assay__heap_header *header = &region->header;
    uint32_t used = LOAD(header->slots_used);
    totals sum = {0};
    int64_t peak = LOAD(header->peak_bytes);
    add_slot(&sum, &header->shared);
    for (uint32_t i = 0; i < used; i++) {
        add_slot(&sum, &region->slots[i]);
        int64_t candidate = slot_peak(header, &region->slots[i]);
        peak = candidate > peak ? candidate : peak;
    }
    int64_t live = (int64_t)(sum.allocated_bytes - sum.freed_bytes);
    peak = live > peak ? live : peak;
    figures->live_bytes = live;
    figures->peak_bytes = peak > 0 ? (uint64_t)peak : 0;
    figures->peak_bound_bytes = used > 1 ? (uint64_t)used * ASSAY__HEAP_DRIFT : 0;
    figures->allocations = sum.allocations - header->inherited_allocations;
    figures->frees = sum.frees - header->inherited_frees;
    figures->allocated_bytes = sum.allocated_bytes - (uint64_t)header->inherited_allocated_bytes;
    figures->inherited_bytes = (int64_t)((uint64_t)header->inherited_allocated_bytes -
                                         (uint64_t)header->inherited_freed_bytes);
    figures->processes = 1;
}

assay_status assay__heap_check(const assay__heap_region *region, size_t length, const char *name,
                               assay_error *error)
{
    static const char nothing[sizeof region->header.magic];
    const assay__heap_header *header = &region->header;
    if (length < sizeof *header || memcmp(header->magic, nothing, sizeof nothing) == 0)
        return assay__fail(error, ASSAY_E_TRUNCATED,
                           "'%s' holds no heap figures yet: its process ended while starting",
                           name);
    if (memcmp(header->magic, ASSAY__HEAP_MAGIC, sizeof header->magic) != 0)
        return assay__fail(error, ASSAY_E_FORMAT,
                           "'%s' is not a heap file; give one written under ASSAY_HEAP_DIR", name);
    if (header->version != ASSAY__HEAP_VERSION)
        return assay__fail(error, ASSAY_E_VERSION,
                           "'%s' has version %u, this assay reads %d; use the matching assay", name,
                           header->version, ASSAY__HEAP_VERSION);
    uint32_t allocator = LOAD(header->allocator), state = LOAD(header->state);
    if (header->header_bytes != ASSAY__HEAP_HEADER_BYTES ||
        header->slot_bytes != sizeof(assay__heap_slot) ||
        header->drift_bytes != ASSAY__HEAP_DRIFT || header->name[sizeof header->name - 1] != '\0' ||
        LOAD(header->slot_capacity) > ASSAY__HEAP_SLOTS ||
        LOAD(header->slots_used) > LOAD(header->slot_capacity) ||
        allocator > ASSAY__HEAP_BYPASSED || state < ASSAY__HEAP_RUNNING ||
        state > ASSAY__HEAP_REPLACED)
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' is damaged: impossible header", name);
    size_t needed =
        ASSAY__HEAP_HEADER_BYTES + LOAD(header->slot_capacity) * sizeof(assay__heap_slot);
    if (length < needed)
        return assay__fail(error, ASSAY_E_TRUNCATED, "'%s' is truncated: %zu of %zu bytes", name,
                           length, needed);
    if (allocator == ASSAY__HEAP_BYPASSED)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "'%s': the program brings its own malloc, or a sanitizer's, which is "
                           "not measured",
                           name);
    return ASSAY_OK;
}

/* Copy at most `capacity` bytes of a regular file. */
static assay_status read_file(const char *path, void *bytes, size_t capacity, size_t *length,
                              assay_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return assay__fail_errno(error, "cannot read '%s'", path);
    assay_status status = ASSAY_OK;
    struct stat file;
    if (fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode))
        status = assay__fail(error, ASSAY_E_FORMAT, "'%s' is not a regular file", path);
    *length = 0;
    while (status == ASSAY_OK && *length < capacity) {
        ssize_t got = read(descriptor, (char *)bytes + *length, capacity - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = assay__fail_errno(error, "cannot read '%s'", path);
        if (got <= 0)
            break;
        *length += (size_t)got;
    }
    close(descriptor);
    return status;
}

assay_status assay__heap_region_read(const char *path, assay__heap_region *region,
                                     assay_error *error)
{
    size_t length = 0;
    memset(region, 0, sizeof region->header);
    assay_status status = read_file(path, region, ASSAY__HEAP_FILE_BYTES, &length, error);
    return status != ASSAY_OK ? status : assay__heap_check(region, length, path, error);
}

assay__heap_region *assay__heap_region_new(assay_error *error)
{
    assay__heap_region *region = aligned_alloc(alignof(assay__heap_region), sizeof *region);
    if (region == NULL)
        (void)assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading heap figures");
    return region;
}

assay_status assay__heap_file_read(const char *path, assay_error *error,
                                   assay_heap_figures *figures)
{
    if (path == NULL || !assay__struct_has_room(figures, sizeof *figures))
        return assay__fail(error, ASSAY_E_ARGUMENT, "assay__heap_file_read: no path or figures");
    assay__heap_region *region = assay__heap_region_new(error);
    if (region == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay__heap_region_read(path, region, error);
    if (status == ASSAY_OK)
        assay__heap_sum(region, figures);
    free(region);
    return status;
}
