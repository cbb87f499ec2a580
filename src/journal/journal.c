/* The writer of the journal. It maps the region, allocates the blocks of its file before they are
 * touched, and allocates room from the pool. journal.h describes the parts. */
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
_Static_assert(sizeof(assay__lane) == 5376, "layout.h and docs/journal.md state it");
_Static_assert(sizeof(assay__journal_header) <= ASSAY__JOURNAL_HEADER_BYTES, "the header's room");
_Static_assert(sizeof(assay__event) == 32, "docs/journal.md states it");
_Static_assert(sizeof(assay__journal_metric) == 64, "docs/journal.md states it");

/* The initial room of a journal: the header, and a lane with a few operations. */
enum { FIRST_BYTES = 3 * ASSAY__JOURNAL_HEADER_BYTES };

static size_t align_to_unit(size_t bytes)
{
    return (bytes + ASSAY__JOURNAL_UNIT - 1) & ~(size_t)(ASSAY__JOURNAL_UNIT - 1);
}

/* The largest journal that the limits of the process allow: for a file the limit of a file's size,
 * and in any case an eighth of the limit of the address space. */
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
    *descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (*descriptor < 0)
        return fail_to_create(path, error);
    if (bytes > allowed_bytes(true))
        errno = EFBIG;
    else if (ftruncate(*descriptor, (off_t)bytes) == 0)
        return ASSAY_OK;
    assay_status status = fail_to_allocate(path, bytes, error);
    close(*descriptor);
    *descriptor = -1;
    unlink(path);
    return status;
}

/* Allocate blocks through the name of the file, because Linux before 5.14 cannot allocate through
 * the mapping. */
static bool allocate_by_name(const assay__journal *journal, off_t offset, off_t bytes)
{
    int descriptor = open(journal->path, O_RDWR | O_CLOEXEC);
    struct stat file;
    /* The name may belong to another file by now, which must not be changed. */
    bool ours = descriptor >= 0 && fstat(descriptor, &file) == 0 &&
                file.st_dev == journal->device && file.st_ino == journal->inode;
    int failure = ours ? posix_fallocate(descriptor, offset, bytes) : ENOENT;
    if (descriptor >= 0)
        close(descriptor);
    errno = failure;
    return failure == 0;
}

/* Make the bytes [offset, offset + bytes) safe to touch. */
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

/* Make the pool safe to touch up to `end`. If there is room, more is made ready at once: a quarter
 * of the ready part, at least 4 KiB and at most 1 MiB. */
static bool reach(assay__journal *journal, uint64_t end)
{
    const uint64_t least = 4096, most = 1024 * 1024;
    assay__journal_header *header = journal->header;
    uint64_t offset = ASSAY__JOURNAL_HEADER_BYTES + journal->ready;
    if (end <= journal->ready)
        return true;
    uint64_t step = journal->ready / 4 < least ? least : journal->ready / 4;
    uint64_t wish = journal->ready + (step < most ? step : most);
    if (wish > header->pool_bytes - header->pool_set_aside)
        wish = header->pool_bytes - header->pool_set_aside;
    if (wish < end)
        wish = end;
    if (!make_part_ready(journal, offset, wish - journal->ready)) {
        wish = end;
        if (!make_part_ready(journal, offset, wish - journal->ready)) {
            __atomic_store_n(&header->refused_growth, header->refused_growth + 1, __ATOMIC_RELAXED);
            return false;
        }
    }
    journal->ready = wish;
    return true;
}

static void identify(assay__journal_header *header, const assay__journal_identity *identity)
{
    header->process_id = identity->process_id;
    header->parent_process_id = identity->parent_process_id;
    header->rank = identity->rank;
    header->monitor_id = identity->monitor_id;
    memcpy(header->host, identity->host, sizeof header->host);
    memcpy(header->boot_id, identity->boot_id, sizeof header->boot_id);
    assay__text_copy_name(header->name, sizeof header->name, identity->name,
                          strlen(identity->name));
}

static void discard(assay__journal *journal)
{
    if (journal->path != NULL)
        unlink(journal->path);
    assay__journal_release(journal);
}

