/* Atomic replacement of files by a temporary file and rename(), and reading of whole files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

static void release(assay__output *output)
{
    free(output->path);
    free(output->temporary);
    *output = (assay__output){0};
}

/* Create a new file beside `path` under a name that is not in use. mkstemp() would force the mode
 * 0600, and reading the umask to undo that is not thread-safe. */
static int create_temporary(const char *path, char **temporary)
{
    static atomic_uint serial;
    size_t size = strlen(path) + 32;
    *temporary = malloc(size);
    if (*temporary == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(*temporary, size, "%s.%d-%u.tmp", path, (int)getpid(),
                 atomic_fetch_add(&serial, 1));
        int descriptor = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

/* A pipe or a device is written in place. Opening a pipe that nobody reads would wait, perhaps for
 * ever. So the file is opened without blocking, and blocking is switched on again for the writes.
 */
static int open_direct(const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int flags = descriptor >= 0 ? fcntl(descriptor, F_GETFL) : -1;
    if (flags >= 0)
        fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
    return descriptor;
}

/* The new file has the mode that the umask gives. The mode of the replaced file is not simply
 * copied, because a file that another user put there could then open the result to others. If the
 * replaced file belongs to this user, the new file keeps it as private as it was. */
static void keep_private(int descriptor, const struct stat *replaced)
{
    struct stat made;
    if (replaced->st_uid == geteuid() && fstat(descriptor, &made) == 0 &&
        fchmod(descriptor, made.st_mode & 0777 & (replaced->st_mode | 0600)) != 0)
        errno = 0; /* the content is right; another mode is no reason to lose it */
}

/* A stream that stops before the limit of a file's size. Beyond it the kernel sends SIGXFSZ, which
 * ends the process and leaves the temporary file. */
typedef struct limited {
    int descriptor;
    rlim_t left;
} limited;

static ssize_t write_limited(void *cookie, const char *bytes, size_t size)
{
    limited *file = cookie;
    if (size > file->left) {
        errno = EFBIG;
        return 0;
    }
    ssize_t written = write(file->descriptor, bytes, size);
    if (written <= 0)
        return 0; /* a stream with a cookie expects this */
    file->left -= (rlim_t)written;
    return written;
}

static int close_limited(void *cookie)
{
    int result = close(((limited *)cookie)->descriptor);
    free(cookie);
    return result;
}

/* Open a stream on the descriptor of a new file. NULL when out of memory. */
static FILE *open_stream(int descriptor)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY)
        return fdopen(descriptor, "w");
    limited *file = malloc(sizeof *file);
    if (file == NULL)
        return NULL;
    *file = (limited){descriptor, most.rlim_cur};
    FILE *stream = fopencookie(
        file, "w", (cookie_io_functions_t){.write = write_limited, .close = close_limited});
    if (stream == NULL)
        free(file);
    return stream;
}

static assay_status fail_open(const char *path, bool is_pipe, assay_error *error)
{
    if (is_pipe && errno == ENXIO)
        return assay__fail(error, ASSAY_E_IO,
                           "cannot write '%s': it is a pipe that nobody reads; start its reader "
                           "first, or name a file",
                           path);
    return assay__fail_errno(error, "cannot write '%s'", path);
}

assay_status assay__output_begin(assay__output *output, const char *path, assay_error *error)
{
    *output = (assay__output){0};
    if (path == NULL || *path == '\0')
        return assay__fail(error, ASSAY_E_ARGUMENT, "empty output path; name a file");
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    if (exists && S_ISDIR(existing.st_mode))
        return assay__fail(error, ASSAY_E_ARGUMENT, "cannot write '%s': it is a directory", path);
    bool direct = exists && !S_ISREG(existing.st_mode);
    assay_status status = ASSAY_OK;
    int descriptor = -1;
    output->path = strdup(path);
    if (output->path == NULL)
        goto memory;
    descriptor = direct ? open_direct(path) : create_temporary(path, &output->temporary);
    if (descriptor < 0) {
        status = fail_open(path, direct && S_ISFIFO(existing.st_mode), error);
        free(output->temporary); /* nothing was created */
        output->temporary = NULL;
        goto fail;
    }
    if (exists && !direct)
        keep_private(descriptor, &existing);
    output->stream = direct ? fdopen(descriptor, "w") : open_stream(descriptor);
    if (output->stream == NULL)
        goto memory;
    return ASSAY_OK;

memory:
    status = assay__fail(error, ASSAY_E_MEMORY, "out of memory while opening '%s'", path);
fail:
    if (descriptor >= 0)
        close(descriptor);
    if (output->temporary != NULL && descriptor >= 0)
        unlink(output->temporary);
    release(output);
    return status;
}

assay_status assay__output_commit(assay__output *output, assay_error *error)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    bool failed = ferror(stream) != 0;
    failed |= fflush(stream) != 0;
    int number = errno;
    failed |= fclose(stream) != 0;
    assay_status status = ASSAY_OK;
    if (failed) {
        errno = number != 0 ? number : errno;
        status = assay__fail_errno(error, "cannot write '%s'", output->path);
    } else if (output->temporary != NULL && rename(output->temporary, output->path) != 0) {
        status = assay__fail_errno(error, "cannot rename onto '%s'", output->path);
    }
    if (status != ASSAY_OK && output->temporary != NULL)
        unlink(output->temporary);
    release(output);
    return status;
}

void assay__output_abort(assay__output *output)
{
    if (output->stream != NULL)
        fclose(output->stream);
    if (output->temporary != NULL)
        unlink(output->temporary);
    release(output);
}

/* Append all that can be read to `buffer`. */
static assay_status read_all(int descriptor, const char *path, assay__buffer *buffer,
                             assay_error *error)
{
    assay_status status = ASSAY_OK;
    char chunk[65536];
    for (;;) {
        ssize_t got = read(descriptor, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = assay__fail_errno(error, "cannot read '%s'", path);
        else if (got > 0)
            status = assay__buffer_append(buffer, chunk, (size_t)got);
        if (got <= 0 || status != ASSAY_OK)
            break;
    }
    if (status == ASSAY_E_LIMIT)
        return assay__fail(error, status, "'%s' is larger than the %zu bytes accepted", path,
                           buffer->maximum);
    if (status == ASSAY_E_MEMORY)
        return assay__fail(error, status, "out of memory while reading '%s'", path);
    return status;
}

assay_status assay__file_read(const char *path, assay__buffer *buffer, assay_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return assay__fail_errno(error, "cannot read '%s'", path);
    assay_status status = read_all(descriptor, path, buffer, error);
    close(descriptor);
    return status;
}

assay_status assay__file_read_input(const char *path, assay__buffer *buffer, assay_error *error,
                                    const char **name)
{
    bool standard = strcmp(path, "-") == 0;
    *name = standard ? "standard input" : path;
    return standard ? read_all(STDIN_FILENO, *name, buffer, error)
                    : assay__file_read(path, buffer, error);
}

size_t assay__file_maximum(size_t usual)
{
    const char *told = secure_getenv("ASSAY_MAX_INPUT");
    size_t bytes;
    return told != NULL && assay__text_bytes(told, &bytes) ? bytes : usual;
}
