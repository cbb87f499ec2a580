/* Reads the file of a journal into a copy, whose program may go on writing to it meanwhile. Only
 * the used parts are read, and holes of the file cost nothing. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/sparse.h"
#include "journal/reader.h"

/* The largest size of a journal in bytes. A larger file is no journal. */
static const uint64_t LARGEST_JOURNAL = (uint64_t)4 << 30;

static bool read_fully(int descriptor, unsigned char *bytes, size_t length, off_t offset)
{
    while (length > 0) {
        ssize_t got = pread(descriptor, bytes, length, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        offset += got;
        length -= (size_t)got;
    }
    return true;
}

static assay_status fail_to_open(const char *path, assay_error *error)
{
    static const char never_made[] = ASSAY__JOURNAL_NEVER_MADE;
    char target[256];
    int failure = errno;
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (strncmp(target, never_made, sizeof never_made - 1) == 0)
        return assay__fail(error, ASSAY_E_NOT_FOUND, "journal '%s' could not be made: %s", path,
                           target + sizeof never_made - 1);
    errno = failure;
    return assay__fail_errno(error, "cannot read journal '%s'", path);
}

static assay_status open_file(const char *path, int *descriptor, size_t *length, assay_error *error)
{
    struct stat info;
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*descriptor < 0)
        return fail_to_open(path, error);
    assay_status status = ASSAY_OK;
    if (fstat(*descriptor, &info) != 0)
        status = assay__fail_errno(error, "cannot read journal '%s'", path);
    else if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size > LARGEST_JOURNAL)
        status = assay__fail(error, ASSAY_E_FORMAT, "'%s' is not an assay journal", path);
    else
        *length = (size_t)info.st_size;
    if (status != ASSAY_OK)
        close(*descriptor);
    return status;
}

static assay_status fail_as_shrunk(const char *path, assay_error *error)
{
    return assay__fail(error, ASSAY_E_TRUNCATED, "journal '%s' shrank while it was read", path);
}

/* Read and check the header alone, into `bytes`. */
static assay_status view_header(assay__journal_view *view, int descriptor, unsigned char *bytes,
                                size_t length, const char *path, assay_error *error)
{
    size_t head = length < ASSAY__JOURNAL_HEADER_BYTES ? length : ASSAY__JOURNAL_HEADER_BYTES;
    return read_fully(descriptor, bytes, head, 0)
               ? assay__journal_view_bytes(view, bytes, length, path, error)
               : fail_as_shrunk(path, error);
}

assay_status assay__journal_file_header(const char *path, assay__journal_header *header,
                                        assay_error *error)
{
    _Alignas(assay__journal_header) unsigned char bytes[ASSAY__JOURNAL_HEADER_BYTES];
    assay__journal_view view;
    int descriptor;
    size_t length;
    assay_status status = open_file(path, &descriptor, &length, error);
    if (status != ASSAY_OK)
        return status;
    status = view_header(&view, descriptor, bytes, length, path, error);
    close(descriptor);
    if (status == ASSAY_OK)
        *header = view.header;
    return status;
}

/* Read a part of the file, except for its holes, where the copy is zero already. So holes cost
 * neither time nor memory. On a file system without holes, everything is read. */
static bool read_data(int descriptor, unsigned char *bytes, uint64_t length, uint64_t offset)
{
    off_t end = (off_t)(offset + length);
    if (lseek(descriptor, 0, SEEK_END) < end)
        return false;
    for (off_t at = (off_t)offset; at < end;) {
        off_t data = lseek(descriptor, at, SEEK_DATA);
        if (data < 0 && errno != ENXIO)
            return read_fully(descriptor, bytes + (at - (off_t)offset), (size_t)(end - at), at);
        if (data < 0 || data >= end)
            return true;
        at = lseek(descriptor, data, SEEK_HOLE);
        if (at < 0 || at > end)
            at = end;
        if (!read_fully(descriptor, bytes + (data - (off_t)offset), (size_t)(at - data), data))
            return false;
    }
    return true;
}

/* Read a field of the header again. A value above `most` becomes `most`. */
static bool read_mark(int descriptor, size_t field, uint64_t most, uint64_t *mark)
{
    bool there = read_fully(descriptor, (unsigned char *)mark, sizeof *mark, (off_t)field);
    if (*mark > most)
        *mark = most;
    return there;
}

/* Read the parts of the pool that are in use. The rest of the copy is zero, as in the file. If the
 * pool grows meanwhile, the new part is read as well, so that the copy contains everything that a
 * node refers to. */
static bool read_pool(int descriptor, unsigned char *bytes, const assay__journal_header *header)
{
    const uint64_t start = ASSAY__JOURNAL_HEADER_BYTES, size = header->pool_bytes;
    uint64_t set_aside;
    for (uint64_t done = 0, used = header->pool_used; used > done;) {
        if (!read_data(descriptor, bytes + start + done, used - done, start + done))
            return false;
        done = used;
        if (!read_mark(descriptor, offsetof(assay__journal_header, pool_used), size, &used))
            return false;
    }
    if (!read_mark(descriptor, offsetof(assay__journal_header, pool_set_aside), size, &set_aside))
        return false;
    uint64_t first = start + size - set_aside;
    return read_data(descriptor, bytes + first, set_aside, first);
}