/* Map a journal of this size. After a failure no file remains. */
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
        /* The kernel must not read ahead into holes of the file, and must not use huge pages. */
        madvise(base, bytes, path != NULL ? MADV_RANDOM : MADV_NOHUGEPAGE);
        if (make_part_ready(journal, 0, FIRST_BYTES)) {
            journal->ready = FIRST_BYTES - ASSAY__JOURNAL_HEADER_BYTES;
            return ASSAY_OK;
        }
    }
    assay_status status =
        base == MAP_FAILED
            ? assay__fail(error, ASSAY_E_MEMORY, "no memory for a journal of %zu bytes", bytes)
            : fail_to_allocate(path, FIRST_BYTES, error);
    discard(journal);
    return status;
}

assay_status assay__journal_create(assay__journal *journal, const char *path, size_t pool_bytes,
                                   const assay__journal_identity *identity, assay_error *error)
{
    *journal = (assay__journal){0};
    size_t allowed = allowed_bytes(path != NULL);
    pool_bytes = align_to_unit(pool_bytes);
    if (pool_bytes / ASSAY__JOURNAL_UNIT >= INT32_MAX)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a journal of %zu bytes is too large",
                           pool_bytes);
    assay_status status = ASSAY_E_MEMORY;
    for (;; pool_bytes = align_to_unit(pool_bytes / 2)) {
        bool least = pool_bytes / 2 < ASSAY__JOURNAL_MIN_BYTES;
        size_t bytes = ASSAY__JOURNAL_HEADER_BYTES + pool_bytes;
        if (bytes <= allowed || least)
            status = map(journal, path, bytes, error);
        if (status != ASSAY_E_MEMORY || least)
            break;
    }
    if (status != ASSAY_OK)
        return status;
    assay__journal_header planned = {.pool_bytes = pool_bytes};
    planned.version = ASSAY_JOURNAL_VERSION;
    planned.header_bytes = ASSAY__JOURNAL_HEADER_BYTES;
    planned.byte_order = ASSAY__JOURNAL_BYTE_ORDER;
    planned.state = ASSAY__JOURNAL_OPEN;
    planned.total_bytes = journal->bytes;
    planned.base_address = (uint64_t)(uintptr_t)journal->header;
    identify(&planned, identity);
    *journal->header = planned;
    return ASSAY_OK;
}

void assay__journal_publish(assay__journal *journal)
{
    uint64_t magic;
    memcpy(&magic, ASSAY__JOURNAL_MAGIC, sizeof magic);
    __atomic_store_n((uint64_t *)(void *)journal->header->magic, magic, __ATOMIC_RELEASE);
}

void assay__journal_release(assay__journal *journal)
{
    if (journal->header != NULL)
        munmap(journal->header, journal->bytes);
    assay__journal_forget(journal);
}

void assay__journal_keep_from_children(const assay__journal *journal, bool keep)
{
    madvise(journal->header, journal->bytes, keep ? MADV_DONTFORK : MADV_DOFORK);
}

void assay__journal_forget(assay__journal *journal)
{
    assay__name_index_release(&journal->names);
    free(journal->path);
    *journal = (assay__journal){0};
}

/* Whether the pool has this much room between its used part and the part that is set aside. */
static bool pool_has(const assay__journal *journal, size_t bytes)
{
    const assay__journal_header *header = journal->header;
    size_t rounded = align_to_unit(bytes);
    return rounded >= bytes &&
           rounded <= header->pool_bytes - header->pool_used - header->pool_set_aside;
}

void *assay__journal_allocate(assay__journal *journal, size_t bytes)
{
    const uint64_t reserve = journal->header->pool_bytes / 16;
    return pool_has(journal, bytes + reserve) ? assay__journal_allocate_reserved(journal, bytes)
                                              : NULL;
}

void *assay__journal_allocate_reserved(assay__journal *journal, size_t bytes)
{
    assay__journal_header *header = journal->header;
    uint64_t used = header->pool_used, end = used + align_to_unit(bytes);
    if (!pool_has(journal, bytes) || !reach(journal, end))
        return NULL;
    __atomic_store_n(&header->pool_used, end, __ATOMIC_RELEASE);
    return (unsigned char *)header + ASSAY__JOURNAL_HEADER_BYTES + used;
}

