#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

_Static_assert(sizeof(assay__node) == 640, "layout.h and docs/journal.md state it");
_Static_assert(sizeof(assay__lane) == 2304, "layout.h and docs/journal.md state it");
_Static_assert(sizeof(assay__journal_header) <= ASSAY__JOURNAL_HEADER_BYTES, "the header's room");
_Static_assert(sizeof(assay__event) == 32, "docs/journal.md states it");
_Static_assert(sizeof(assay__journal_metric) == 64, "docs/journal.md states it");

static size_t align_to_unit(size_t bytes)
{
    return (bytes + ASSAY__JOURNAL_UNIT - 1) & ~(size_t)(ASSAY__JOURNAL_UNIT - 1);
}

/* Give the region the next `bytes` of the journal. */
static void place(assay__journal_region *region, size_t *offset, size_t bytes)
{
    *region = (assay__journal_region){.offset = *offset, .bytes = align_to_unit(bytes)};
    *offset += region->bytes;
}

/* Threads with few operations need about 16 KiB of the pool each. */
static size_t lanes_beside(size_t pool_bytes)
{
    size_t lanes = pool_bytes / (16 * 1024);
    lanes = lanes > ASSAY__JOURNAL_MIN_LANES ? lanes : ASSAY__JOURNAL_MIN_LANES;
    return lanes < ASSAY__JOURNAL_MAX_LANES ? lanes : ASSAY__JOURNAL_MAX_LANES;
}

static size_t plan(assay__journal_header *header, size_t pool_bytes)
{
    size_t offset = ASSAY__JOURNAL_HEADER_BYTES;
    place(&header->names, &offset, (size_t)ASSAY__JOURNAL_MAX_OPERATIONS * 32);
    place(&header->operations, &offset,
          ASSAY__JOURNAL_MAX_OPERATIONS * sizeof(assay__journal_operation));
    place(&header->lanes, &offset, lanes_beside(pool_bytes) * sizeof(assay__lane));
    place(&header->metrics, &offset, ASSAY__JOURNAL_MAX_METRICS * sizeof(assay__journal_metric));
    place(&header->pool, &offset, pool_bytes);
    return offset;
}

/* Room that the process lets us take: a file up to its limit, and an eighth of the addresses. */
static size_t allowed_bytes(bool is_file)
{
    struct rlimit most;
    size_t allowed = SIZE_MAX;
    if (is_file && getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < allowed)
        allowed = most.rlim_cur; /* past it the kernel sends SIGXFSZ, which ends the program */
    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        most.rlim_cur / 8 < allowed)
        allowed = most.rlim_cur / 8;
    return allowed;
}

static void unpublished_path(const char *path, char *unpublished, size_t capacity)
{
    snprintf(unpublished, capacity, "%s.new", path);
}

static assay_status fail_to_create(const char *path, assay_error *error)
{
    if (errno == EEXIST)
        return assay__fail(error, ASSAY_E_STATE,
                           "the journal '%s' exists already; give another path or remove it", path);
    return assay__fail_errno(error, "cannot create the journal '%s'", path);
}

static assay_status fail_to_allocate(const char *path, size_t bytes, assay_error *error)
{
    return assay__fail_errno(error, "cannot allocate %zu bytes for the journal '%s'", bytes, path);
}