/* Read the beginning of each lane again, which every span changes. This shows how far the event
 * rings were written (assay__journal_read_events() uses it), and whether the writer was at work
 * while its journal was copied. A lane comes before its nodes. So if a span changed a node after a
 * part of the node was copied, the lane differs from its copy. */
static assay_status look_at_lanes_again(assay__journal_view *view, int descriptor)
{
    unsigned char now[offsetof(assay__lane, kind)];
    size_t room = 0, count = 0;
    assay__lane lane;
    for (uint32_t unit = view->header.first_lane; assay__journal_read_lane(view, unit, &lane);
         unit = lane.next) {
        if (!assay__grow(&view->rings_after, &room, count + 1, sizeof *view->rings_after))
            return ASSAY_E_MEMORY;
        assay__ring_state *after = &view->rings_after[count++];
        *after = (assay__ring_state){UINT64_MAX - 1, lane.event_capacity};
        uint64_t offset = (uint64_t)unit * ASSAY__JOURNAL_UNIT;
        if (!read_fully(descriptor, now, sizeof now, (off_t)offset))
            continue;
        memcpy(after, now + offsetof(assay__lane, event_head), sizeof *after);
        view->changed |= memcmp(now, view->bytes + offset, sizeof now) != 0;
    }
    return ASSAY_OK;
}

/* Whether the pool has grown since the header was read. */
static bool has_grown(const assay__journal_view *view, int descriptor)
{
    uint64_t used;
    return read_mark(descriptor, offsetof(assay__journal_header, pool_used), UINT64_MAX, &used) &&
           used != view->header.pool_used;
}

/* If the writer is gone and the pool has no rings and samples, nothing refers to the unused part of
 * the pool. So the copy can end where the used part ends. With thousands of small journals, this
 * saves most of the work. A writer in another container seems to be gone: see copy_file(). */
static void cut_unused(assay__journal_header *header)
{
    bool may_grow = header->state == ASSAY__JOURNAL_OPEN &&
                    (kill((pid_t)header->process_id, 0) == 0 || errno != ESRCH);
    if (!may_grow && header->pool_set_aside == 0)
        header->pool_bytes = header->pool_used;
}

static void release_copy(assay__journal_view *view)
{
    assay__sparse_free(view->copy, view->copy_bytes);
    free(view->rings_after);
    view->copy = NULL;
    view->rings_after = NULL;
}

static assay_status copy_pool(assay__journal_view *view, int descriptor, const char *path,
                              assay_error *error)
{
    view->copy_bytes = ASSAY__JOURNAL_HEADER_BYTES + view->header.pool_bytes;
    view->bytes = view->copy = assay__sparse_new(view->copy_bytes);
    if (view->copy == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory to read journal '%s'", path);
    if (!read_pool(descriptor, view->copy, &view->header))
        return fail_as_shrunk(path, error);
    if (look_at_lanes_again(view, descriptor) != ASSAY_OK)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory to read journal '%s'", path);
    view->changed |= has_grown(view, descriptor);
    return ASSAY_OK;
}

/* Copy the file. If the pool turns out to grow although its writer seemed to be gone, the writer is
 * in another container. Then the copy lacks what its nodes refer to, and is made again in full. */
static assay_status copy_file(assay__journal_view *view, int descriptor, size_t length,
                              const char *path, assay_error *error)
{
    _Alignas(assay__journal_header) unsigned char head[ASSAY__JOURNAL_HEADER_BYTES];
    assay_status status = view_header(view, descriptor, head, length, path, error);
    if (status != ASSAY_OK)
        return status;
    const uint64_t whole = view->header.pool_bytes;
    view->file = path;
    cut_unused(&view->header);
    status = copy_pool(view, descriptor, path, error);
    if (status != ASSAY_OK || view->header.pool_bytes == whole || !has_grown(view, descriptor))
        return status;
    release_copy(view);
    view->header.pool_bytes = whole;
    return copy_pool(view, descriptor, path, error);
}

assay_status assay__journal_view_file(assay__journal_view *view, const char *path,
                                      assay_error *error)
{
    *view = (assay__journal_view){0};
    int descriptor;
    size_t length;
    assay_status status = open_file(path, &descriptor, &length, error);
    if (status != ASSAY_OK)
        return status;
    status = copy_file(view, descriptor, length, path, error);
    close(descriptor);
    if (status != ASSAY_OK)
        assay__journal_view_release(view);
    return status;
}

void assay__journal_view_release(assay__journal_view *view)
{
    release_copy(view);
    *view = (assay__journal_view){0};
}