void *assay__journal_set_aside(assay__journal *journal, size_t bytes)
{
    assay__journal_header *header = journal->header;
    /* A quarter of the pool is kept for lanes and nodes, which matter more than rings and
     * samples. */
    if (!pool_has(journal, bytes + header->pool_bytes / 4))
        return NULL;
    uint64_t all = header->pool_set_aside + align_to_unit(bytes);
    __atomic_store_n(&header->pool_set_aside, all, __ATOMIC_RELEASE);
    return (unsigned char *)header + journal->bytes - all;
}

assay_status assay__journal_intern(assay__journal *journal, const char *name, size_t length,
                                   uint32_t *operation)
{
    assay__journal_header *header = journal->header;
    int32_t known = assay__name_index_find(&journal->names, -1, name);
    *operation = (uint32_t)known;
    if (known >= 0)
        return ASSAY_OK;
    /* The last place is reserved for ASSAY__OTHER_NAME. */
    uint32_t places = ASSAY__JOURNAL_MAX_OPERATIONS - (strcmp(name, ASSAY__OTHER_NAME) != 0);
    assay__journal_operation *entry =
        header->operation_count < places
            ? assay__journal_allocate(journal, sizeof *entry + length + 1)
            : NULL;
    if (entry != NULL) {
        entry->name_bytes = (uint32_t)length;
        memcpy(entry->name, name, length); /* the rest is zero: terminated */
        *operation = assay__journal_unit(journal, entry);
    }
    if (entry == NULL ||
        assay__name_index_add(&journal->names, -1, entry->name, (int32_t)*operation) != ASSAY_OK) {
        __atomic_store_n(&header->dropped_names, header->dropped_names + 1, __ATOMIC_RELAXED);
        return ASSAY_E_LIMIT;
    }
    __atomic_store_n(&header->operation_count, header->operation_count + 1, __ATOMIC_RELEASE);
    return ASSAY_OK;
}

void assay__journal_publish_lane(assay__journal *journal, assay__lane *lane)
{
    assay__journal_header *header = journal->header;
    uint32_t unit = assay__journal_unit(journal, lane);
    if (lane->next != 0 || header->last_lane == unit)
        return;
    assay__lane *last = assay__journal_at(journal, header->last_lane);
    uint32_t *link = header->last_lane == 0 ? &header->first_lane : &last->next;
    __atomic_store_n(link, unit, __ATOMIC_RELEASE);
    __atomic_store_n(&header->last_lane, unit, __ATOMIC_RELAXED);
    __atomic_store_n(&header->lane_count, header->lane_count + 1, __ATOMIC_RELEASE);
}

/* Metrics that were cleared stay in the list, and their entries are used again. */
bool assay__journal_add_metric(assay__journal *journal, const assay__journal_metric *metric)
{
    assay__journal_header *header = journal->header;
    uint32_t *link =
        journal->last_metric != NULL ? &journal->last_metric->next : &header->first_metric;
    assay__journal_metric *entry = NULL;
    if (*link != 0)
        entry = assay__journal_at(journal, *link);
    else if (header->metric_count < ASSAY__JOURNAL_MAX_METRICS)
        entry = assay__journal_allocate(journal, sizeof *entry);
    if (entry == NULL) {
        uint64_t *dropped = &header->dropped_metrics;
        __atomic_store_n(dropped, *dropped + 1, __ATOMIC_RELAXED);
        return false;
    }
    uint32_t next = entry->next;
    *entry = *metric;
    entry->next = next;
    journal->last_metric = entry;
    __atomic_store_n(link, assay__journal_unit(journal, entry), __ATOMIC_RELEASE);
    __atomic_store_n(&header->metric_count, header->metric_count + 1, __ATOMIC_RELEASE);
    return true;
}

void assay__journal_clear_metrics(assay__journal *journal)
{
    journal->last_metric = NULL;
    __atomic_store_n(&journal->header->metric_count, 0, __ATOMIC_RELEASE);
}
