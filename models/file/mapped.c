/* Maps regular files with mmap(), and reads everything else into a buffer. */
#include "models/file/mapped.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

static assay_status map(int file, const char *path, off_t size, assay_error *error,
                        assay__mapped *mapped)
{
    if (size == 0) /* an empty mapping is not possible */
        return ASSAY_OK;
    void *mapping = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping == MAP_FAILED)
        return assay__fail_errno(error, "cannot map '%s'", path);
    mapped->mapping = mapping;
    mapped->bytes = mapping;
    mapped->size = (size_t)size;
    return ASSAY_OK;
}

assay_status assay__mapped_open(const char *path, assay_error *error, assay__mapped *mapped)
{
    *mapped = (assay__mapped){.bytes = (const unsigned char *)""};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        assay_status failure = assay__fail_errno(error, "cannot read '%s'", path);
        if (file >= 0)
            close(file);
        return failure;
    }
    assay_status result = ASSAY_OK;
    if (S_ISDIR(status.st_mode)) {
        result = assay__fail(error, ASSAY_E_FORMAT, "'%s' is a folder, not a file", path);
    } else if (S_ISREG(status.st_mode)) {
        result = map(file, path, status.st_size, error, mapped);
    } else {
        assay__buffer_init(&mapped->buffer, ASSAY__MAPPED_PIPE_MAX);
        result = assay__file_read(path, &mapped->buffer, error);
        if (result == ASSAY_OK && mapped->buffer.length > 0) {
            mapped->bytes = (const unsigned char *)mapped->buffer.data;
            mapped->size = mapped->buffer.length;
        }
    }
    close(file);
    if (result != ASSAY_OK)
        assay__mapped_release(mapped);
    return result;
}

void assay__mapped_release(assay__mapped *mapped)
{
    if (mapped->mapping != NULL)
        munmap(mapped->mapping, mapped->size);
    assay__buffer_release(&mapped->buffer);
    *mapped = (assay__mapped){0};
}
