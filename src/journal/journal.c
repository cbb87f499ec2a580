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

static size_t plan(assay__journal_header *header, size_t pool_bytes)
{
    size_t offset = ASSAY__JOURNAL_HEADER_BYTES;
    place(&header->names, &offset, (size_t)ASSAY__JOURNAL_MAX_OPERATIONS * 32);
    place(&header->operations, &offset,
          ASSAY__JOURNAL_MAX_OPERATIONS * sizeof(assay__journal_operation));
    place(&header->lanes, &offset, ASSAY__JOURNAL_MAX_LANES * sizeof(assay__lane));
    place(&header->metrics, &offset, ASSAY__JOURNAL_MAX_METRICS * sizeof(assay__journal_metric));
    place(&header->pool, &offset, pool_bytes);
    return offset;
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

static assay_status open_new_file(const char *path, size_t bytes, int *descriptor,
                                  assay_error *error)
{
    char unpublished[PATH_MAX];
    unpublished_path(path, unpublished, sizeof unpublished);
    *descriptor = open(unpublished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (*descriptor < 0)
        return fail_to_create(path, error);
    struct rlimit most;
    bool allowed = getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes <= most.rlim_cur;
    /* Past the limit the kernel sends SIGXFSZ, which ends the program. */
    int number = allowed ? posix_fallocate(*descriptor, 0, (off_t)bytes) : EFBIG;
    if (number == 0)
        return ASSAY_OK;
    close(*descriptor);
    *descriptor = -1;
    unlink(unpublished);
    errno = number;
    return assay__fail_errno(error, "cannot allocate %zu bytes for the journal '%s'", bytes, path);
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

assay_status assay__journal_create(assay__journal *journal, const char *path, size_t pool_bytes,
                                   const assay__journal_identity *identity, assay_error *error)
{
    *journal = (assay__journal){0};
    assay__journal_header planned = {0};
    size_t bytes = plan(&planned, pool_bytes);
    if (bytes / ASSAY__JOURNAL_UNIT > UINT32_MAX)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a journal of %zu bytes is too large", bytes);
    int descriptor = -1;
    if (path != NULL) {
        assay_status status = open_new_file(path, bytes, &descriptor, error);
        if (status != ASSAY_OK)
            return status;
        journal->path = strdup(path);
    }
    int flags = path != NULL ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *base = path != NULL && journal->path == NULL
                     ? MAP_FAILED
                     : mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (descriptor >= 0)
        close(descriptor);
    if (base == MAP_FAILED) {
        if (path != NULL) {
            char unpublished[PATH_MAX];
            unpublished_path(path, unpublished, sizeof unpublished);
            unlink(unpublished);
        }
        free(journal->path);
        *journal = (assay__journal){0};
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a journal of %zu bytes", bytes);
    }
    journal->header = base;
    journal->bytes = bytes;
    planned.version = ASSAY_JOURNAL_VERSION;
    planned.header_bytes = ASSAY__JOURNAL_HEADER_BYTES;
    planned.byte_order = ASSAY__JOURNAL_BYTE_ORDER;
    planned.state = ASSAY__JOURNAL_OPEN;
    planned.total_bytes = bytes;
    planned.base_address = (uint64_t)(uintptr_t)base;
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
    assay_status status = ASSAY_OK;
    if (rename_without_replacing(unpublished, journal->path) != 0) {
        status = fail_to_create(journal->path, error);
        unlink(unpublished);
    }
    if (status != ASSAY_OK)
        assay__journal_release(journal);
    return status;
}

void assay__journal_release(assay__journal *journal)
{
    if (journal->header != NULL)
        munmap(journal->header, journal->bytes);
    free(journal->path);
    *journal = (assay__journal){0};
}

void *assay__journal_allocate(assay__journal *journal, size_t bytes)
{
    assay__journal_region *pool = &journal->header->pool;
    size_t rounded = align_to_unit(bytes);
    if (rounded < bytes || rounded > pool->bytes - pool->used)
        return NULL;
    void *result = (unsigned char *)journal->header + pool->offset + pool->used;
    __atomic_store_n(&pool->used, pool->used + rounded, __ATOMIC_RELEASE);
    return result;
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
    uint64_t index = header->operations.used;
    bool is_other = strcmp(name, ASSAY__OTHER_NAME) == 0;
    size_t kept_entries = is_other ? 0 : 1, kept_bytes = is_other ? 0 : sizeof ASSAY__OTHER_NAME;
    if (index + kept_entries >= header->operations.bytes / sizeof(assay__journal_operation) ||
        length + 1 + kept_bytes > header->names.bytes - header->names.used) {
        __atomic_store_n(&header->dropped_names, header->dropped_names + 1, __ATOMIC_RELAXED);
        return ASSAY_E_LIMIT;
    }
    memcpy(names_of(journal) + header->names.used, name, length); /* the rest is zero: terminated */
    operations_of(journal)[index] = (assay__journal_operation){.name = (uint32_t)header->names.used,
                                                               .name_bytes = (uint32_t)length};
    __atomic_store_n(&header->names.used, header->names.used + length + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&header->operations.used, index + 1, __ATOMIC_RELEASE);
    *operation = (uint32_t)index;
    return ASSAY_OK;
}

assay__lane *assay__journal_next_lane(assay__journal *journal)
{
    const assay__journal_region *lanes = &journal->header->lanes;
    if (lanes->used >= lanes->bytes / sizeof(assay__lane))
        return NULL;
    return (assay__lane *)(void *)((unsigned char *)journal->header + lanes->offset) + lanes->used;
}

void assay__journal_publish_lane(assay__journal *journal, const assay__lane *lane)
{
    assay__journal_region *lanes = &journal->header->lanes;
    if (lane == assay__journal_next_lane(journal))
        __atomic_store_n(&lanes->used, lanes->used + 1, __ATOMIC_RELEASE);
}

bool assay__journal_add_metric(assay__journal *journal, const assay__journal_metric *metric)
{
    assay__journal_region *metrics = &journal->header->metrics;
    if (metrics->used >= metrics->bytes / sizeof *metric) {
        uint64_t *dropped = &journal->header->dropped_metrics;
        __atomic_store_n(dropped, *dropped + 1, __ATOMIC_RELAXED);
        return false;
    }
    assay__journal_metric *entries = (void *)((unsigned char *)journal->header + metrics->offset);
    entries[metrics->used] = *metric;
    __atomic_store_n(&metrics->used, metrics->used + 1, __ATOMIC_RELEASE);
    return true;
}