static assay_status open_new_file(const char *path, size_t bytes, int *descriptor,
                                  assay_error *error)
{
    char unpublished[PATH_MAX];
    unpublished_path(path, unpublished, sizeof unpublished);
    *descriptor = open(unpublished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (*descriptor < 0)
        return fail_to_create(path, error);
    if (bytes > allowed_bytes(true))
        errno = EFBIG;
    else if (ftruncate(*descriptor, (off_t)bytes) == 0)
        return ASSAY_OK;
    assay_status status = fail_to_allocate(path, bytes, error);
    close(*descriptor);
    *descriptor = -1;
    unlink(unpublished);
    return status;
}

/* Linux before 5.14 cannot allocate through the mapping. The file is found by its name then. */
static bool allocate_by_name(const assay__journal *journal, off_t offset, off_t bytes)
{
    char unpublished[PATH_MAX];
    unpublished_path(journal->path, unpublished, sizeof unpublished);
    int descriptor = open(unpublished, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        descriptor = open(journal->path, O_RDWR | O_CLOEXEC);
    struct stat file;
    /* Another file of that name is left alone. */
    bool ours = descriptor >= 0 && fstat(descriptor, &file) == 0 &&
                file.st_dev == journal->device && file.st_ino == journal->inode;
    int failure = ours ? posix_fallocate(descriptor, offset, bytes) : ENOENT;
    if (descriptor >= 0)
        close(descriptor);
    errno = failure;
    return failure == 0;
}

/* Let [offset, offset + bytes) be touched. */
static bool make_part_ready(const assay__journal *journal, uint64_t offset, uint64_t bytes)
{
    if (journal->path == NULL)
        return true;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = offset / page * page;
    uint64_t length = (offset + bytes - start + page - 1) / page * page;
    int failed;
    do
        failed = madvise((unsigned char *)journal->header + start, length, MADV_POPULATE_WRITE);
    while (failed != 0 && (errno == EINTR || errno == EAGAIN));
    if (failed == 0)
        return true;
    if (errno == EINVAL)
        return allocate_by_name(journal, (off_t)start, (off_t)length);
    if (errno == EFAULT)
        errno = ENOSPC;
    return false;
}

bool assay__journal_make_ready(const assay__journal *journal, const void *start, size_t bytes)
{
    uint64_t offset = (uint64_t)((const unsigned char *)start - (unsigned char *)journal->header);
    return make_part_ready(journal, offset, bytes);
}

/* Let the bytes [begin, end) of a region be touched, where [.., *ready) may be already. More than
 * asked for is made ready if there is room: a quarter of what the journal has, up to 1 MiB. */
static bool reach(assay__journal *journal, const assay__journal_region *region, uint64_t *ready,
                  uint64_t begin, uint64_t end)
{
    const uint64_t least = 4096, most = 1024 * 1024;
    if (end <= *ready)
        return true;
    if (begin < *ready)
        begin = *ready;
    uint64_t step = journal->taken / 4;
    step = step < least ? least : step < most ? step : most;
    uint64_t wish = begin + step < region->bytes ? begin + step : region->bytes;
    if (wish < end)
        wish = end;
    if (!make_part_ready(journal, region->offset + begin, wish - begin)) {
        wish = end;
        if (!make_part_ready(journal, region->offset + begin, wish - begin)) {
            uint64_t *refused = &journal->header->refused_growth;
            __atomic_store_n(refused, *refused + 1, __ATOMIC_RELAXED);
            return false;
        }
    }
    journal->taken += wish - begin;
    *ready = wish;
    return true;
}

static void identify(assay__journal_header *header, const assay__journal_identity *identity)
{
    header->process_id = identity->process_id;
    header->parent_process_id = identity->parent_process_id;
    header->process_start = identity->process_start;
    header->rank = identity->rank;
    header->monitor_id = identity->monitor_id;
    memcpy(header->host, identity->host, sizeof header->host);
    memcpy(header->boot_id, identity->boot_id, sizeof header->boot_id);
    assay__text_copy_name(header->name, sizeof header->name, identity->name,
                          strlen(identity->name));
}

static void discard(assay__journal *journal)
{
    if (journal->path != NULL) {
        char unpublished[PATH_MAX];
        unpublished_path(journal->path, unpublished, sizeof unpublished);
        unlink(unpublished);
    }
    assay__journal_release(journal);
}

/* Map a journal of these bytes. On failure nothing is left behind. */
static assay_status map(assay__journal *journal, const char *path, size_t bytes, assay_error *error)
{
    *journal = (assay__journal){.bytes = bytes};
    int descriptor = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    struct stat file = {0};
    if (path != NULL) {
        assay_status status = open_new_file(path, bytes, &descriptor, error);
        if (status != ASSAY_OK)
            return status;
        flags = MAP_SHARED;
        journal->path = strdup(path);
        fstat(descriptor, &file);
    }
    void *base = path != NULL && journal->path == NULL
                     ? MAP_FAILED
                     : mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (descriptor >= 0)
        close(descriptor);
    journal->device = file.st_dev;
    journal->inode = file.st_ino;
    if (base != MAP_FAILED) {
        journal->header = base;
        /* The kernel must not read ahead into the holes of the file, nor round up to huge pages. */
        madvise(base, bytes, path != NULL ? MADV_RANDOM : MADV_NOHUGEPAGE);
        if (make_part_ready(journal, 0, ASSAY__JOURNAL_HEADER_BYTES))
            return ASSAY_OK;
    }
    assay_status status =
        base == MAP_FAILED
            ? assay__fail(error, ASSAY_E_MEMORY, "no memory for a journal of %zu bytes", bytes)
            : fail_to_allocate(path, ASSAY__JOURNAL_HEADER_BYTES, error);
    discard(journal);
    return status;
}

assay_status assay__journal_create(assay__journal *journal, const char *path, size_t pool_bytes,
                                   const assay__journal_identity *identity, assay_error *error)
{
    *journal = (assay__journal){0};
    assay__journal_header planned = {0};
    size_t allowed = allowed_bytes(path != NULL), bytes = plan(&planned, pool_bytes);
    if (bytes / ASSAY__JOURNAL_UNIT > UINT32_MAX)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a journal of %zu bytes is too large", bytes);
    assay_status status = ASSAY_E_MEMORY;
    for (; status == ASSAY_E_MEMORY; pool_bytes /= 2) {
        bool least = pool_bytes / 2 < ASSAY__JOURNAL_MIN_BYTES;
        bytes = plan(&planned, pool_bytes);
        if (bytes > allowed && !least)
            continue;
        status = map(journal, path, bytes, error);
        if (least)
            break;
    }
    if (status != ASSAY_OK)
        return status;
    planned.version = ASSAY_JOURNAL_VERSION;
    planned.header_bytes = ASSAY__JOURNAL_HEADER_BYTES;
    planned.byte_order = ASSAY__JOURNAL_BYTE_ORDER;
    planned.state = ASSAY__JOURNAL_OPEN;
    planned.total_bytes = bytes;
    planned.base_address = (uint64_t)(uintptr_t)journal->header;
    identify(&planned, identity);
    *journal->header = planned;
    return ASSAY_OK;
}

/* Renaming keeps the name in /proc/PID/maps right, by which `assay journal PID` finds the file.
 * File systems without RENAME_NOREPLACE get the same by a link. */
static int rename_without_replacing(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return link(from, to) == 0 ? unlink(from) : -1;
}

assay_status assay__journal_publish(assay__journal *journal, assay_error *error)
{
    memcpy(journal->header->magic, ASSAY__JOURNAL_MAGIC, sizeof journal->header->magic);
    if (journal->path == NULL)
        return ASSAY_OK;
    char unpublished[PATH_MAX];
    unpublished_path(journal->path, unpublished, sizeof unpublished);
    if (rename_without_replacing(unpublished, journal->path) == 0)
        return ASSAY_OK;
    assay_status status = fail_to_create(journal->path, error);
    discard(journal);
    return status;
}

void assay__journal_release(assay__journal *journal)
{
    if (journal->header != NULL)
        munmap(journal->header, journal->bytes);
    free(journal->path);
    *journal = (assay__journal){0};
}

/* Whether the pool has this room between what is used and what is set aside, rounded up. */
static bool pool_has(const assay__journal *journal, size_t bytes, size_t *rounded)
{
    const assay__journal_header *header = journal->header;
    *rounded = align_to_unit(bytes);
    return *rounded >= bytes &&
           *rounded <= header->pool.bytes - header->pool.used - header->set_aside;
}

void *assay__journal_allocate(assay__journal *journal, size_t bytes)
{
    assay__journal_region *pool = &journal->header->pool;
    size_t rounded;
    if (!pool_has(journal, bytes, &rounded) ||
        !reach(journal, pool, &journal->ready.pool, pool->used, pool->used + rounded))
        return NULL;
    void *result = (unsigned char *)journal->header + pool->offset + pool->used;
    __atomic_store_n(&pool->used, pool->used + rounded, __ATOMIC_RELEASE);
    return result;
}

void *assay__journal_set_aside(assay__journal *journal, size_t bytes)
{
    assay__journal_header *header = journal->header;
    size_t rounded;
    /* A quarter is left to what is needed rather than wished for. */
    if (!pool_has(journal, bytes + header->pool.bytes / 4, &rounded))
        return NULL;
    rounded = align_to_unit(bytes);
    __atomic_store_n(&header->set_aside, header->set_aside + rounded, __ATOMIC_RELEASE);
    return (unsigned char *)header + header->pool.offset + header->pool.bytes - header->set_aside;
}

/* Room for one more item at the end of an array's region. */
static bool reach_item(assay__journal *journal, const assay__journal_region *region,
                       uint64_t *ready, size_t item)
{
    return region->used < region->bytes / item &&
           reach(journal, region, ready, region->used * item, (region->used + 1) * item);
}

static assay__journal_operation *operations_of(const assay__journal *journal)
{
    return (void *)((unsigned char *)journal->header + journal->header->operations.offset);
}

static char *names_of(const assay__journal *journal)
{
    return (char *)journal->header + journal->header->names.offset;
}

static bool find_name(const assay__journal *journal, const char *name, size_t length,
                      uint32_t *operation)
{
    const assay__journal_operation *operations = operations_of(journal);
    const char *names = names_of(journal);
    for (uint32_t i = 0; i < journal->header->operations.used; i++)
        if (operations[i].name_bytes == length &&
            memcmp(names + operations[i].name, name, length) == 0) {
            *operation = i;
            return true;
        }
    return false;
}

assay_status assay__journal_intern(assay__journal *journal, const char *name, size_t length,
                                   uint32_t *operation)
{
    if (find_name(journal, name, length, operation))
        return ASSAY_OK;
    assay__journal_header *header = journal->header;
    assay__journal_region *names = &header->names, *operations = &header->operations;
    uint64_t index = operations->used;
    bool is_other = strcmp(name, ASSAY__OTHER_NAME) == 0;
    size_t kept_entries = is_other ? 0 : 1, kept_bytes = is_other ? 0 : sizeof ASSAY__OTHER_NAME;
    if (index + kept_entries >= operations->bytes / sizeof(assay__journal_operation) ||
        length + 1 + kept_bytes > names->bytes - names->used ||
        !reach(journal, names, &journal->ready.names, names->used, names->used + length + 1) ||
        !reach_item(journal, operations, &journal->ready.operations,
                    sizeof(assay__journal_operation))) {
        __atomic_store_n(&header->dropped_names, header->dropped_names + 1, __ATOMIC_RELAXED);
        return ASSAY_E_LIMIT;
    }
    memcpy(names_of(journal) + names->used, name, length); /* the rest is zero: terminated */
    operations_of(journal)[index] =
        (assay__journal_operation){.name = (uint32_t)names->used, .name_bytes = (uint32_t)length};
    __atomic_store_n(&names->used, names->used + length + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&operations->used, index + 1, __ATOMIC_RELEASE);
    *operation = (uint32_t)index;
    return ASSAY_OK;
}

static assay__lane *lane_at(const assay__journal *journal, uint64_t index)
{
    const assay__journal_region *lanes = &journal->header->lanes;
    return (assay__lane *)(void *)((unsigned char *)journal->header + lanes->offset) + index;
}

assay__lane *assay__journal_next_lane(assay__journal *journal)
{
    const assay__journal_region *lanes = &journal->header->lanes;
    if (!reach_item(journal, lanes, &journal->ready.lanes, sizeof(assay__lane)))
        return NULL;
    return lane_at(journal, lanes->used);
}

void assay__journal_publish_lane(assay__journal *journal, const assay__lane *lane)
{
    assay__journal_region *lanes = &journal->header->lanes;
    if (lane == lane_at(journal, lanes->used))
        __atomic_store_n(&lanes->used, lanes->used + 1, __ATOMIC_RELEASE);
}

bool assay__journal_add_metric(assay__journal *journal, const assay__journal_metric *metric)
{
    assay__journal_region *metrics = &journal->header->metrics;
    if (!reach_item(journal, metrics, &journal->ready.metrics, sizeof *metric)) {
        uint64_t *dropped = &journal->header->dropped_metrics;
        __atomic_store_n(dropped, *dropped + 1, __ATOMIC_RELAXED);
        return false;
    }
    assay__journal_metric *entries = (void *)((unsigned char *)journal->header + metrics->offset);
    entries[metrics->used] = *metric;
    __atomic_store_n(&metrics->used, metrics->used + 1, __ATOMIC_RELEASE);
    return true;
}
